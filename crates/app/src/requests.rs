//! What handlers know about a request: its values, visitor and client.

pub(crate) mod arriving_file;
pub(crate) mod carried_form;
pub(crate) mod form;
pub(crate) mod form_size;
pub(crate) mod off_event_loop;
pub(crate) mod origin;
pub(crate) mod page_request;
pub(crate) mod visit;
