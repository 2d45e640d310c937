//! The route table: every address of the app, who may use it, and what answers. A test walks it.

use refract_domain::role::Role;

use crate::assets;
#[cfg(debug_assertions)]
use crate::pages::component_sheet;
use crate::pages::prisms;
use crate::route::{AppRoute, Door};

/// Every route. Of two that match an address, the first answers.
pub(crate) static ROUTES: &[AppRoute] = &[
    AppRoute::get(
        "/assets/{folder}/{name}",
        Door::Open(|visit| Box::pin(assets::show(visit))),
    ),
    #[cfg(debug_assertions)]
    AppRoute::get(
        "/components",
        Door::Open(|visit| Box::pin(component_sheet::show(visit))),
    ),
    AppRoute::get(
        "/",
        Door::For(Role::Reviewer, |visit| Box::pin(prisms::show(visit))),
    ),
];
