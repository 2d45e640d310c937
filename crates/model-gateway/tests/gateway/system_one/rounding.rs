use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use refract_domain::prism::QuestionType;
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use serde_json::{Value, json};

use super::*;

#[test]
fn any_distribution_is_stored_rounded_to_six_decimals() {
    let version = version_of_each_type();
    let strategy = (
        prop::collection::vec(0.0..=1.0_f64, 7),
        0.0..=1.0_f64,
        0.0..=1.0_f64,
        prop::collection::vec(prop_oneof![Just(0.5_f64), 0.0..=1.0_f64], 4),
    );
    let system = actix_rt::System::new();
    let server = ModelServer::start(ScriptedReply::answers());
    let model = system.block_on(async { model(&server) });
    TestRunner::default()
        .run(&strategy, |(mut choice, confidence, noul, mut score)| {
            // keeps the distribution from being all zero
            choice[2] = choice[2].max(0.001);
            score[1] = score[1].max(0.001);
            let keys = ["a", "b", "c", "d", "e", "other", "insufficient_information"];
            let named: serde_json::Map<String, Value> =
                keys.iter().zip(&choice).map(|(name, p)| ((*name).to_owned(), json!(p))).collect();
            let levels: serde_json::Map<String, Value> =
                score.iter().enumerate().map(|(level, p)| (level.to_string(), json!(p))).collect();
            server.then_always(ScriptedReply::json(&json!({"answers": {
                "c": {"type": "choice", "choice": "b", "confidence": confidence, "probabilities": named},
                "n": {"type": "noul", "noul": noul},
                "s": {"type": "score", "score": 0, "probabilities": levels}}})));
            let answers = system.block_on(ask(&model, &version)).unwrap();

            let put = choice.iter().chain([&confidence]);
            for (kept, put) in millionths(answer(&answers, 0)).into_iter().zip(put) {
                prop_assert!(is_rounded(kept, *put), "{put} became {kept}");
            }
            for (index, put) in [(1, &vec![noul]), (2, &score)] {
                for (kept, put) in millionths(answer(&answers, index)).into_iter().zip(put) {
                    prop_assert!(is_rounded(kept, *put), "{put} became {kept}");
                }
            }
            let kept = millionths(answer(&answers, 2));
            let first = kept.iter().position(|level| Some(level) == kept.iter().max()).unwrap();
            let Answer::Scale { level, .. } = answer(&answers, 2) else {
                panic!()
            };
            prop_assert_eq!(level.as_str(), ["w", "x", "y", "z"][first]);
            Ok(())
        })
        .unwrap();
}

fn version_of_each_type() -> PrismVersion {
    let named = |keys: &[&str]| -> Vec<Value> {
        keys.iter()
            .map(|key| json!({"key": key, "label": key}))
            .collect()
    };
    let json = json!({
        "fields": [{"key": "text", "label": "Text"}],
        "questions": [
            {"key": "c", "type": QuestionType::Choice, "text": "c", "options": named(&["a", "b", "c", "d", "e"])},
            {"key": "n", "type": QuestionType::YesNo, "text": "n"},
            {"key": "s", "type": QuestionType::Scale, "text": "s", "levels": named(&["w", "x", "y", "z"])}],
    });
    version(&json.to_string())
}

fn is_rounded(millionths: u32, put: f64) -> bool {
    (f64::from(millionths) - put * 1e6).abs() <= 0.500_001
}

/// The numbers of a stored answer in millionths; a choice's confidence comes last.
fn millionths(answer: &Answer) -> Vec<u32> {
    let (distribution, one) = match answer {
        Answer::Choice {
            probabilities,
            confidence,
            ..
        } => (&probabilities[..], Some(confidence)),
        Answer::YesNo { probability } => (&[][..], Some(probability)),
        Answer::Scale { probabilities, .. } => (&probabilities[..], None),
    };
    let all = distribution
        .iter()
        .map(|(_, probability)| probability)
        .chain(one);
    all.map(|probability| probability.millionths()).collect()
}
