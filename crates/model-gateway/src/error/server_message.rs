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
mod tests;
