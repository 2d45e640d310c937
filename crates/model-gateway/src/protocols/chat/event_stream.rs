//! Reads a completion that a server streams although no stream was asked for, as some gateways do:
//! its events become one completion.

use serde_json::{Map, Value, json};

/// The completion of a stream of server-sent events, as JSON; `None` for another body.
pub(super) fn completion(body: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body).ok()?;
    let mut events = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let mut whole = Map::new();
    let mut message = Map::new();
    let mut tokens = Vec::new();
    let mut finish = Value::Null;
    let mut has_any = false;
    while let Some(data) = events.next().filter(|data| data.trim() != "[DONE]") {
        let mut event: Value = serde_json::from_str(data).ok()?;
        has_any = true;
        let choice = event.pointer_mut("/choices/0").map(Value::take);
        let Some(mut choice) = choice else {
            add_members(&mut whole, event);
            continue;
        };
        add_members(&mut whole, event);
        if let Some(Value::Array(listed)) = choice.pointer_mut("/logprobs/content").map(Value::take)
        {
            tokens.extend(listed);
        }
        if let Some(Value::Object(delta)) = choice.get_mut("delta").map(Value::take) {
            append_texts(&mut message, delta);
        }
        let ended = choice.get_mut("finish_reason").map(Value::take);
        finish = ended.filter(|ended| !ended.is_null()).unwrap_or(finish);
    }
    let choice =
        json!({"message": message, "finish_reason": finish, "logprobs": {"content": tokens}});
    whole.insert("choices".to_owned(), json!([choice]));
    has_any.then(|| Value::Object(whole).to_string().into_bytes())
}

/// Adds the members of an event: the model, the tokens, an error.
fn add_members(whole: &mut Map<String, Value>, event: Value) {
    let Value::Object(members) = event else {
        return;
    };
    whole.extend(members.into_iter().filter(|(_, value)| !value.is_null()));
}

/// Appends the texts of a part of a message.
fn append_texts(message: &mut Map<String, Value>, delta: Map<String, Value>) {
    for (key, value) in delta {
        let Value::String(part) = value else {
            continue;
        };
        match message.get_mut(&key) {
            Some(Value::String(text)) => text.push_str(&part),
            Some(_) | None => {
                message.insert(key, Value::String(part));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::error::ModelError;
    use crate::protocols::chat::completion::read;

    #[test]
    fn a_stream_is_read_as_one_completion() {
        let stream = concat!(
            ": OPENROUTER PROCESSING\n\n",
            r#"data: {"model":"m","choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
            "\n\n",
            r#"data: {"choices":[{"delta":{"content":"A"},"logprobs":{"content":[{"token":"A","logprob":-0.5}]}}]}"#,
            "\n\n",
            r#"data:{"choices":[{"delta":{"content":"3"},"logprobs":{"content":[{"token":"3","logprob":0}]},"finish_reason":"stop"}]}"#,
            "\n\n",
            r#"data: {"choices":[],"usage":{"prompt_tokens":70,"completion_tokens":2}}"#,
            "\n\ndata: [DONE]\n\n",
        );
        let completion = read(stream.as_bytes()).unwrap();
        assert_eq!(completion.content.as_deref(), Some("A3"));
        assert_eq!(completion.positions.len(), 2);
        assert!(!completion.is_cut);
        assert_eq!(completion.usage.model.as_deref(), Some("m"));
        assert_eq!(completion.usage.input_tokens, Some(70));
        for (body, failure) in [
            (
                "data: {\"error\":{\"message\":\"no\"}}\n\n",
                ModelError::ReportedError,
            ),
            ("data: soon\n\n", ModelError::NotChat),
            ("data: [DONE]\n\n", ModelError::NotChat),
            ("<p>\ndata: of a page", ModelError::NotChat),
        ] {
            assert_eq!(read(body.as_bytes()).err(), Some(failure), "{body}");
        }
    }
}
