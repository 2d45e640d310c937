//! A model server's own message about a failure.
//!
//! The message is for the operator who runs `refract model check` in a terminal. It goes nowhere
//! else: it may repeat a prompt or a key.

use std::fmt;

use serde_json::Value;

use crate::settings::ModelApiKey;

/// Length in characters at which a message is cut, since a terminal shows it in one line.
const MESSAGE_CHARS: usize = 300;

/// The message of a model server that gave no usable answer. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerMessage(String);

impl ServerMessage {
    /// Finds the message in the body of an answer. `None` without readable text: an empty body,
    /// JSON without a message, HTML without a title.
    pub(crate) fn in_body(body: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}').trim();
        let words = match text.chars().next()? {
            '{' | '[' | '"' => {
                let json = serde_json::from_str(text).ok()?;
                in_json(&json).or_else(|| code(&json))
            }
            '<' => in_html(text),
            _ => Some(text.to_owned()),
        };
        words.map(Self)
    }

    /// The message as one line for a terminal, without control characters and API key, at most 300
    /// characters long. `None` if nothing is left.
    pub fn for_terminal(&self, api_key: Option<&ModelApiKey>) -> Option<String> {
        let printable: String = self.0.chars().filter_map(printable).collect();
        let words: Vec<&str> = printable.split_whitespace().collect();
        let mut line = words.join(" ");
        if let Some(key) = api_key {
            line = line.replace(key.as_str(), "[the API key]");
        }
        if let Some((end, _)) = line.char_indices().nth(MESSAGE_CHARS) {
            line.truncate(end);
            line.push('…');
        }
        (!line.is_empty()).then_some(line)
    }
}

impl fmt::Debug for ServerMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerMessage(..)")
    }
}

/// The message and the codes of an error, in lower case, to be searched for the error's subject.
pub(crate) fn subject(body: &[u8]) -> Option<String> {
    let ServerMessage(message) = ServerMessage::in_body(body)?;
    let mut subject = vec![message];
    if let Ok(json) = serde_json::from_slice(body) {
        add_codes(&json, &mut subject);
    }
    Some(subject.join(" ").to_lowercase())
}

/// The first code of an error, as its message where it has no other.
fn code(json: &Value) -> Option<String> {
    let mut codes = Vec::new();
    add_codes(json, &mut codes);
    codes.into_iter().next()
}

/// Adds the codes of an error under the keys that servers use for codes, at any depth, the innermost
/// first.
fn add_codes(json: &Value, codes: &mut Vec<String>) {
    const HOLDERS: [&str; 7] = [
        "error",
        "errors",
        "detail",
        "details",
        "innererror",
        "metadata",
        "violations",
    ];
    const KEYS: [&str; 7] = [
        "error_type",
        "code",
        "type",
        "status",
        "reason",
        "quotaId",
        "quota_limit",
    ];
    match json {
        Value::Array(list) => list.iter().for_each(|json| add_codes(json, codes)),
        Value::Object(object) => {
            for holder in HOLDERS.iter().filter_map(|key| object.get(*key)) {
                add_codes(holder, codes);
            }
            let own = KEYS.iter().filter_map(|key| object.get(*key)?.as_str());
            codes.extend(
                own.filter(|code| !code.trim().is_empty())
                    .map(str::to_owned),
            );
            // Google's wait, in the words of others
            let wait = object.get("retryDelay").and_then(Value::as_str);
            codes.extend(wait.map(|wait| format!("retrydelay {wait}")));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Collects the text under the keys that servers use for messages, at any depth. A list, such as
/// the problems of an invalid request, gives all its texts.
fn in_json(json: &Value) -> Option<String> {
    const KEYS: [&str; 8] = [
        "error",
        "errors",
        "message",
        "detail",
        "msg",
        "choices",
        "base_resp",
        "status_msg",
    ];
    match json {
        Value::String(text) => (!text.trim().is_empty()).then(|| text.clone()),
        Value::Array(list) => {
            let texts: Vec<String> = list.iter().filter_map(in_json).collect();
            (!texts.is_empty()).then(|| texts.join("; "))
        }
        Value::Object(object) => {
            let mut text = KEYS.iter().find_map(|key| in_json(object.get(*key)?))?;
            // OpenRouter's own message is always alike, and that of the host behind it stands here
            if let Some(raw) = json.pointer("/metadata/raw").and_then(Value::as_str) {
                text = format!("{text}: {raw}");
            }
            match object.get("loc") {
                Some(Value::Array(place)) => Some(format!("{}: {text}", dotted(place))),
                Some(_) | None => Some(text),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The path to a problem in a request, such as `body.questions.0`.
fn dotted(place: &[Value]) -> String {
    let steps = place.iter().map(|step| match step.as_str() {
        Some(key) => key.to_owned(),
        None => step.to_string(),
    });
    steps.collect::<Vec<_>>().join(".")
}

/// The title of an HTML page: the only useful part of a proxy's error page.
fn in_html(text: &str) -> Option<String> {
    // only ASCII changes its case, so positions stay valid in the original text
    let lower_case = text.to_ascii_lowercase();
    let start = lower_case.find("<title>")? + "<title>".len();
    let end = start + lower_case.get(start..)?.find("</title>")?;
    let title = text.get(start..end)?.trim();
    (!title.is_empty()).then(|| title.to_owned())
}

/// The character for a terminal: any white space becomes a space. `None` for characters without
/// width and for those that control the terminal or the text direction.
fn printable(char: char) -> Option<char> {
    let is_unseen = matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}');
    if char.is_whitespace() {
        Some(' ')
    } else {
        (!is_unseen && !char.is_control()).then_some(char)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(body: &str) -> Option<String> {
        ServerMessage::in_body(body.as_bytes())?.for_terminal(None)
    }

    #[test]
    fn the_message_is_found_wherever_servers_put_it() {
        for (body, expected) in [
            (
                r#"{"error":{"code":501,"message":"This model is not a decision model","type":"not_supported_error"}}"#,
                "This model is not a decision model",
            ),
            (r#"{"error":"model 'm' not found"}"#, "model 'm' not found"),
            (r#"{"object":"error","message":"no","code":400}"#, "no"),
            (r#"{"error":true,"message":"no"}"#, "no"),
            (
                r#"{"error":{"code":"","message":null},"detail":"no"}"#,
                "no",
            ),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (
                r#"{"detail":[{"loc":["body","questions",0],"msg":"Field required","input":{"text":"echo"}},{"msg":"and more"}]}"#,
                "body.questions.0: Field required; and more",
            ),
            (r#"[{"error":{"message":"no","status":"INVALID"}}]"#, "no"),
            (
                r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow down","provider_name":"P"}}}"#,
                "Provider returned error: slow down",
            ),
            (
                r#"{"choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}"#,
                "rate limit",
            ),
            (
                r#"{"choices":[{"error":{"message":"upstream"}}]}"#,
                "upstream",
            ),
            (
                r#"{"detail":{"error_type":"max_tokens_exceeded"}}"#,
                "max_tokens_exceeded",
            ),
            (
                r#"{"detail":{"error_type":"api_usage_error","message":"Unknown model: default"}}"#,
                "Unknown model: default",
            ),
            (
                r#"{"result":null,"success":false,"errors":[{"code":5006,"message":"no"}]}"#,
                "no",
            ),
            ("\"no\"", "no"),
            (" Ollama is running\n", "Ollama is running"),
            ("\u{feff}no", "no"),
            (
                "<html>\n<head><TITLE>502 Bad Gateway</TITLE></head><body>nginx</body></html>",
                "502 Bad Gateway",
            ),
        ] {
            assert_eq!(line(body).as_deref(), Some(expected), "{body}");
        }
    }

    #[test]
    fn a_text_without_content_is_no_message() {
        for body in [
            "",
            " \n",
            "{}",
            "{\"error\":",
            r#"{"error":{"code":500}}"#,
            r#"{"error":null,"message":" "}"#,
            r#"{"choices":[{"message":{"role":"assistant","content":"yes"}}]}"#,
            "<html><body>502</body></html>",
            "<title></title>",
            "\"\u{1b}\"",
            "\u{1b}\u{200b}",
        ] {
            assert_eq!(line(body), None, "{body}");
        }
    }

    #[test]
    fn a_terminal_gets_one_line_of_300_characters_without_anything_that_steers_it() {
        let body = r#"{"error":"\u001b[31mred\u0007\r\n\tand \u202eback\u009b2J\u2028end"}"#;
        assert_eq!(line(body).as_deref(), Some("[31mred and back2J end"));
        let most = "ü".repeat(300);
        assert_eq!(line(&most).as_deref(), Some(most.as_str()));
        assert_eq!(line(&format!("{most}ü")), Some(format!("{most}…")));
    }

    #[test]
    fn the_api_key_is_left_out_even_where_the_message_is_cut() {
        let key: ModelApiKey = "sk-secret".parse().unwrap();
        let before = "x".repeat(295);
        for (words, expected) in [
            (
                "Bearer sk-secret?".to_owned(),
                "Bearer [the API key]?".to_owned(),
            ),
            (format!("{before}sk-secret"), format!("{before}[the …")),
            ("sk-\u{7}secret".to_owned(), "[the API key]".to_owned()),
        ] {
            let message = ServerMessage::in_body(words.as_bytes()).unwrap();
            assert_eq!(message.for_terminal(Some(&key)), Some(expected));
            assert_eq!(format!("{message:?}"), "ServerMessage(..)");
        }
    }
}
