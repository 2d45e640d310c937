//! The beginning of a chat request's body, up to the inside of the user message: with a system
//! message, or with its words at the beginning of the user message if the model's template takes
//! none.

use bytes::Bytes;
use serde_json::json;

/// Both forms of the beginning. All requests to a server share their bytes.
#[derive(Clone, Debug)]
pub(crate) struct ChatOpening {
    with_system_message: Bytes,
    in_user_message: Bytes,
}

impl ChatOpening {
    /// Writes both forms for a model and the words of its system message.
    pub(crate) fn new(model: &str, system: &str) -> Self {
        let model = json!(model);
        let with_system_message = format!(
            r#"{{"model":{model},"messages":[{{"role":"system","content":{}}},{{"role":"user","content":""#,
            json!(system)
        );
        let mut in_user_message = format!(
            r#"{{"model":{model},"messages":[{{"role":"user","content":{}"#,
            json!(format!("{system}\n\n"))
        );
        // removes the closing quote: the user message continues
        in_user_message.pop();
        Self {
            with_system_message: with_system_message.into(),
            in_user_message: in_user_message.into(),
        }
    }

    /// The form with or without a system message.
    pub(crate) fn bytes(&self, has_system_message: bool) -> Bytes {
        let form = if has_system_message {
            &self.with_system_message
        } else {
            &self.in_user_message
        };
        form.clone()
    }
}
