//! The public view of the route table.

use actix_web::http::Method;
use refract_domain::account::role::Role;

use crate::routing::route::Access;
use crate::routing::routes::ROUTES;

/// A route's address and access rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteFacts {
    /// Whether the route is an action (POST), as opposed to a page (GET).
    pub is_action: bool,
    /// The path, with names in braces for the segments that vary.
    pub pattern: &'static str,
    /// The least role that may use the route; `None` for everybody.
    pub least_role: Option<Role>,
    /// Whether the route is an action that takes a file.
    pub takes_file: bool,
}

/// Every route of the app, for a test that visits all of them.
pub fn route_table() -> impl Iterator<Item = RouteFacts> {
    ROUTES.iter().map(|route| RouteFacts {
        is_action: route.method == Method::POST,
        pattern: route.pattern,
        least_role: match route.access {
            Access::Open(_) => None,
            Access::For(least, _) | Access::Upload(least, _) => Some(least),
        },
        takes_file: route.takes_file(),
    })
}
