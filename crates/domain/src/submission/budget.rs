//! The token budget: an upper bound on the size of a text, by an estimate (spec 8).

use crate::limits::{CHARS_PER_TOKEN, TOKEN_BUDGET};
use crate::prism::PrismVersion;
use crate::submission::model_input::{State, json_chars};
use crate::submission::{FieldValues, Submission};

/// Number of characters of the JSON around the text and the question.
const FRAME_CHARS: usize = r#"{"state":,"question":}"#.len();

/// A text whose token estimate is over the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Request too large: about {estimate} tokens of fields, context and the longest question, \
     the limit is {TOKEN_BUDGET}"
)]
pub struct OverBudget {
    /// Estimated tokens.
    pub estimate: usize,
}

/// The most JSON characters for one byte of a text, as in `\u0001`.
const MOST_CHARS_OF_A_BYTE: usize = 6;

/// Estimated tokens of a submission with the version's longest question, at four JSON characters
/// per token.
pub fn estimate(version: &PrismVersion, submission: &Submission) -> usize {
    tokens(version, json_chars(&state(version, submission)))
}

fn state<'a>(version: &'a PrismVersion, submission: &'a Submission) -> State<'a> {
    State {
        prism_context: version.context(),
        submission,
    }
}

fn tokens(version: &PrismVersion, state_chars: usize) -> usize {
    let longest_question = version.question_chars().iter().max().unwrap_or(&0);
    (FRAME_CHARS + state_chars + longest_question).div_ceil(CHARS_PER_TOKEN)
}

/// Estimated tokens that a version adds to every call: its field keys, its context and its longest
/// question. The rest of [`TOKEN_BUDGET`] is for texts and the call's context.
pub fn size_of_version(version: &PrismVersion) -> usize {
    let fields = version.fields().iter();
    let empty = fields.map(|field| (field.key.clone(), String::new()));
    let submission = Submission::saved(FieldValues::new(empty.collect()), None);
    estimate(version, &submission)
}

/// Checks that a submission's token estimate is within the budget. Characters are not counted when
/// the text fits even if all of them must be escaped.
///
/// # Errors
/// When the estimate is over the budget.
pub fn check(version: &PrismVersion, submission: &Submission) -> Result<(), OverBudget> {
    let most = MOST_CHARS_OF_A_BYTE * state(version, submission).unescaped_bytes();
    if tokens(version, most) <= TOKEN_BUDGET {
        return Ok(());
    }
    let estimate = estimate(version, submission);
    if estimate > TOKEN_BUDGET {
        Err(OverBudget { estimate })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::submission::{CallContext, SentFields};

    fn version(context: Option<&str>) -> PrismVersion {
        let mut stored = json!({
            "fields": [{ "key": "text", "label": "Text" }],
            "questions": [
                { "key": "angry", "type": "yes_no", "text": "?" },
                { "key": "topic", "type": "choice", "text": "Which?", "instructions": "Look \"twice\".",
                  "options": [{ "key": "a", "label": "Ä", "description": "d" },
                              { "key": "b", "label": "B" }] },
            ],
        });
        if let Some(context) = context {
            stored["context"] = json!(context);
        }
        serde_json::from_value(stored).unwrap()
    }

    fn submission(version: &PrismVersion, text: &str, context: Option<&str>) -> Submission {
        let sent = SentFields::new(vec![("text".to_owned(), text.to_owned())]);
        let context = context.and_then(|context| CallContext::saved(context.to_owned()));
        Submission::new(sent, context, version.fields()).unwrap()
    }

    /// The estimate of a state, from JSON assembled by the test.
    fn counted_from_json(state: &Value) -> usize {
        let question = r#"{"type":"choice","instructions":"Which?\nLook \"twice\".","criteria":{"a":"Ä: d","b":"B","other":"Other: the text answers the question, but with none of the options above","insufficient_information":"Not enough information: the text does not say enough to answer the question"}}"#;
        let text = format!(r#"{{"state":{state},"question":{question}}}"#);
        text.chars().count().div_ceil(4)
    }

    #[test]
    fn it_is_a_quarter_of_the_characters_of_state_and_longest_question() {
        let text = "a \"quoted\"\n😀 text";
        let bare = version(None);
        let state = json!({ "text": text });
        assert_eq!(
            estimate(&bare, &submission(&bare, text, None)),
            counted_from_json(&state)
        );
        let with = version(Some("We sell."));
        let state: Value = serde_json::from_str(
            &json!({ "context": "We sell.\nContext for this call:\nBob", "text": text })
                .to_string(),
        )
        .unwrap();
        assert_eq!(
            estimate(&with, &submission(&with, text, Some("Bob"))),
            counted_from_json(&state)
        );
    }

    #[test]
    fn the_size_of_a_version_is_what_a_call_with_an_empty_text_takes() {
        let version = version(Some("We sell."));
        let empty = submission(&version, "", None);
        assert_eq!(size_of_version(&version), estimate(&version, &empty));
        let state = json!({ "context": "We sell.", "text": "" });
        assert_eq!(size_of_version(&version), counted_from_json(&state));
        let long = submission(&version, &"x".repeat(400), None);
        assert_eq!(estimate(&version, &long), size_of_version(&version) + 100);
    }

    proptest! {
        #[test]
        fn a_submission_is_within_the_budget_whenever_its_estimate_is(
            part in r#"[\x01-\x7fä日😀"\\]{1,40}"#,
            times in 1_usize..4_000,
            prism_context in proptest::option::of(r#"[a\x01"]{1,60}"#),
            context in proptest::option::of(r"[b\x02\\]{1,60}"),
        ) {
            let version = version(prism_context.as_deref());
            let submission = submission(&version, &part.repeat(times), context.as_deref());
            let estimate = estimate(&version, &submission);
            let expected = if estimate > TOKEN_BUDGET { Err(OverBudget { estimate }) } else { Ok(()) };
            prop_assert_eq!(check(&version, &submission), expected);
        }
    }

    #[test]
    fn the_budget_is_26000_and_one_more_is_refused() {
        let version = version(None);
        let empty = estimate(&version, &submission(&version, "", None)) * CHARS_PER_TOKEN;
        let mut room = TOKEN_BUDGET * CHARS_PER_TOKEN - empty;
        // the estimate is rounded up, so up to three more characters fit
        while check(&version, &submission(&version, &"x".repeat(room), None)).is_ok() {
            room += 1;
        }
        let over = submission(&version, &"x".repeat(room), None);
        assert_eq!(check(&version, &over), Err(OverBudget { estimate: 26_001 }));
        assert_eq!(
            check(&version, &over).unwrap_err().to_string(),
            "Request too large: about 26001 tokens of fields, context and the longest question, \
             the limit is 26000"
        );
    }
}
