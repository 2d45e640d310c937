//! From an address to its handler: the route table, and the checks common to all routes.

pub(crate) mod dispatch;
pub(crate) mod route;
pub(crate) mod routes;
