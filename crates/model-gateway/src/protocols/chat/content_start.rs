//! Finds where the content of a message begins among the tokens that the server lists.
//!
//! Servers that part a model's thoughts from its answer may list the tokens of both (`SGLang`, Ollama),
//! with or without the markers between them. A thought may hold a code: only the tokens of the
//! content are read. White space and characters outside ASCII are not compared, since servers trim
//! and spell them differently.

use super::completion::{Completion, TokenPosition};
use super::token_text::{text_of, without_lead};

/// The byte at which the content begins, 0 where only white space, quotes or special tokens precede
/// it. `None` if the tokens are those of another text.
pub(super) fn content_start(completion: &Completion) -> Option<usize> {
    let content = completion.content.as_deref().unwrap_or_default();
    let content: Vec<u8> = content.bytes().filter(|byte| is_compared(*byte)).collect();
    let text = text_of(without_end(&completion.positions));
    let places = text
        .iter()
        .enumerate()
        .filter(|(_, byte)| is_compared(**byte));
    let (places, compared): (Vec<usize>, Vec<u8>) = places.unzip();
    if content.is_empty()
        || compared.is_empty()
        || content.starts_with(&compared)
        || content.ends_with(&compared)
    {
        // a content may begin with what the request already wrote, and a list may be cut
        return Some(0);
    }
    let lead = text.len() - without_lead(&text).len();
    if compared.ends_with(&content) {
        let start = places.get(compared.len() - content.len()).copied()?;
        return Some(if start <= lead { 0 } else { start });
    }
    // the server may strip what the model wrote before or behind its answer
    let answer = without_lead(&content);
    let is_begun = text
        .get(lead..)?
        .iter()
        .copied()
        .filter(|byte| is_compared(*byte));
    is_begun
        .take(answer.len())
        .eq(answer.iter().copied())
        .then_some(0)
}

/// The positions without the special tokens that end an answer.
fn without_end(mut positions: &[TokenPosition]) -> &[TokenPosition] {
    while let Some((last, before)) = positions.split_last() {
        let token = last.written.bytes.trim_ascii();
        let is_special =
            token.first() == Some(&b'<') && token.last() == Some(&b'>') && token.len() > 2;
        if !is_special && !token.is_empty() {
            break;
        }
        positions = before;
    }
    positions
}

fn is_compared(byte: u8) -> bool {
    byte.is_ascii_graphic()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocols::chat::completion;

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
}
