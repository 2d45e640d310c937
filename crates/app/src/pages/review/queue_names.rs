//! The names of queues and sittings.

use maud::{Markup, html};
use refract_service::lenses::PrismLens;
use refract_service::marks::{QueueKind, Sitting};

/// The queue of a sitting and the question that it asks.
pub(super) fn sitting_name(sitting: &Sitting, lens: &PrismLens) -> Markup {
    html! {
        (kind_name(sitting.kind()))
        " · "
        @match sitting.question() {
            None => { "all questions" },
            Some(key) => @match lens.latest.question(key) {
                Some(question) => bdi { (question.text) },
                None => bdi { (key) },
            }
        }
    }
}

/// The name of a queue.
pub(super) fn kind_name(kind: QueueKind) -> &'static str {
    match kind {
        QueueKind::Random => "Random sample",
        QueueKind::Near => "Near a cutoff",
        QueueKind::LeastSure => "Least sure",
        QueueKind::NoValidAnswer => "No valid answer",
        QueueKind::Filter => "Filtered results",
    }
}
