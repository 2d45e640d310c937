use super::*;

/// llama.cpp's message for a template that raises: the position in its source, then the error.
const RAISED: &str = "\n------------\nWhile executing CallExpression at line 1, column 74 in \
                      source:\n...ges[0]['role'] == 'system' %}{{ raise_exception('System \
                      role not supported') }}{% if add_generation_prompt %}...\nError: Jinja \
                      Exception: System role not supported";

fn refusal_of(status: u16, body: &str) -> ServerError {
    ServerError::new(status, None, body.to_owned().into())
}

fn failure_of(status: u16, body: &str) -> ModelError {
    refusal_of(status, body).failure(true)
}

#[test]
fn a_context_that_is_too_small_is_known_by_the_words_of_common_servers() {
    for (status, message) in [
        (
            400,
            "request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it",
        ),
        (400, "the request exceeds the available context size"),
        (500, "Context size has been exceeded."),
        (
            400,
            "This model's maximum context length is 4096 tokens. However, your prompt contains 5000 input tokens. max_tokens is too large",
        ),
        (
            400,
            "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
        ),
        (
            400,
            "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
        ),
        (400, "Your input exceeds the context window of this model."),
        (413, "prompt is too long: 300000 tokens > 200000 maximum"),
        (
            429,
            "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389.",
        ),
    ] {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        let expected = ModelError::ContextTooSmall(status);
        assert_eq!(failure_of(status, &body), expected, "{message}");
        let refusal = refusal_of(status, &body);
        assert!(!refusal.is_by_failing_server() && !refusal.is_for_the_rate());
        assert!(!refusal.deserves_second_attempt(true), "{message}");
    }
}

#[test]
fn only_refusals_for_the_servers_own_sake_count_against_it() {
    let loading = r#"{"error":{"message":"Loading model"}}"#;
    for (status, body, expected) in [
        (503, loading, true),
        (500, "", true),
        (529, "", true),
        (429, "", true),
        (400, "", false),
        (401, "", false),
        (404, "", false),
        (422, r#"{"error":{"param":"logprobs"}}"#, false),
    ] {
        let is_failing = refusal_of(status, body).is_by_failing_server();
        assert_eq!(is_failing, expected, "{status} {body}");
    }
    let raised = serde_json::json!({ "message": RAISED }).to_string();
    assert!(!refusal_of(500, &raised).is_by_failing_server());
}

#[test]
fn a_refused_key_is_known_by_the_words_of_gateways() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"message":"No connected db.","type":"no_db_connection","param":null,"code":"400"}}"#,
        ),
        (500, r#"{"error":"Unauthorized"}"#),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
        ),
        (
            400,
            r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: ab***yz."}"#,
        ),
        (
            500,
            r#"{"error":{"message":"Authentication Error, No api key passed in.","type":"auth_error","code":"500"}}"#,
        ),
        (
            400,
            r#"{"error":{"code":"InvalidApiKey","message":"No API-key provided."}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"无效的令牌","type":"new_api_error"}}"#,
        ),
    ] {
        let refusal = refusal_of(status, body);
        assert!(!refusal.deserves_second_attempt(true), "{body}");
        assert!(!refusal.is_by_failing_server(), "{body}");
        assert_eq!(
            refusal.failure(true),
            ModelError::KeyRefused(status),
            "{body}"
        );
    }
    let envoy = "upstream connect error or disconnect/reset before headers. reset reason: connection termination";
    assert_eq!(failure_of(403, envoy), ModelError::RefusedInFront(403));
    for (status, body) in [(500, "Internal Server Error"), (404, "no api key route")] {
        assert_eq!(failure_of(status, body), ModelError::Status(status));
    }
}

#[test]
fn a_gateway_that_rests_is_known_and_counts_as_a_rate_limit() {
    let cooldown = r#"{"error":{"message":"No deployments available for selected model, Try again in 5 seconds. All deployments for selected model are in cooldown. Passed model=m.","type":"all_deployments_in_cooldown","param":null,"code":"429"}}"#;
    let refusal = refusal_of(429, cooldown);
    assert!(refusal.is_for_the_rate() && refusal.deserves_second_attempt(true));
    assert_eq!(refusal.failure(true), ModelError::Resting(429));
    assert!(ModelError::Resting(429).deserves_repetition(100));
}

#[test]
fn a_refused_system_message_is_known_by_the_words_of_common_servers() {
    let flat = |message: &str| serde_json::json!({ "message": message }).to_string();
    for (status, body) in [
        (500, flat(RAISED)),
        (
            400,
            flat(&format!(
                "Unable to generate parser for this template. {RAISED}"
            )),
        ),
        (400, flat("System role not supported")),
        (
            400,
            flat("Conversation roles must alternate user/assistant/user/assistant/..."),
        ),
        (400, flat("Only user and assistant roles are supported!")),
        (
            400,
            flat("Only user, assistant and tool roles are supported, got system."),
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role"}}"#.to_owned(),
        ),
        (
            400,
            r#"[{"error":{"message":"Developer instruction is not enabled for models/m"}}]"#.to_owned(),
        ),
    ] {
        let expected = ModelError::ParameterRefused {
            parameter: SYSTEM_MESSAGE,
            status,
            is_over_limit: false,
        };
        assert_eq!(failure_of(status, &body), expected, "{body}");
        let refusal = refusal_of(status, &body);
        assert!(!refusal.deserves_second_attempt(true));
        // without a system message, the refusal must have another reason
        assert_eq!(refusal.failure(false), ModelError::Status(status));
        assert_eq!(refusal.deserves_second_attempt(false), status == 500);
    }
}

#[test]
fn other_words_and_words_of_the_request_give_no_reason() {
    for (status, body) in [
        (
            400,
            r#"{"message":"System message must be at the beginning."}"#,
        ),
        (
            400,
            r#"{"message":"Only system, user and assistant roles are supported!"}"#,
        ),
        (
            500,
            r#"{"message":"the operating system is out of memory: not supported"}"#,
        ),
        (
            422,
            r#"{"detail":[{"msg":"no","input":"System role not supported; context size"}]}"#,
        ),
        (401, r#"{"message":"context size"}"#),
        (503, r#"{"message":"no slot available"}"#),
        (500, r#"{"message":"Loading model"}"#),
        (
            500,
            r#"{"message":"... == 'system' %}...\nError: Jinja Exception: Tool role not supported"}"#,
        ),
        (429, ""),
    ] {
        assert_eq!(
            failure_of(status, body),
            ModelError::Status(status),
            "{body}"
        );
    }
    assert_eq!(failure_of(301, ""), ModelError::Redirect(301));
    let loading = r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#;
    assert_eq!(failure_of(503, loading), ModelError::Loading(503));
}
