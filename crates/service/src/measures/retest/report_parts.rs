//! The report of a retest whose new answers are stored, made from a part of its texts at a time, so
//! that they are never all in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use refract_domain::answer::Answers;
use refract_domain::ids::ResultId;
use refract_domain::prism::{PrismVersion, VersionNumber};

use super::drawn::{AnsweringVersions, Retest, compared_questions};
use super::report::RetestReport;
use crate::lenses::prism_lens::PrismLens;
use crate::runs::AskingPace;

/// The report of the parts that were added so far. Its figures are those of one report of all texts.
pub(crate) struct ReportParts {
    version: Option<Arc<PrismVersion>>,
    lens: Arc<PrismLens>,
    report: RetestReport,
    /// The versions that answered the texts before.
    versions: BTreeMap<VersionNumber, PrismVersion>,
}

impl ReportParts {
    /// The report before the first part.
    pub(crate) fn new(
        version: Option<Arc<PrismVersion>>,
        lens: &Arc<PrismLens>,
        pace: AskingPace,
    ) -> Self {
        Self {
            version,
            lens: Arc::clone(lens),
            report: RetestReport::new([], lens.columns().lens, pace),
            versions: BTreeMap::new(),
        }
    }

    /// Adds texts, those without known new answers as not compared, and the reasons of failures.
    pub(crate) fn add(
        &mut self,
        retest: &Retest,
        known: &HashMap<ResultId, Answers>,
        failures: Vec<String>,
    ) {
        let asked = self.version.as_deref();
        let answering = retest.answering_versions();
        let questions = compared_questions(asked, &answering);
        let columns = self.lens.columns();
        self.report.add_questions(questions, columns.lens);
        for text in &retest.texts {
            if let Some(answers) = retest.known_answers(text, known) {
                self.report.known += 1;
                self.report.compare(text, text.version(asked), &answers);
            }
        }
        for failure in failures {
            *self.report.asked.failed.entry(failure).or_default() += 1;
        }
        for (number, version) in answering {
            let add = || PrismVersion::clone(version);
            self.versions.entry(number).or_insert_with(add);
        }
    }

    /// The report of all parts.
    pub(crate) fn report(mut self) -> RetestReport {
        let versions: AnsweringVersions<'_> = self
            .versions
            .iter()
            .map(|(number, it)| (*number, it))
            .collect();
        let questions = compared_questions(self.version.as_deref(), &versions);
        self.report.order_questions(&questions);
        self.report
    }
}
