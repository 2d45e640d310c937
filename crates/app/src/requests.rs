//! What a browser sends, and what is known of it when a handler is called.

pub(crate) mod carried_form;
pub(crate) mod days;
pub(crate) mod form;
pub(crate) mod form_size;
pub(crate) mod origin;
pub(crate) mod page_request;
pub(crate) mod path_values;
pub(crate) mod request_record;
pub(crate) mod visit;
pub(crate) mod visitor;
