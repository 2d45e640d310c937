//! The versions of a prism and its other changes, each with its actor. And what changed in a prism's
//! answers without anybody's doing, in a sentence for each change; nothing while nothing did.

use maud::{Markup, html};
use refract_domain::account::Role;
use refract_evaluation::drift::{Alarm, WatchedSpan};
use refract_identity::people::ActorName;
use refract_service::lenses::LensState;
use refract_service::measures::{PrismWatch, WatchedAnswers};
use refract_service::prisms::{ChangeOfPrism, PrismChange, PrismOverview};

use crate::components::report::sentence;
use crate::components::{
    NoticeKind, differences_in_short, lens_change, moment, notice, prism_address, table,
};
use crate::pages::lens::{PUT_BACK, put_back_form};

/// The most differences listed in a version's row.
const SHOWN: usize = 3;
/// The most changes in the list.
const NEWEST: usize = 30;
/// The most lenses that the list needs: the oldest is compared with the one before it.
pub(super) const LENSES: u32 = 31;

/// The newest versions, newest first, each with its changes.
pub(super) fn versions(found: &PrismOverview) -> Markup {
    let address = prism_address(&found.prism_lens.prism);
    let rows = html! {
        @for (number, differences) in &found.compared {
            @let page = format!("{address}/versions/{number}");
            tr {
                th.together scope="row" { a href=(page) { "Version " (number) } }
                td {
                    @if number.get() == 1 { span.soft { "the first" } }
                    @else if differences.is_empty() { span.soft { "nothing" } }
                    @else { (differences_in_short(differences, SHOWN, &page)) }
                }
            }
        }
    };
    let older = found.prism_lens.prism.latest_version.get() > length(found.compared.len());
    html! {
        (table("Versions and what each changed", &["Version", "Changed"], &rows))
        @if older { p.hint { "Older versions are at " code { (address) "/versions/N" } "." } }
    }
}

/// The changes with actor and moment, newest first; those of the lens in the words of its own history,
/// where an editor puts a lens back.
pub(super) fn changes(found: &PrismOverview, lenses: &[LensState], role: Role) -> Markup {
    let lens = format!("{}/lens", prism_address(&found.prism_lens.prism));
    let in_force = found.prism_lens.prism.lens_revision;
    let may_put_back = |state: &LensState| role.may(Role::Editor) && state.revision != in_force;
    let rows = html! {
        @for change in found.changes.iter().take(NEWEST) {
            tr {
                td { (moment(change.made_at)) }
                td {
                    (what(change))
                    @match lens_of(change, lenses) {
                        Some((before, state)) => {
                            div.details { (lens_change(Some(before), state, &found.prism_lens.latest)) }
                            @if may_put_back(state) { (put_back_form(&lens, state.revision, in_force, PUT_BACK)) }
                        },
                        None => (values(change)),
                    }
                    @if let Some(note) = &change.note { div.details { bdi { (note) } } }
                }
                td { (actor(change.actor.as_ref())) }
            }
        }
    };
    table("Who changed what when", &["When", "What", "Who"], &rows)
}

/// The lens that a change made, after the one before it; `None` if the history lacks one of them.
fn lens_of<'a>(
    change: &PrismChange,
    lenses: &'a [LensState],
) -> Option<(&'a LensState, &'a LensState)> {
    let is_it =
        |state: &LensState| state.saved.as_ref().map(|it| it.made_at) == Some(change.made_at);
    let state = lenses.iter().find(|state| is_it(state))?;
    let before = lenses.iter().find(|it| it.revision + 1 == state.revision)?;
    matches!(
        change.what,
        ChangeOfPrism::LensSet | ChangeOfPrism::LensReset
    )
    .then_some((before, state))
}

/// The values before and after a change.
fn values(change: &PrismChange) -> Markup {
    let is_version = matches!(change.what, ChangeOfPrism::Version(_));
    let (from, to) = (change.from.as_ref(), change.to.as_ref());
    html! {
        @if !is_version && (from.is_some() || to.is_some()) {
            div.soft.details {
                @if let Some(from) = from { bdi { (from) } " " }
                "→ "
                @if let Some(to) = to { bdi { (to) } }
            }
        }
    }
}

/// The name of an actor.
pub(super) fn actor(name: Option<&ActorName>) -> Markup {
    html! {
        @match name {
            Some(name) => bdi { (name) },
            None => span.soft { "terminal" },
        }
    }
}

fn what(change: &PrismChange) -> String {
    match change.what {
        ChangeOfPrism::Version(number) => format!("saved version {number}"),
        ChangeOfPrism::LensSet => "changed the lens".to_owned(),
        ChangeOfPrism::LensReset => "reset the lens to automatic".to_owned(),
        ChangeOfPrism::Renamed => "renamed the prism".to_owned(),
        ChangeOfPrism::Archived => "archived the prism".to_owned(),
        ChangeOfPrism::Restored => "restored the prism".to_owned(),
    }
}

fn length(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

/// A notice of the alarms of the last day and of models that answer for the first time.
pub(super) fn drift(watch: &PrismWatch) -> Markup {
    let alarms = watch.questions.iter();
    let alarms = alarms.filter_map(|watched| Some((watched, watched.alarm.as_ref()?)));
    let alarms: Vec<_> = alarms.collect();
    let models: Vec<_> = watch.new_models().collect();
    if alarms.is_empty() && models.is_empty() {
        return html! {};
    }
    let sentences = html! {
        @for (watched, alarm) in alarms { (change(watch, watched, alarm)) ". " }
        @for model in models {
            "The server answers as "
            code { (model.value.as_deref().unwrap_or("a model without a name")) }
            @if let Some(since) = model.since { " since " (moment(since)) }
            ". "
        }
    };
    notice(NoticeKind::Warning, &sentences)
}

/// A change: since when, in which answers, and how large.
fn change(watch: &PrismWatch, watched: &WatchedAnswers, alarm: &Alarm) -> Markup {
    let period = match (alarm.span, watch.newest) {
        (WatchedSpan::Newest, Some(newest)) => newest,
        (WatchedSpan::Newest | WatchedSpan::Window, _) => watch.window,
    };
    let question = &watched.question;
    html! {
        "Since " (moment(period.from)) " for “" bdi { (question.text) } "”: "
        (sentence(&alarm.sentence(watched.alarmed()), question))
    }
}
