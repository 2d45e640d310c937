//! A request's id, client and trace, and the record of how it ended.

pub(crate) mod client_address;
pub(crate) mod id;
pub(crate) mod metrics;
pub(crate) mod record;
pub(crate) mod traced;
