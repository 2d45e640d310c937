use serde_json::json;

use crate::protocols::chat::completion;

use super::*;

fn start(content: Option<&str>, tokens: &[&str]) -> Option<usize> {
    let tokens = tokens
        .iter()
        .map(|token| json!({"token": token, "logprob": -0.1}));
    let tokens: Vec<_> = tokens.collect();
    let body = json!({"choices": [{"finish_reason": "stop", "message": {"content": content},
                                   "logprobs": {"content": tokens}}]});
    let completion = completion::read(body.to_string().as_bytes());
    content_start(&completion.ok()?)
}

#[test]
fn the_content_is_found_behind_the_thoughts() {
    let harmony = [
        "<|channel|>",
        "analysis",
        "<|message|>",
        "yes or no?",
        "<|end|>",
        "<|start|>",
        "assistant",
        "<|channel|>",
        "final",
        "<|message|>",
        "no",
    ];
    let before: usize = harmony[..10].iter().map(|token| token.len()).sum();
    for (content, tokens, expected) in [
        (Some("yes"), &["yes"][..], Some(0)),
        (Some("yes"), &["yes", "<|im_end|>"], Some(0)),
        (Some("yes"), &["yes", "</s>", ""], Some(0)),
        (Some("yes"), &["\n\n", "yes"], Some(0)),
        (Some("yes"), &["<|channel|>", "yes"], Some(0)),
        (Some("\"yes\""), &["\"", "yes", "\""], Some(0)),
        (Some("yes"), &["\"", "yes", "\""], Some(0)),
        (Some(" yes\n"), &["▁yes"], Some(0)),
        // thoughts without a marker, and the channels of gpt-oss
        (Some("no"), &["yes, it may", ".", "no"], Some(12)),
        (Some("no"), &harmony[..], Some(before)),
        (
            Some("yes"),
            &["<think>", "no", "</think>", "\n", "yes"],
            Some(18),
        ),
        // a list of only the first tokens, and a content with the begun answer before it
        (Some("yes, it is"), &["yes"], Some(0)),
        (Some("B3"), &["3"], Some(0)),
        (None, &["yes"], Some(0)),
        (Some(""), &["yes"], Some(0)),
        (Some("yes"), &[], Some(0)),
        // tokens of another text
        (Some("yes"), &["no"], None),
        (Some("no"), &["Is", " the"], None),
    ] {
        assert_eq!(start(content, tokens), expected, "{content:?} {tokens:?}");
    }
}

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
