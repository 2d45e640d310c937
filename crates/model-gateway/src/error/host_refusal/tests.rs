use super::*;

#[test]
fn used_up_credit_differs_from_a_rate() {
    let short = Some(Duration::from_secs(36));
    let used_up = Some(HostRefusal::CreditUsedUp);
    for (status, subject, wait, expected) in [
        (402, "", None, used_up),
        (429, "slow down insufficient_quota", short, used_up),
        (429, "you have no credits remaining", None, used_up),
        (
            429,
            "you exceeded your current quota, please check your plan and billing details",
            None,
            used_up,
        ),
        // Google's quota of a day names a short wait too, and that of a minute these words
        (
            429,
            "you exceeded your current quota generaterequestsperdayperproject",
            short,
            used_up,
        ),
        (
            429,
            "you exceeded your current quota generaterequestsperminuteperproject",
            None,
            None,
        ),
        (429, "you exceeded your current quota", short, None),
        (429, "", Some(Duration::from_hours(24)), used_up),
        (429, "", Some(Duration::from_hours(1)), None),
        (429, "", Some(Duration::from_hours(480_000)), None),
        (503, "", Some(Duration::from_hours(24)), None),
        (
            400,
            "your credit balance is too low to access the api",
            None,
            used_up,
        ),
        (
            400,
            "budget has been exceeded! current cost: 1.0",
            None,
            used_up,
        ),
        (
            403,
            "your team has used all credits or reached its monthly spending limit",
            None,
            used_up,
        ),
        (
            412,
            "account suspended, possibly due to reaching the monthly spending limit",
            None,
            used_up,
        ),
        (
            429,
            "rate limit exceeded: free-models-per-day. add 10 credits to unlock more",
            None,
            used_up,
        ),
        (
            429,
            "too many tokens per day, please wait before trying again.",
            None,
            used_up,
        ),
        (
            429,
            "rate limit reached on tokens per day (tpd). try again in 9m30s",
            short,
            None,
        ),
        (429, "rate limit reached, please try again", None, None),
        (500, "insufficient balance (1008) api_error", None, used_up),
        (401, "incorrect api key provided", None, None),
    ] {
        let found = host_refusal(status, subject, wait);
        assert_eq!(found, expected, "{status} {subject} {wait:?}");
    }
}

#[test]
fn a_filter_is_known_by_the_words_of_common_hosts() {
    for (status, subject) in [
        (400, "the response was filtered content_filter"),
        (400, "content exists risk invalid_request_error"),
        (
            400,
            "input data may contain inappropriate content. data_inspection_failed",
        ),
        (
            400,
            "the request was rejected because it was considered high risk",
        ),
        (
            400,
            "invalid prompt: your prompt was flagged as potentially violating our usage policy",
        ),
        (400, "input new_sensitive (1026)"),
        (400, "系统检测到输入或生成内容可能包含不安全或敏感内容 1301"),
        (
            403,
            "content violates usage guidelines. failed check: safety_check_type_bio",
        ),
        (
            403,
            "this model requires moderation. your input was flagged for \"violence\"",
        ),
        (424, "prompt blocked due to security configurations"),
        (400, "violated guardrail policy"),
    ] {
        let found = host_refusal(status, subject, None);
        assert_eq!(found, Some(HostRefusal::Withheld), "{status} {subject}");
    }
    for (status, subject) in [
        (400, "model not found"),
        (429, "guardrail"),
        (503, "content_filter"),
    ] {
        assert_eq!(
            host_refusal(status, subject, None),
            None,
            "{status} {subject}"
        );
    }
}

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
        "the sum of prompt length (9000.0), query length (0) should not exceed max_num_tokens (8192)",
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
