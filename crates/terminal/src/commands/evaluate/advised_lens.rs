//! The lens file with advised cutoffs.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use refract_authoring::lens_file::{self, LensFile};
use refract_domain::cutoffs::Cutoffs;
use refract_domain::key::QuestionKey;
use refract_domain::lens::{cutoffs_of, with_cutoffs};
use refract_evaluation::cutoff_advice::CutoffAdvice;
use refract_service::prisms::PrismHistory;

use crate::output::file::OutputFile;

/// The cutoffs of an advice for a lens that has these cutoffs now; `None` where the goal is out of
/// reach.
///
/// Where the advice has no `no_below`, `no` ends where it ends now, or where `yes` begins if that
/// is lower.
pub(super) fn cutoffs(advice: &CutoffAdvice, now: Cutoffs) -> Option<Cutoffs> {
    let share = |percent| f64::from(percent) / 100.0;
    let yes_from = advice.yes_from.map(share)?;
    let no_below = advice.no_below.map(share);
    let no_below = no_below.unwrap_or_else(|| now.no_ends_at().value().min(yes_from));
    Cutoffs::new(Some(no_below), (yes_from > no_below).then_some(yes_from)).ok()
}

/// Writes the prism's lens with these cutoffs of a question into a file that `lens set` takes.
///
/// # Errors
/// The latest version lacks the question, the lens has no room for its column, or the file cannot
/// be written.
pub(super) fn write(
    path: &Path,
    history: &PrismHistory,
    question: &QuestionKey,
    advice: &CutoffAdvice,
) -> anyhow::Result<()> {
    let latest = history.versions.last().context("Prism version not found")?;
    if latest.question(question).is_none() {
        let version = history.prism.latest_version;
        return Err(anyhow!(
            "version {version}, the latest, has no question '{question}', so that no lens can show it"
        ));
    }
    let columns = latest.columns(&history.lens);
    let cutoffs = cutoffs(advice, cutoffs_of(columns, question));
    let cutoffs = cutoffs.context("the advice has no cutoffs")?;
    let columns = with_cutoffs(columns, latest.fields(), question, cutoffs);
    let mut text = serde_json::to_vec_pretty(&LensFile::new(&columns))?;
    text.push(b'\n');
    // the file is read as `lens set` will read it
    lens_file::read(&text, latest)?;
    let mut file = OutputFile::create(path)?;
    let written = file.write_all(&text);
    written.with_context(|| format!("cannot write {}", path.display()))?;
    file.finish()
}

#[cfg(test)]
mod tests {
    use refract_evaluation::cutoff_trial::CutoffMeasures;

    use super::*;

    fn cutoffs_of_advice(
        no_below: Option<u32>,
        yes_from: Option<u32>,
        now: (Option<f64>, Option<f64>),
    ) -> Option<(Option<f64>, Option<f64>)> {
        let advice = CutoffAdvice {
            no_below,
            yes_from,
            marks: 100,
            marked_yes: 50,
            behind: 40,
            held_out: CutoffMeasures::default(),
        };
        let cutoffs = cutoffs(&advice, Cutoffs::new(now.0, now.1).unwrap())?;
        let number = |cutoff: Option<refract_domain::cutoffs::Cutoff>| Some(cutoff?.value());
        Some((number(cutoffs.no_below()), number(cutoffs.yes_from())))
    }

    #[test]
    fn the_advice_decides_and_the_lens_where_no_is_out_of_reach() {
        let none = (None, None);
        let narrow = (Some(0.4), Some(0.6));
        for (no_below, yes_from, now, expected) in [
            (Some(21), Some(62), narrow, Some((Some(0.21), Some(0.62)))),
            (Some(62), Some(62), narrow, Some((Some(0.62), None))),
            (Some(99), Some(100), narrow, Some((Some(0.99), Some(1.0)))),
            // no ends where it ends now, at 0.5 where the lens does not say it
            (None, Some(62), narrow, Some((Some(0.4), Some(0.62)))),
            (None, Some(62), none, Some((Some(0.5), Some(0.62)))),
            (None, Some(100), none, Some((Some(0.5), Some(1.0)))),
            // yes begins before no would end
            (None, Some(30), narrow, Some((Some(0.3), None))),
            (None, Some(40), narrow, Some((Some(0.4), None))),
            (Some(20), None, narrow, None),
        ] {
            let found = cutoffs_of_advice(no_below, yes_from, now);
            assert_eq!(found, expected, "{no_below:?} {yes_from:?} {now:?}");
        }
    }
}
