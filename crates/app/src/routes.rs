//! The route table: every address of the app, who may use it, and what answers. A test walks it.

use refract_domain::role::Role;

#[cfg(debug_assertions)]
use crate::pages::component_sheet;
use crate::pages::{asset, edit, join, people, prisms, sign_in, sign_out};
use crate::route::{AppRoute, Door};

/// Every route. Of two that match an address, the first answers.
pub(crate) static ROUTES: &[AppRoute] = &[
    AppRoute::get(
        "/assets/{folder}/{name}",
        Door::Open(|visit| Box::pin(async move { asset::show(&visit) })),
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
    AppRoute::get(
        "/sign-in",
        Door::Open(|visit| Box::pin(async move { Ok(sign_in::show(&visit)) })),
    ),
    AppRoute::post(
        "/sign-in",
        Door::Open(|visit| Box::pin(sign_in::submit(visit))),
    ),
    AppRoute::get(
        "/sign-in/{token}",
        Door::Open(|visit| Box::pin(sign_in::by_link(visit))),
    ),
    AppRoute::post(
        "/sign-out",
        Door::Open(|visit| Box::pin(sign_out::submit(visit))),
    ),
    AppRoute::get(
        "/join/{token}",
        Door::Open(|visit| Box::pin(join::show(visit))),
    ),
    AppRoute::post(
        "/join/{token}",
        Door::Open(|visit| Box::pin(join::submit(visit))),
    ),
    AppRoute::get(
        "/people",
        Door::For(Role::Owner, |visit| Box::pin(people::show(visit))),
    ),
    AppRoute::post(
        "/people",
        Door::For(Role::Owner, |visit| Box::pin(people::invite(visit))),
    ),
    AppRoute::post(
        "/people/{id}/link",
        Door::For(Role::Owner, |visit| Box::pin(people::renew_link(visit))),
    ),
    AppRoute::post(
        "/people/{id}/role",
        Door::For(Role::Owner, |visit| Box::pin(people::set_role(visit))),
    ),
    AppRoute::post(
        "/people/{id}/remove",
        Door::For(Role::Owner, |visit| Box::pin(people::remove(visit))),
    ),
    AppRoute::get(
        "/prisms/new/edit",
        Door::For(Role::Editor, |visit| Box::pin(edit::show_new(visit))),
    ),
    AppRoute::post(
        "/prisms/new/edit",
        Door::For(Role::Editor, |visit| Box::pin(edit::change(visit))),
    ),
    AppRoute::post(
        "/prisms/new/edit/check",
        Door::For(Role::Editor, |visit| Box::pin(edit::check(visit))),
    ),
    AppRoute::get(
        "/prisms/{slug}/edit",
        Door::For(Role::Editor, |visit| Box::pin(edit::show(visit))),
    ),
    AppRoute::post(
        "/prisms/{slug}/edit",
        Door::For(Role::Editor, |visit| Box::pin(edit::change(visit))),
    ),
    AppRoute::post(
        "/prisms/{slug}/edit/check",
        Door::For(Role::Editor, |visit| Box::pin(edit::check(visit))),
    ),
];
