//! Recognises a refusal because a request has too much of something: tokens, questions or options.

/// What a request has too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// More tokens than the model's context.
    Tokens,
    /// More questions than the server takes in one request; it takes this many, if it says so.
    Questions(Option<usize>),
    /// A question with more options or levels than the server takes.
    Options,
}

/// Codes and phrases for a request with more tokens than the model's context, in the words of hosts
/// and servers. Their sources are in `docs/COMPATIBILITY.md`.
const CONTEXT_PHRASES: [&str; 41] = [
    "context length",
    "context limit",
    "context size",
    "context the overflows",
    "context window",
    "context_length",
    "context_size",
    "context_window",
    "contextwindow",
    "exceeds max length",
    "input is too long",
    "input too long",
    "inputs` must have",
    "longer than the maximum",
    "max_input_len",
    "max_model_len",
    "max_new_tokens` must be",
    "max_seq_len",
    "max_tokens_exceeded",
    "maximum allowed input length",
    "maximum allowed length",
    "maximum context",
    "maximum input length",
    "maximum model length",
    "maximum number of tokens",
    "maximum prompt length",
    "messages is too long",
    "model only supports up to",
    "model token limit",
    "payload too large",
    "prompt is too long",
    "prompt token count",
    "prompt too long",
    "range of input length",
    "reduce the length of",
    "request too large",
    "request_too_large",
    "string_above_max_length",
    "tokens_limit_reached",
    "too large to process",
    "too many tokens",
];
/// Names of the outcomes of a question.
const OPTION_WORDS: [&str; 5] = ["choices", "criteria", "options", "levels", "outcomes"];
/// Phrases for a number over a limit. The limit may follow the phrase.
const LIMIT_PHRASES: [&str; 10] = [
    "at most ",
    "limit is ",
    "limit of ",
    "max ",
    "maximum is ",
    "maximum of ",
    "more than ",
    "must have ",
    "too many ",
    "up to ",
];

/// What a message in lower case says that the request has too much of.
pub(super) fn excess(message: &str) -> Option<Excess> {
    let has_one_of = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    // Bedrock's words for a rate are `Too many tokens, please wait`
    if has_one_of(&CONTEXT_PHRASES) && !message.contains("please wait") {
        return Some(Excess::Tokens);
    }
    if !has_one_of(&LIMIT_PHRASES) {
        return None;
    }
    // only a list of outcomes needs two entries
    let is_about_options = has_one_of(&OPTION_WORDS) || message.contains("must have 2 to ");
    if message.contains("too many questions") || message.contains("question") && !is_about_options {
        return Some(Excess::Questions(limit(message)));
    }
    is_about_options.then_some(Excess::Options)
}

/// The first number that follows a phrase for a limit; of a range, its end.
fn limit(message: &str) -> Option<usize> {
    let places = LIMIT_PHRASES.iter().flat_map(|phrase| {
        let found = message.match_indices(phrase);
        found.map(|(start, phrase)| start + phrase.len())
    });
    let numbers = places.filter_map(|place| {
        let (first, behind) = number(message.get(place..)?)?;
        let end = behind.strip_prefix(" to ").and_then(number);
        Some((place, end.map_or(first, |(end, _)| end)))
    });
    let (_, limit) = numbers.min()?;
    (limit > 0).then_some(limit)
}

/// The number at the beginning of a text, and what follows it.
fn number(text: &str) -> Option<(usize, &str)> {
    let behind = text.trim_start_matches(|char: char| char.is_ascii_digit());
    let digits = text.strip_suffix(behind)?;
    Some((digits.parse().ok()?, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_request_has_too_much_of_is_known_by_the_words_of_common_hosts() {
        for (message, expected) in [
            ("max_tokens_exceeded", Some(Excess::Tokens)),
            ("input has too many tokens", Some(Excess::Tokens)),
            ("too many tokens, please wait before trying again.", None),
            ("invalid model: string too long", None),
            ("too many questions", Some(Excess::Questions(None))),
            (
                "too many questions: at most 64 with up to 255 choices each",
                Some(Excess::Questions(Some(64))),
            ),
            (
                "body.questions: dictionary should have at most 64 items after validation, not 65",
                Some(Excess::Questions(Some(64))),
            ),
            (
                "questions must have 1 to 32 entries",
                Some(Excess::Questions(Some(32))),
            ),
            (
                "a request cannot have more than 128 questions",
                Some(Excess::Questions(Some(128))),
            ),
            ("too many choices", Some(Excess::Options)),
            (
                "body.questions.topic.criteria: dictionary should have at most 26 items after validation, not 255",
                Some(Excess::Options),
            ),
            ("topic must have 2 to 26 entries", Some(Excess::Options)),
            ("the question topic is not one of yours", None),
            ("the maximum number of requests in flight is 4", None),
            ("options: field required", None),
            ("too many requests", None),
        ] {
            assert_eq!(excess(message), expected, "{message}");
        }
    }

    #[test]
    fn too_long_a_text_is_known_by_the_words_of_hosts() {
        for message in [
            "maximum context length is 4096 tokens, you sent 5000",
            "please shorten context_length_exceeded",
            "prompt is too long: 210000 tokens > 200000",
            "the request exceeds the available context size",
            "prompt of 40000 tokens is too large for model with 32768 maximum context length",
            "the input (9000 tokens) is longer than the model's context length",
            "input is too long for requested model",
            "the input token count (1048577) exceeds the maximum number of tokens allowed (1048576)",
            "this model's maximum prompt length is 131072 but the request has 200000 tokens",
            "`inputs` tokens + `max_new_tokens` must be <= 4096, given 5000",
            "`inputs` must have less than 1023 tokens. given: 1527",
            "your request exceeded model token limit: 8192",
            "range of input length should be [1, 30720]",
            "the total length of all messages is too long",
            "input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000",
            "input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
            "prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)",
            "please reduce the length of the messages or completion. current length is 9125",
            "request body too large for the model. max size: 8000 tokens. tokens_limit_reached",
            "prompt exceeds max length",
            "prompt token count of 70000 exceeds the limit of 64000",
            "trying to keep the first 5000 tokens when context the overflows",
            "this prompt (length 5000) is longer than the maximum model length of 4096",
            "input is too large to process. increase the physical batch size",
            "string too long string_above_max_length",
        ] {
            assert_eq!(excess(message), Some(Excess::Tokens), "{message}");
        }
    }

    #[test]
    fn a_limit_that_is_no_number_of_questions_is_none() {
        for message in [
            "at most 0 questions",
            "at most 99999999999999999999999 questions",
        ] {
            assert_eq!(excess(message), Some(Excess::Questions(None)), "{message}");
        }
    }
}
