//! What of a lens page is shown, as its address has it.

use form_urlencoded::Serializer;
use refract_service::lenses::DraftRows;
use refract_service::marks::QueueKind;
use refract_service::prisms::Prism;

use super::lens_form::{LensForm, to_share};
use crate::components::prism_address;
use crate::requests::{Form, Query};

/// The part of a page's state that is not in the draft.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LensView {
    /// Whether the newest results are listed instead of the changed ones.
    pub(super) is_newest: bool,
    /// The precision in percent, as typed, for which cutoffs were looked for last.
    pub(super) advised: Option<String>,
}

impl LensView {
    /// The view of an address.
    pub(super) fn of_query(query: &Query) -> Self {
        Self {
            is_newest: query.get("show") == Some("newest"),
            advised: query.get("advised").map(ToOwned::to_owned),
        }
    }

    /// The view after a submitted form's button.
    pub(super) fn of_form(form: &Form) -> Self {
        let act = form.get("act");
        let was_newest = form.get("show") == "newest";
        let typed = |name| form.get(name).trim().chars().take(12).collect();
        Self {
            is_newest: act == "newest" || (was_newest && act != "changed"),
            advised: (act == "advise").then(|| typed("precision")),
        }
    }

    /// The rows to list below the column in the middle.
    pub(super) fn rows(&self, form: &LensForm) -> DraftRows {
        if self.is_newest {
            DraftRows::Newest
        } else {
            DraftRows::Changed {
                near: form.chosen(),
                skip: 0,
            }
        }
    }

    /// The query string of the page with this view of a form.
    pub(super) fn query(&self, form: &LensForm) -> Vec<(&'static str, String)> {
        let place = |name, place: Option<usize>| Some((name, place?.to_string()));
        let parts = [
            place("column", form.chosen()),
            place("open", form.open()),
            self.is_newest.then(|| ("show", "newest".to_owned())),
            self.advised.clone().map(|advised| ("advised", advised)),
        ];
        parts.into_iter().flatten().collect()
    }
}

/// The address of a prism's lens page.
pub(super) fn address(prism: &Prism, query: &[(&'static str, String)]) -> String {
    let page = format!("{}/lens", prism_address(prism));
    if query.is_empty() {
        return page;
    }
    let query = Serializer::new(String::new()).extend_pairs(query).finish();
    format!("{page}?{query}")
}

/// The query of the page with all results that a draft changes.
pub(super) fn changed_query(form: &LensForm) -> String {
    let column = form.chosen().map(|place| ("column", place.to_string()));
    let pairs = column.into_iter().chain(cutoffs_query(form));
    let query = Serializer::new(String::new()).extend_pairs(pairs).finish();
    if query.is_empty() {
        query
    } else {
        format!("?{query}")
    }
}

/// The address of the queue of results near the cutoffs in force of a question.
pub(super) fn near_queue(prism: &Prism, question: &str) -> String {
    let pairs = [("queue", QueueKind::Near.name()), ("question", question)];
    let query = Serializer::new(String::new()).extend_pairs(pairs).finish();
    format!("{}/review?{query}", prism_address(prism))
}

/// The cutoffs of the column in the middle for an address, which shows them to anybody.
pub(super) fn cutoffs_query(form: &LensForm) -> Vec<(&'static str, String)> {
    let Some(column) = form.chosen_column() else {
        return Vec::new();
    };
    let share = |name, percent: &str| Some((name, to_share(percent.trim())?));
    let parts = [
        Some(("question", column.question().to_owned())),
        share("no_below", &column.no_below),
        share("yes_from", &column.yes_from),
    ];
    parts.into_iter().flatten().collect()
}
