use refract_domain::submission::{CallContext, SentFields};

use super::*;

fn version(context: &str) -> PrismVersion {
    let json = serde_json::json!({
        "fields": [{"key": "text", "label": "Text"}, {"key": "more", "label": "More"}],
        "context": context,
        "questions": [{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}],
    });
    serde_json::from_value(json).unwrap()
}

fn judged(read: u64, context: &str, text: &str, more: &str, call: &str) -> Option<u64> {
    let version = version(context);
    let sent = [("text", text), ("more", more)];
    let sent = sent.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let call = CallContext::saved(call.to_owned());
    let submission = Submission::new(SentFields::new(sent.to_vec()), call, version.fields());
    truncated_to(Some(read), &version, &submission.unwrap())
}

#[test]
fn a_text_whose_tokens_are_far_too_few_was_cut() {
    // 50,000 characters
    let long = "The parcel has not arrived yet. ".repeat(1_563);
    for (read, expected) in [
        (4_096, Some(4_096)),
        (2_048, Some(2_048)),
        (5_100, None),
        (11_000, None),
        // servers that do not count
        (0, None),
    ] {
        assert_eq!(judged(read, "x", &long, "", ""), expected, "{read}");
        // context and fields count together
        let part = "The parcel has not arrived yet. ".repeat(391);
        assert_eq!(judged(read, &part, &part, &part, &part), expected, "{read}");
    }
    let version = version("x");
    let sent = [("text", long.as_str()), ("more", "")];
    let sent = sent.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let submission = Submission::new(SentFields::new(sent.to_vec()), None, version.fields());
    assert_eq!(truncated_to(None, &version, &submission.unwrap()), None);
}

#[test]
fn a_short_text_is_not_judged() {
    let text = "The parcel has not arrived yet. ";
    assert_eq!(judged(1, "x", &text.repeat(125), "", ""), None);
    assert_eq!(judged(1, "x", &text.repeat(140), "", ""), Some(1));
}

#[test]
fn no_language_and_no_layout_is_mistaken_for_a_cut() {
    // tokens for one repetition, few of them: as the largest vocabularies count
    for (name, text, tokens) in [
        ("English", "The parcel has not arrived yet. ", 7),
        ("long words", "Rechtsschutzversicherungsgesellschaften ", 7),
        ("longest words", "internationalization responsibilities ", 4),
        (
            "Finnish",
            "Lentokonesuihkuturbiinimoottoriapumekaanikko. ",
            13,
        ),
        ("Chinese", "我的包裹还没有到，请帮我查一下。", 10),
        ("Japanese", "荷物がまだ届いていません。", 7),
        ("Thai", "พัสดุของฉันยังไม่มาถึง ", 7),
        (
            "code",
            "        for (int i = 0; i < n; i++) { sum += a[i]; }\n",
            21,
        ),
        (
            "deep indentation",
            &format!("{}x = 1\n", " ".repeat(120)),
            5,
        ),
        ("rulers", &format!("{}\n", "=".repeat(64)), 2),
        (
            "dot leaders",
            &format!("Contents {} 7\n", ". ".repeat(60)),
            6,
        ),
        ("empty table cells", "|      |      |      |      |\n", 3),
        ("one letter", &"a".repeat(64), 8),
        ("digits", "3141592653589793 ", 6),
        ("emoji", "😀😀😀😀 ", 3),
    ] {
        let times = 60_000 / text.chars().count();
        let read = tokens * widened(times);
        let cut = judged(read, "x", &text.repeat(times), "", "");
        assert_eq!(cut, None, "{name}");
    }
}
