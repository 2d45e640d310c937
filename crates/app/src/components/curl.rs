//! An API call as a `curl` command line.

use std::fmt::Write as _;

use refract_domain::prism::Field;
use refract_service::prisms::Prism;

/// A `curl` command that creates a result of a prism, with one field per line. The key comes from
/// the shell variable `REFRACT_KEY`. `api_url` is the API's address up to and including `/v1`, and
/// `sample` a text for the first field; without one, a field has its label.
pub(crate) fn create_result(
    api_url: &str,
    prism: &Prism,
    fields: &[Field],
    sample: Option<&str>,
) -> String {
    let url = quoted(&format!("{api_url}/prisms/{}/results", prism.slug));
    let mut body = "{\n  \"fields\": {".to_owned();
    for (place, field) in fields.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let key = json(field.key.as_str());
        let text = sample.filter(|_| place == 0);
        let value = json(text.unwrap_or(&field.label));
        // writing to a `String` cannot fail
        let _ = write!(body, "{comma}\n    {key}: {value}");
    }
    body.push_str("\n  }\n}");
    format!(
        "curl -sS {url} \\\n  -H \"Authorization: Bearer $REFRACT_KEY\" \\\n  \
         -H 'Content-Type: application/json' \\\n  -d {}",
        quoted(&body)
    )
}

/// The command that sets the shell variable `REFRACT_KEY`.
pub(crate) fn set_key(key: &str) -> String {
    format!("export REFRACT_KEY={}", quoted(key))
}

/// A text quoted as one word of a POSIX shell, without any expansion.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A text as a JSON string. Characters that a terminal or a page shows wrongly, such as marks that
/// change the reading direction, are escaped: the command does what it looks like.
fn json(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    for character in serde_json::Value::from(text).to_string().chars() {
        if is_unseen(character) {
            let mut units = [0_u16; 2];
            for unit in character.encode_utf16(&mut units) {
                // writing to a `String` cannot fail
                let _ = write!(written, "\\u{unit:04x}");
            }
        } else {
            written.push(character);
        }
    }
    written
}

/// Whether a character is a control character, a line break or an invisible mark.
fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests;
