//! The protocols for asking a model. Each one writes requests and reads answers, and knows no
//! connection. The built-in scorer is a protocol that sends nothing.

pub(crate) mod answers;
pub(crate) mod chat;
pub(crate) mod concurrent;
pub(crate) mod decisions;
pub(crate) mod demo_scorer;
pub(crate) mod gemini;
pub(crate) mod reading_order;
pub(crate) mod server_protocol;
pub(crate) mod stated;
pub(crate) mod system_one;
pub(crate) mod typed_questions;
