//! The replies: page layout, errors, files, and the headers of all replies.

pub(crate) mod page;
pub(crate) mod page_error;
pub(crate) mod page_reply;
pub(crate) mod refusal_page;
