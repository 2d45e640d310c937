//! The configured model servers: their addresses, load and health, and the choice of a server for
//! the next request.
//!
//! This module sends no request and knows no protocol.

mod address;
mod catch_up;
mod load;
mod pace;
mod place;
mod pool;
mod prefix_cache;

pub(crate) use self::address::ServerAddress;
pub(crate) use self::catch_up::{CatchUp, ServerTurn};
pub use self::load::ServerUse;
pub(crate) use self::pace::{HostLimits, PacedRequest, ServerPace};
pub(crate) use self::place::{EachServer, MOST_SERVERS, ServerPlace, ServerSet};
pub(crate) use self::pool::{AskedServer, ChosenServer, ServerPool};
pub(crate) use self::prefix_cache::PrefixCache;
