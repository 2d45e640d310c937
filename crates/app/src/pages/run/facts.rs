//! What is known about the file of a run, and what can be done with it.

use maud::{Markup, html};
use refract_domain::prism::VersionNumber;
use refract_domain::result::file_run::FileRunState;

use super::run_view::RunView;
use crate::components::file_run::run_address;
use crate::components::number::{count, counted};
use crate::requests::visit::Visit;

/// The most refused rows that are shown.
const REFUSED: usize = 10;

/// The refused rows that a check found, with a link to all of them as a file.
pub(super) fn refused(view: &RunView, refused: u64, listed: &[(u64, String)]) -> Markup {
    let address = run_address(view.run.id);
    html! {
        @if refused > 0 {
            p {
                strong { (counted(refused, "row")) " cannot be asked about" } ": "
                a href={ (address) "/refused" } download { "the refused rows as a file" }
                ", to be corrected and run again."
            }
            ul.plain {
                @for (line, reason) in listed.iter().take(REFUSED) {
                    li { "Line " (count(*line)) ": " (reason) }
                }
                @let rest = refused.saturating_sub(u64::try_from(listed.len().min(REFUSED)).unwrap_or(u64::MAX));
                @if rest > 0 { li.soft { "and " (count(rest)) " more" } }
            }
        }
    }
}

/// The actions on the file: another version, and its deletion.
pub(super) fn file(visit: &Visit, view: &RunView) -> Markup {
    let run = &view.run;
    let address = run_address(run.id);
    let days = visit.site.keep_uploads_days;
    let (Some(_), true) = (run.upload, view.is_editor) else {
        return html! { @if run.upload.is_none() { p.soft { "The file is deleted; the results stay." } } };
    };
    let latest = view.lens.prism.latest_version.get();
    let others: Vec<_> = (1..=latest)
        .rev()
        .filter_map(VersionNumber::new)
        .filter(|version| *version != run.version)
        .collect();
    let has_run = matches!(
        run.state,
        FileRunState::Done | FileRunState::Paused | FileRunState::Cancelled
    );
    html! {
        @if has_run && !others.is_empty() && view.lens.prism.archived_at.is_none() {
            details {
                summary { "Run this file with another version" }
                form.row method="post" action={ (address) "/again" } {
                    label for="version" { "Version" }
                    select #version name="version" {
                        @for version in &others { option value=(version) { (version) } }
                    }
                    button type="submit" { "Go on to its columns" }
                }
                p.hint { "Both runs are then compared on this page, row by row." }
            }
        }
        @if !run.state.is_worked_on() {
            details {
                summary { "Delete the file" }
                form method="post" action={ (address) "/delete-file" } {
                    p { "The results of its rows stay. Without the file nothing of it can be run or downloaded in its order any more. It is deleted by itself after " (counted(days, "day")) "." }
                    button.danger type="submit" { "Delete the file" }
                }
            }
        }
    }
}
