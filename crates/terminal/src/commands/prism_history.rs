//! Looks up the questions and versions that a command line names.

use anyhow::bail;
use refract_domain::key::QuestionKey;
use refract_domain::prism::VersionNumber;
use refract_domain::prism::question::Question;
use refract_service::measures::questions;
use refract_service::prisms::PrismHistory;

use crate::{suggestion, terminal};

/// The question with this key, as worded by the newest version that has it.
///
/// # Errors
/// No version has the question. The error suggests the most similar key.
pub(super) fn question<'a>(history: &'a PrismHistory, key: &str) -> anyhow::Result<&'a Question> {
    let questions = questions(&history.versions);
    let mut found = questions
        .iter()
        .filter(|question| question.key.as_str() == key);
    if let Some(question) = found.next() {
        return Ok(question);
    }
    let keys = questions.iter().map(|question| question.key.as_str());
    let proposal = suggestion::did_you_mean_or_list(key, keys);
    bail!(
        "the prism has no question '{}'{proposal}",
        terminal::plain(key)
    );
}

/// The question with this key as worded by one version; `None` if that version lacks it.
pub(super) fn question_in<'a>(
    history: &'a PrismHistory,
    version: VersionNumber,
    key: &QuestionKey,
) -> Option<&'a Question> {
    let index = usize::try_from(version.get()).ok()?.checked_sub(1)?;
    history.versions.get(index)?.question(key)
}

/// Refuses a version that the prism does not have.
///
/// # Errors
/// The version's number is above the latest.
pub(super) fn check_version(history: &PrismHistory, version: VersionNumber) -> anyhow::Result<()> {
    let latest = history.prism.latest_version;
    if version > latest {
        bail!("the prism has no version {version}: its latest is {latest}");
    }
    Ok(())
}
