//! A file run in lists and links.

use actix_web::http::header::HeaderName;
use maud::{Markup, html};
use refract_domain::ids::FileRunId;
use refract_domain::result::file_run::FileRunState;

/// The header of the changing part of a page with the state of the work that the page follows: in
/// another state the page has other parts.
pub(crate) const STATE: HeaderName = HeaderName::from_static("x-run-state");

/// The address of a run's page.
pub(crate) fn run_address(run: FileRunId) -> String {
    format!("/runs/{run}")
}

/// The state of a run as a label. A run that never began and whose file was deleted waits for nothing.
pub(crate) fn state_tag(state: FileRunState, has_file: bool) -> Markup {
    let is_strong = matches!(state, FileRunState::Paused | FileRunState::Broken);
    let has_begun = !matches!(
        state,
        FileRunState::Matching | FileRunState::Checking | FileRunState::Ready
    );
    let words = if has_file || has_begun {
        state_words(state)
    } else {
        "file deleted"
    };
    html! { span.tag.strong[is_strong] { (words) } }
}

/// The state of a run in people's words.
pub(crate) fn state_words(state: FileRunState) -> &'static str {
    match state {
        FileRunState::Matching => "match columns",
        FileRunState::Checking => "reading",
        FileRunState::Ready => "ready to start",
        FileRunState::Previewing => "answering five rows",
        FileRunState::Running => "running",
        FileRunState::Paused => "paused",
        FileRunState::Done => "done",
        FileRunState::Cancelled => "cancelled",
        FileRunState::Broken => "cannot be read",
    }
}
