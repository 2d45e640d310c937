//! The lens file with advised or certified cutoffs.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use refract_authoring::lens_file::{self, LensFile};
use refract_domain::key::QuestionKey;
use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::lens::{cutoffs_of, with_cutoffs};
use refract_service::prisms::PrismHistory;

use crate::output::file::OutputFile;

/// Writes the prism's lens with other cutoffs of a question to a file for `lens set`; `choose` makes
/// them from those that the lens has now.
///
/// # Errors
/// The latest version lacks the question, the lens has no room for its column, or the file cannot
/// be written.
pub(super) fn write(
    path: &Path,
    history: &PrismHistory,
    question: &QuestionKey,
    choose: impl FnOnce(Cutoffs) -> Option<Cutoffs>,
) -> anyhow::Result<()> {
    let latest = history.versions.last().context("Prism version not found")?;
    if latest.question(question).is_none() {
        let version = history.prism.latest_version;
        return Err(anyhow!(
            "version {version}, the latest, has no question '{question}', so that no lens can show it"
        ));
    }
    let columns = latest.columns(&history.lens);
    let cutoffs = choose(cutoffs_of(columns, question));
    let cutoffs = cutoffs.context("the advice has no cutoffs")?;
    let columns = with_cutoffs(columns, latest.fields(), question, cutoffs);
    let mut text = serde_json::to_vec_pretty(&LensFile::new(&columns))?;
    text.push(b'\n');
    // checked the way `lens set` will read the file
    lens_file::read(&text, latest)?;
    let mut file = OutputFile::create(path)?;
    let written = file.write_all(&text);
    written.with_context(|| format!("cannot write {}", path.display()))?;
    file.finish()
}
