//! The replies: page layout, errors, files, and the headers of all replies.

mod page;
mod page_error;
mod page_reply;
pub(crate) mod refusal_page;

pub(crate) use self::page::{Page, Section};
pub(crate) use self::page_error::PageError;
pub(crate) use self::page_reply::PageReply;
