//! What a model server itself says about a failure.

use refract_service::model::{ModelSettings, ServerMessage};

/// The server's own words about a failure, with a leading space; empty if it sent none.
pub(super) fn of(settings: &ModelSettings, message: Option<&ServerMessage>) -> String {
    let key = settings.api_key.as_ref();
    let message = message.and_then(|message| message.for_terminal(key));
    let quoted = message.map(|words| format!(" The server says: \"{words}\"."));
    quoted.unwrap_or_default()
}
