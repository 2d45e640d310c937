//! Certified cutoffs of a question: as JSON, as text, and as a lens file.

use std::path::PathBuf;

use anyhow::bail;
use refract_domain::result::mark::source::MarksFrom;
use refract_evaluation::cutoffs::certificate::Certificate;
use refract_evaluation::cutoffs::promise::{CertifiedCutoffs, CertifiedGoal};
use refract_service::measures::EvaluatedQuestion;
use refract_service::prisms::PrismHistory;

use super::advice_json::AdviceJson;
use super::{advice_text, advised_lens, certified_text};
use crate::output;

/// A request for certified cutoffs of one question.
pub(super) struct CertifiedQuestion {
    /// The promise.
    pub(super) goal: CertifiedGoal,
    /// The lens file to write.
    pub(super) write: Option<PathBuf>,
}

impl CertifiedQuestion {
    /// Prints the certificate, and writes the lens file if requested.
    ///
    /// # Errors
    /// The lens file cannot be written, or no cutoffs are certified.
    pub(super) fn print(
        &self,
        prism: &str,
        evaluated: &EvaluatedQuestion,
        history: &PrismHistory,
        marks: MarksFrom,
        as_json: bool,
    ) -> anyhow::Result<()> {
        let key = &evaluated.question.key;
        let certificate = evaluated.marked.certify(self.goal);
        let certified = certificate.certified();
        let cutoffs = certified.and_then(|region| region.cutoffs.cutoffs());
        if let (Some(path), Some(cutoffs)) = (&self.write, cutoffs) {
            advised_lens::write(path, history, key, |_| Some(cutoffs))?;
        }
        if as_json {
            output::json(&AdviceJson::certified(key.as_str(), &certificate, marks))?;
        } else {
            let lines = certified_text::lines(&certificate).join("\n");
            output::text(&format!("{lines}\n"))?;
        }
        self.print_next_step(prism, &certificate)
    }

    fn print_next_step(&self, prism: &str, certificate: &Certificate) -> anyhow::Result<()> {
        let cutoffs = certificate.certified().map(|region| region.cutoffs);
        match (&self.write, cutoffs) {
            (write, Some(CertifiedCutoffs::YesNo { .. })) => {
                output::say(&advice_text::next_step(prism, write.as_deref()));
            }
            (Some(path), Some(CertifiedCutoffs::Confidence(_)) | None) => bail!(
                "{}: {} is not written",
                certified_text::outcome(certificate),
                path.display()
            ),
            (None, Some(CertifiedCutoffs::Confidence(_)) | None) => {}
        }
        Ok(())
    }
}
