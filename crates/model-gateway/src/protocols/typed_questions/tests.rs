use proptest::prelude::*;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::model_input::{State, json_chars};
use refract_domain::submission::{SentFields, Submission};
use serde_json::json;

use crate::protocols::typed_questions::request_limits::RequestLimits;
use crate::protocols::{decisions, system_one};

/// A prism with one question for each text.
fn version(texts: &[String]) -> PrismVersion {
    let question =
        |(number, text)| json!({"key": format!("q{number}"), "type": "yes_no", "text": text});
    let questions: Vec<_> = texts.iter().enumerate().map(question).collect();
    let json = json!({"fields": [{"key": "text", "label": "Message"}], "questions": questions});
    serde_json::from_value(json).unwrap()
}

fn submission(version: &PrismVersion, text: String) -> Submission {
    let sent = SentFields::new(vec![("text".to_owned(), text)]);
    Submission::new(sent, None, version.fields()).unwrap()
}

proptest! {
    /// The number of requests depends on characters, even if bytes were enough to decide.
    #[test]
    fn a_call_makes_as_many_requests_as_are_estimated(
        text in r#"[aä日😀"\\]{0,400}"#,
        questions in prop::collection::vec(r#"[bö本"]{1,200}"#, 1..12),
        limits in (1_usize..600, 1_usize..12)
            .prop_map(|(tokens, questions)| RequestLimits { tokens, questions }),
    ) {
        let version = version(&questions);
        let submission = submission(&version, text);
        let state = State { prism_context: None, submission: &submission };
        let state_chars = json_chars(&state);

        for format in [&system_one::FORMAT, &decisions::FORMAT] {
            let groups = format.write("m", &version, &submission).groups(limits);
            let chars = format.question_chars(&version);
            prop_assert_eq!(groups.len(), format.requests(&chars, state_chars, limits));
            prop_assert!(groups.iter().all(|group| group.len() <= limits.questions));
            let asked: Vec<usize> = groups.into_iter().flatten().collect();
            prop_assert_eq!(asked, (0..questions.len()).collect::<Vec<_>>());
        }
    }
}
