//! The configured model servers: their addresses, load and health, and the choice of a server for
//! the next request.
//!
//! This module sends no request and knows no protocol.

pub(crate) mod address;
pub(crate) mod catch_up;
mod health;
pub(crate) mod load;
pub(crate) mod pace;
pub(crate) mod place;
pub(crate) mod pool;
pub(crate) mod prefix_cache;
