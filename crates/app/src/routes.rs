//! The route table: every address of the app, who may use it, and what answers. A test walks it.

use refract_domain::role::Role;

#[cfg(debug_assertions)]
use crate::pages::component_sheet;
use crate::pages::{
    asset, edit, events, join, keys, lens, me, new_prism, people, prism, prisms, result, results,
    sign_in, sign_in_link, sign_out, try_text, version,
};
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
        Door::Open(|visit| Box::pin(async move { Ok(component_sheet::show(&visit)) })),
    ),
    AppRoute::get(
        "/",
        Door::For(Role::Reviewer, |visit| Box::pin(prisms::show(visit))),
    ),
    AppRoute::post(
        "/seen",
        Door::For(Role::Reviewer, |visit| Box::pin(prisms::seen(visit))),
    ),
    AppRoute::get(
        "/prisms/new",
        Door::For(Role::Editor, |visit| {
            Box::pin(async move { Ok(new_prism::show(&visit)) })
        }),
    ),
    AppRoute::post(
        "/prisms/new",
        Door::For(Role::Editor, |visit| Box::pin(new_prism::submit(visit))),
    ),
    AppRoute::get(
        "/prisms/{slug}",
        Door::For(Role::Reviewer, |visit| Box::pin(prism::show(visit))),
    ),
    AppRoute::get(
        "/prisms/{slug}/file",
        Door::For(Role::Reviewer, |visit| Box::pin(prism::download(visit))),
    ),
    AppRoute::post(
        "/prisms/{slug}/rename",
        Door::For(Role::Editor, |visit| Box::pin(prism::rename(visit))),
    ),
    AppRoute::post(
        "/prisms/{slug}/archive",
        Door::For(Role::Editor, |visit| Box::pin(prism::archive(visit))),
    ),
    AppRoute::post(
        "/prisms/{slug}/restore",
        Door::For(Role::Editor, |visit| Box::pin(prism::restore(visit))),
    ),
    AppRoute::get(
        "/prisms/{slug}/versions/{n}",
        Door::For(Role::Reviewer, |visit| Box::pin(version::show(visit))),
    ),
    AppRoute::get(
        "/prisms/{slug}/versions/{n}/file",
        Door::For(Role::Reviewer, |visit| {
            Box::pin(prism::download_version(visit))
        }),
    ),
    AppRoute::get(
        "/prisms/{slug}/lens",
        Door::For(Role::Reviewer, |visit| Box::pin(lens::show(visit))),
    ),
    AppRoute::post(
        "/prisms/{slug}/lens",
        Door::For(Role::Reviewer, |visit| Box::pin(lens::draft(visit))),
    ),
    AppRoute::post(
        "/prisms/{slug}/lens/preview",
        Door::For(Role::Reviewer, |visit| Box::pin(lens::show_preview(visit))),
    ),
    AppRoute::post(
        "/prisms/{slug}/lens/save",
        Door::For(Role::Editor, |visit| Box::pin(lens::save(visit))),
    ),
    AppRoute::post(
        "/prisms/{slug}/lens/reset",
        Door::For(Role::Editor, |visit| Box::pin(lens::reset(visit))),
    ),
    AppRoute::get(
        "/prisms/{slug}/try",
        Door::For(Role::Reviewer, |visit| Box::pin(try_text::show(visit))),
    ),
    AppRoute::post(
        "/prisms/{slug}/try",
        Door::For(Role::Reviewer, |visit| Box::pin(try_text::submit(visit))),
    ),
    AppRoute::get(
        "/results/{id}",
        Door::For(Role::Reviewer, |visit| Box::pin(result::show(visit))),
    ),
    AppRoute::get(
        "/results/{id}/as/{format}",
        Door::For(Role::Reviewer, |visit| Box::pin(result::download(visit))),
    ),
    AppRoute::post(
        "/results/{id}/marks",
        Door::For(Role::Reviewer, |visit| Box::pin(result::mark(visit))),
    ),
    AppRoute::post(
        "/results/{id}/orders",
        Door::For(Role::Reviewer, |visit| {
            Box::pin(result::check_orders(visit))
        }),
    ),
    AppRoute::post(
        "/results/{id}/retry",
        Door::For(Role::Reviewer, |visit| Box::pin(result::retry(visit))),
    ),
    AppRoute::get(
        "/prisms/{slug}/results",
        Door::For(Role::Reviewer, |visit| Box::pin(results::show(visit))),
    ),
    AppRoute::get(
        "/prisms/{slug}/results/download",
        Door::For(Role::Reviewer, |visit| Box::pin(results::download(visit))),
    ),
    AppRoute::get(
        "/keys",
        Door::For(Role::Owner, |visit| Box::pin(keys::show(visit))),
    ),
    AppRoute::post(
        "/keys",
        Door::For(Role::Owner, |visit| Box::pin(keys::create(visit))),
    ),
    AppRoute::post(
        "/keys/{id}/revoke",
        Door::For(Role::Owner, |visit| Box::pin(keys::revoke(visit))),
    ),
    AppRoute::get(
        "/sign-in",
        Door::Open(|visit| Box::pin(async move { Ok(sign_in::show(&visit)) })),
    ),
    AppRoute::post_with_another_form(
        "/sign-in",
        Door::Open(|visit| Box::pin(sign_in::submit(visit))),
    ),
    AppRoute::get(
        "/sign-in/{token}",
        Door::Open(|visit| Box::pin(sign_in_link::show(visit))),
    ),
    AppRoute::post(
        "/sign-in/{token}",
        Door::Open(|visit| Box::pin(sign_in_link::submit(visit))),
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
        "/me",
        Door::For(Role::Reviewer, |visit| Box::pin(me::show(visit))),
    ),
    AppRoute::post(
        "/me/name",
        Door::For(Role::Reviewer, |visit| Box::pin(me::rename(visit))),
    ),
    AppRoute::post(
        "/me/password",
        Door::For(Role::Reviewer, |visit| Box::pin(me::change_password(visit))),
    ),
    AppRoute::post(
        "/me/sessions/end-others",
        Door::For(Role::Reviewer, |visit| Box::pin(me::end_others(visit))),
    ),
    AppRoute::post(
        "/me/sessions/{id}/end",
        Door::For(Role::Reviewer, |visit| Box::pin(me::end_session(visit))),
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
        "/events",
        Door::For(Role::Owner, |visit| Box::pin(events::show(visit))),
    ),
    AppRoute::get(
        "/events/download",
        Door::For(Role::Owner, |visit| Box::pin(events::download(visit))),
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
