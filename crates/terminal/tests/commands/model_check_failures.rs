//! The report of `refract model check` about a server that refuses: the failure in a sentence, the
//! server's own message and the remedy. Results, logs and metrics never contain that message.

use refract_test_stack::program::run;
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply, tokens_reply};
use serde_json::{Value, json};

/// The line of `refract model check` about an unusable server.
async fn refusal(protocol: &str, script: impl Into<Script>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let server = ModelServer::start(script);
    let url = server.url();
    let settings = [
        ("REFRACT_MODEL_URL", url.as_str()),
        ("REFRACT_MODEL_PROTOCOL", protocol),
        ("REFRACT_MODEL_API_KEY", "sk-sentinel"),
    ];
    let line = run(folder.path(), &settings, &["model", "check"])
        .await
        .refused();
    let line = line.strip_prefix("error: this model cannot serve (yes_no): ");
    line.unwrap().to_owned()
}

fn llama_cpp(status: u16, kind: &str, message: &str) -> ScriptedReply {
    let error = json!({"error": {"code": status, "message": message, "type": kind}});
    let reply = ScriptedReply::json(&error).with_status(status);
    reply.header("Retry-After", "0")
}

/// An answer that is cut off while the model thinks.
fn thinking() -> Value {
    let mut reply = tokens_reply(&[vec![("Okay".to_owned(), 1.0)]], 20);
    reply["choices"][0]["message"] = json!({"content": "", "reasoning_content": "Okay"});
    reply["choices"][0]["finish_reason"] = json!("length");
    reply
}

#[tokio::test]
async fn refusals_of_llama_cpp_are_reported_with_its_words_and_what_to_do() {
    let use_chat = "The model server answered with status 501. The server says: \"This model is \
                    not a decision model\". The server or its model lacks the endpoint of this \
                    protocol: set REFRACT_MODEL_PROTOCOL=chat, or check REFRACT_MODEL_URL and \
                    REFRACT_MODEL_NAME. `refract model detect` shows what the server speaks.";
    let too_long = "request (9412 tokens) exceeds the available context size (8192 tokens), try \
                    increasing it";
    for (protocol, reply, words) in [
        (
            "systemone",
            llama_cpp(
                501,
                "not_supported_error",
                "This model is not a decision model",
            ),
            use_chat,
        ),
        (
            "chat",
            llama_cpp(400, "exceed_context_size_error", too_long),
            "The text is too long for the model's context (status 400). The server says: \
             \"request (9412 tokens) exceeds the available context size (8192 tokens), try \
             increasing it\". Start the server with a larger context: `--ctx-size` of llama.cpp, \
             which its `--parallel` slots share; `--max-model-len` of vLLM.",
        ),
        (
            "chat",
            llama_cpp(503, "unavailable_error", "Loading model"),
            "The model server is still loading its model (status 503). The server says: \"Loading \
             model\". Try again once the model is loaded.",
        ),
        (
            "chat",
            ScriptedReply::json(&thinking()),
            "The model gave no usable answer to the question late: it was still thinking when its \
             answer ended. Switch the model's thinking off, as with `--reasoning-budget 0` of \
             llama.cpp, or use a model that does not think.",
        ),
        (
            "chat",
            ScriptedReply::json(&thinking()).chunked().cut(),
            "The model server closed the connection before its answer was complete. Look at what \
             the server logs: it may have stopped while it answered.",
        ),
        (
            "systemone",
            ScriptedReply::body(r#"{"error":{"message":"overloaded"}}"#),
            "The model server reported an error instead of answers. The server says: \
             \"overloaded\". Look at what the server logs.",
        ),
    ] {
        assert_eq!(refusal(protocol, reply).await, words);
    }
}

#[tokio::test]
async fn a_servers_words_reach_the_terminal_cut_clean_and_without_the_key() {
    let long = format!(
        "\u{1b}[2J{} sk-sentinel {}",
        "ü".repeat(200),
        "x".repeat(200)
    );
    let line = refusal("systemone", llama_cpp(500, "server_error", &long)).await;
    let shown = format!("[2J{} [the API key] {}", "ü".repeat(200), "x".repeat(200));
    let shown: String = shown.chars().take(300).collect();
    assert_eq!(
        line,
        format!(
            "The model server answered with status 500. The server says: \"{shown}…\". Look at \
             what the server logs."
        )
    );
}
