//! Tells what a model wrote instead of a code.

use refract_domain::prism::question::Question;
use refract_domain::submission::model_input::outcome_text;

use super::codes::CodeShape;
use super::token_text::without_lead;
use crate::error::written_instead::WrittenInstead;

/// Words before a code in answers of another form.
const NAMES_OF_CODES: [&str; 6] = ["answer", "choice", "code", "level", "option", "result"];

/// The kind of an answer that begins with `text`; the answer may have been cut after its first
/// token.
pub(super) fn written_instead(question: &Question, text: &[u8]) -> WrittenInstead {
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    let words = String::from_utf8_lossy(without_lead(text.as_bytes())).to_lowercase();
    let shape = CodeShape::of(question);
    let first = words.split([' ', ':', '.', ')', '\n']).next();
    let first = first.unwrap_or_default();
    if text.is_empty() {
        return WrittenInstead::Nothing;
    }
    if text.starts_with("<|")
        || text.starts_with("</")
        || text.starts_with('[') && words.starts_with('/')
    {
        return WrittenInstead::TemplateMarker;
    }
    let is_code = shape.read(first.to_uppercase().as_bytes()).is_some();
    let is_begun = |whole: &str| whole.starts_with(&words) || words.starts_with(whole);
    let is_other_form = is_code || NAMES_OF_CODES.iter().any(|name| is_begun(name));
    let mut outcomes = question.outcomes();
    let is_outcome = outcomes.any(|outcome| is_begun(&outcome_text(outcome).to_lowercase()));
    if words.chars().count() > 1 && is_outcome {
        WrittenInstead::AnswerWords
    } else if is_other_form {
        WrittenInstead::OtherForm
    } else {
        WrittenInstead::Prose
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_kind_follows_from_the_first_words() {
        let question: Question = serde_json::from_value(json!({
            "key": "topic", "type": "choice", "text": "What is it about?",
            "options": [{"key": "a", "label": "Billing", "description": "charges"},
                        {"key": "b", "label": "Delivery"}]}))
        .unwrap();
        for (text, expected) in [
            ("", WrittenInstead::Nothing),
            (" \n", WrittenInstead::Nothing),
            ("<|im_end|>", WrittenInstead::TemplateMarker),
            ("</s>", WrittenInstead::TemplateMarker),
            ("[/INST]", WrittenInstead::TemplateMarker),
            ("Bill", WrittenInstead::AnswerWords),
            ("billing: charges", WrittenInstead::AnswerWords),
            ("**Delivery", WrittenInstead::AnswerWords),
            ("a", WrittenInstead::OtherForm),
            ("Option", WrittenInstead::OtherForm),
            ("Answer: A", WrittenInstead::OtherForm),
            ("The", WrittenInstead::Prose),
            ("This is", WrittenInstead::Prose),
            ("I'd say", WrittenInstead::Prose),
            ("Sure", WrittenInstead::Prose),
        ] {
            assert_eq!(
                written_instead(&question, text.as_bytes()),
                expected,
                "{text:?}"
            );
        }
    }
}
