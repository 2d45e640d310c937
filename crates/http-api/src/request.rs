//! Reading of a request: its key, its body and the call that it makes.

pub(crate) mod bearer;
pub(crate) mod body;
pub(crate) mod call;
