//! The lens file with advised cutoffs.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use refract_domain::cutoffs::Cutoffs;
use refract_domain::key::QuestionKey;
use refract_domain::lens::{cutoffs_of, with_cutoffs};
use refract_domain::lens_file::{self, LensFile};
use refract_evaluation::cutoff_advice::CutoffAdvice;
use refract_persistence::PrismHistory;

use crate::output_file::OutputFile;

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
    let columns = with_cutoffs(columns, question, cutoffs);
    let mut text = serde_json::to_vec_pretty(&LensFile::new(&columns))?;
    text.push(b'\n');
    // the file is read as `lens set` will read it
    lens_file::read(&text, latest)?;
    let mut file = OutputFile::create(path)?;
    let written = file.write_all(&text);
    written.with_context(|| format!("cannot write {}", path.display()))?;
    file.finish()
}
