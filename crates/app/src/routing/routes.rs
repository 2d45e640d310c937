//! The route table: every address of the app, its access rule and its handler. A test visits all of
//! them.

use std::future::ready;

use actix_web::http::Method;
use refract_domain::account::Role::{self, Editor, Owner, Reviewer};

#[cfg(debug_assertions)]
use crate::pages::component_sheet;
use crate::pages::{
    codes, edit, events, examples, join, keys, lens, me, new_prism, people, prism, prisms, quality,
    result, results, retest, retests, review, run, runs, show_asset, sign_in, sign_in_link,
    sign_on, sign_out, try_text, usage,
};
use crate::requests::{OpenVisit, Visit};
use crate::routing::{Access, AppRoute};

/// Every route. If several match an address, the first one answers.
pub(crate) static ROUTES: &[AppRoute] = &[
    AppRoute::open_get("/assets/{folder}/{name}", &|visit: OpenVisit| {
        ready(show_asset(&visit))
    }),
    #[cfg(debug_assertions)]
    AppRoute::open_get("/components", &|visit: OpenVisit| {
        ready(Ok(component_sheet::show(&visit)))
    }),
    AppRoute::get("/", Reviewer, &prisms::show),
    AppRoute::post("/seen", Reviewer, &prisms::seen),
    AppRoute::get("/prisms/new", Editor, &|visit: Visit| {
        ready(Ok(new_prism::show(&visit)))
    }),
    AppRoute::post("/prisms/new", Editor, &new_prism::submit),
    AppRoute::get("/prisms/{slug}", Reviewer, &prism::show),
    AppRoute::get("/prisms/{slug}/file", Reviewer, &prism::download),
    AppRoute::post("/prisms/{slug}/rename", Editor, &prism::rename),
    AppRoute::post("/prisms/{slug}/archive", Editor, &prism::archive),
    AppRoute::post("/prisms/{slug}/restore", Editor, &prism::restore),
    AppRoute::get(
        "/prisms/{slug}/versions/{n}",
        Reviewer,
        &prism::show_version,
    ),
    AppRoute::get(
        "/prisms/{slug}/versions/{n}/file",
        Reviewer,
        &prism::download_version,
    ),
    AppRoute::get("/prisms/{slug}/lens", Reviewer, &lens::show),
    AppRoute::post("/prisms/{slug}/lens", Reviewer, &lens::draft),
    AppRoute::post("/prisms/{slug}/lens/preview", Reviewer, &lens::show_preview),
    AppRoute::post("/prisms/{slug}/lens/sample", Reviewer, &lens::show_sample),
    AppRoute::get(
        "/prisms/{slug}/lens/revisions/{n}",
        Reviewer,
        &lens::show_change,
    ),
    AppRoute::get(
        "/prisms/{slug}/lens/revisions/{n}/changed.csv",
        Reviewer,
        &lens::download_change,
    ),
    AppRoute::get(
        "/prisms/{slug}/lens/changed",
        Reviewer,
        &lens::changed::show,
    ),
    AppRoute::get(
        "/prisms/{slug}/lens/changed.csv",
        Reviewer,
        &lens::changed::download,
    ),
    AppRoute::post("/prisms/{slug}/lens/save", Editor, &lens::save),
    AppRoute::post("/prisms/{slug}/lens/reset", Editor, &lens::reset),
    AppRoute::post("/prisms/{slug}/lens/discard", Editor, &lens::discard),
    AppRoute::post("/prisms/{slug}/lens/put-back", Editor, &lens::put_back),
    AppRoute::get("/prisms/{slug}/try", Reviewer, &try_text::show),
    AppRoute::post("/prisms/{slug}/try", Reviewer, &try_text::submit),
    AppRoute::get("/results/{id}", Reviewer, &result::show),
    AppRoute::get("/results/{id}/as/{format}", Reviewer, &result::download),
    AppRoute::post("/results/{id}/marks", Reviewer, &result::mark),
    AppRoute::post("/results/{id}/orders", Reviewer, &result::check_orders),
    AppRoute::post("/results/{id}/retry", Reviewer, &result::retry),
    AppRoute::get("/prisms/{slug}/results", Reviewer, &results::show),
    AppRoute::get(
        "/prisms/{slug}/results/progress",
        Reviewer,
        &results::count_on,
    ),
    AppRoute::get(
        "/prisms/{slug}/results/download",
        Reviewer,
        &results::download,
    ),
    AppRoute::get("/prisms/{slug}/review", Reviewer, &review::show),
    AppRoute::post("/prisms/{slug}/review", Reviewer, &review::begin),
    AppRoute::get(
        "/prisms/{slug}/review/{sitting}",
        Reviewer,
        &review::show_sitting,
    ),
    AppRoute::post("/prisms/{slug}/review/{sitting}", Reviewer, &review::judge),
    AppRoute::post(
        "/prisms/{slug}/review/{sitting}/undo",
        Reviewer,
        &review::undo,
    ),
    AppRoute::get("/prisms/{slug}/quality", Reviewer, &quality::show),
    AppRoute::get(
        "/prisms/{slug}/quality/download",
        Reviewer,
        &quality::download,
    ),
    AppRoute::get("/prisms/{slug}/retests", Reviewer, &retests::show),
    AppRoute::post("/prisms/{slug}/retests", Editor, &retests::start),
    AppRoute::get("/prisms/{slug}/retests/{id}", Reviewer, &retest::show),
    AppRoute::get(
        "/prisms/{slug}/retests/{id}/progress",
        Reviewer,
        &retest::show_progress,
    ),
    AppRoute::get(
        "/prisms/{slug}/retests/{id}/download",
        Reviewer,
        &retest::download,
    ),
    AppRoute::post("/prisms/{slug}/retests/{id}/stop", Editor, &retest::stop),
    AppRoute::post(
        "/prisms/{slug}/retests/{id}/continue",
        Editor,
        &retest::resume,
    ),
    AppRoute::get("/prisms/{slug}/examples", Reviewer, &examples::show),
    AppRoute::post("/prisms/{slug}/examples", Editor, &examples::create),
    AppRoute::get("/prisms/{slug}/examples/new", Editor, &examples::show_new),
    AppRoute::post("/prisms/{slug}/examples/check", Reviewer, &examples::check),
    AppRoute::post("/prisms/{slug}/examples/upload", Editor, &examples::upload),
    AppRoute::get(
        "/prisms/{slug}/examples/download",
        Reviewer,
        &examples::download,
    ),
    AppRoute::get(
        "/prisms/{slug}/examples/{example}",
        Reviewer,
        &examples::show_example,
    ),
    AppRoute::post(
        "/prisms/{slug}/examples/{example}",
        Editor,
        &examples::change,
    ),
    AppRoute::post(
        "/prisms/{slug}/examples/{example}/remove",
        Editor,
        &examples::remove,
    ),
    AppRoute::get("/prisms/{slug}/runs", Reviewer, &runs::show),
    AppRoute::upload("/prisms/{slug}/runs", Editor, &runs::upload),
    AppRoute::get("/runs/{id}", Reviewer, &run::show),
    AppRoute::get("/runs/{id}/progress", Reviewer, &run::show_progress),
    AppRoute::get("/runs/{id}/download", Reviewer, &run::download),
    AppRoute::get("/runs/{id}/refused", Reviewer, &run::download_refused),
    AppRoute::post("/runs/{id}/check", Editor, &run::check),
    AppRoute::post("/runs/{id}/preview", Editor, &run::preview),
    AppRoute::post("/runs/{id}/start", Editor, &run::start),
    AppRoute::post("/runs/{id}/pause", Editor, &run::pause),
    AppRoute::post("/runs/{id}/resume", Editor, &run::resume),
    AppRoute::post("/runs/{id}/retry", Editor, &run::retry_failed),
    AppRoute::post("/runs/{id}/cancel", Editor, &run::cancel),
    AppRoute::post("/runs/{id}/again", Editor, &run::run_again),
    AppRoute::post("/runs/{id}/delete-file", Editor, &run::delete_file),
    AppRoute::get("/keys", Owner, &keys::show),
    AppRoute::post("/keys", Owner, &keys::create),
    AppRoute::post("/keys/{id}/networks", Owner, &keys::set_networks),
    AppRoute::post("/keys/{id}/replace", Owner, &keys::replace),
    AppRoute::post("/keys/{id}/revoke", Owner, &keys::revoke),
    AppRoute::open_get("/sign-in", &sign_in::show),
    AppRoute::open_post_with_another_form("/sign-in", &sign_in::submit),
    AppRoute::open_post_with_another_form("/sign-in/code", &sign_in::submit_code),
    AppRoute::open_get("/sign-in/{token}", &sign_in_link::show),
    AppRoute::open_post("/sign-in/{token}", &sign_in_link::submit),
    AppRoute::open_get("/sign-on", &sign_on::show),
    AppRoute::open_get("/sign-on/callback", &sign_on::finish),
    AppRoute::open_get("/sign-out", &|visit: OpenVisit| {
        ready(Ok(sign_out::show(&visit)))
    }),
    AppRoute::open_post("/sign-out", &sign_out::submit),
    AppRoute::open_get("/join/{token}", &join::show),
    AppRoute::open_post("/join/{token}", &join::submit),
    AppRoute::get("/me", Reviewer, &me::show),
    AppRoute::post("/me/name", Reviewer, &me::rename),
    AppRoute::post("/me/password", Reviewer, &me::change_password),
    AppRoute::post("/me/sessions/end-others", Reviewer, &me::end_others),
    AppRoute::post("/me/sessions/{id}/end", Reviewer, &me::end_session),
    AppRoute::get("/me/codes", Reviewer, &codes::show),
    AppRoute::post("/me/codes/begin", Reviewer, &codes::begin),
    AppRoute::post("/me/codes/on", Reviewer, &codes::switch_on),
    AppRoute::post("/me/codes/confirm", Reviewer, &codes::confirm),
    AppRoute::post("/me/codes/off", Reviewer, &codes::switch_off),
    AppRoute::post("/me/codes/recovery", Reviewer, &codes::renew_recovery_codes),
    AppRoute::get("/people", Owner, &people::show),
    AppRoute::post("/people", Owner, &people::invite),
    AppRoute::post("/people/codes", Owner, &people::require_codes),
    AppRoute::post("/people/{id}/codes-off", Owner, &people::remove_codes),
    AppRoute::post("/people/{id}/link", Owner, &people::renew_link),
    AppRoute::post("/people/{id}/role", Owner, &people::set_role),
    AppRoute::post("/people/{id}/remove", Owner, &people::remove),
    AppRoute::get("/usage", Owner, &usage::show),
    AppRoute::get("/usage/download", Owner, &usage::download),
    AppRoute::post("/usage/budget", Owner, &usage::set_budget),
    AppRoute::get("/events", Owner, &events::show),
    AppRoute::get("/events/download", Owner, &events::download),
    AppRoute::get("/prisms/new/edit", Editor, &edit::show),
    AppRoute::post("/prisms/new/edit", Editor, &edit::change),
    AppRoute::post("/prisms/new/edit/check", Editor, &edit::check),
    AppRoute::post("/prisms/new/edit/draft", Editor, &edit::change_draft),
    AppRoute::get("/prisms/{slug}/edit", Editor, &edit::show),
    AppRoute::post("/prisms/{slug}/edit", Editor, &edit::change),
    AppRoute::post("/prisms/{slug}/edit/check", Editor, &edit::check),
    AppRoute::post("/prisms/{slug}/edit/draft", Editor, &edit::change_draft),
    AppRoute::get("/prisms/{slug}/edit/review", Editor, &edit::review),
    AppRoute::get(
        "/prisms/{slug}/edit/trial",
        Editor,
        &edit::stored_texts::show,
    ),
    AppRoute::post(
        "/prisms/{slug}/edit/trial",
        Editor,
        &edit::stored_texts::change,
    ),
];

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
