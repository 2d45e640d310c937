use super::*;

#[test]
fn an_api_key_is_shown_nowhere() {
    let key: ModelApiKey = " sk-secret ".parse().unwrap();
    assert_eq!(key.as_str(), "sk-secret");
    assert_eq!(format!("{key:?}"), "ModelApiKey(..)");
    for bad in ["", " ", "two words", "line\nbreak", "schlüssel"] {
        assert_eq!(
            bad.parse::<ModelApiKey>().err(),
            Some(SettingError::ApiKey),
            "{bad}"
        );
    }
}

fn prices() -> ModelPrices {
    "0.15, 0.075,0.6".parse().unwrap()
}

fn cost(usage: &ReportedUsage) -> Option<String> {
    prices().cost(usage).map(|cost| cost.to_string())
}

#[test]
fn each_kind_of_token_has_its_price() {
    let usage = ReportedUsage {
        input_tokens: Some(1_000),
        cached_tokens: Some(400),
        output_tokens: Some(10),
        ..ReportedUsage::default()
    };
    // 600 at 0.15, 400 at 0.075 and 10 at 0.6 for a thousand
    assert_eq!(cost(&usage).as_deref(), Some("0.126"));
    let apart = ReportedUsage {
        newly_cached_tokens: Some(50),
        is_cache_apart: true,
        ..usage
    };
    assert_eq!(cost(&apart).as_deref(), Some("0.1935"));
}

#[test]
fn an_answer_without_tokens_has_no_cost() {
    assert_eq!(cost(&ReportedUsage::default()), None);
    let written = ReportedUsage {
        output_tokens: Some(1),
        ..ReportedUsage::default()
    };
    assert_eq!(cost(&written).as_deref(), Some("0.0006"));
}

#[test]
fn three_decimals_are_needed() {
    for text in ["", "1", "1,2", "1,2,3,4", "1,2,x", "1,,2", "-1,0,0"] {
        let read = text.parse::<ModelPrices>();
        assert_eq!(read, Err(SettingError::Prices), "{text}");
    }
}
