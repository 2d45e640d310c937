//! Chooses the stored texts on which an unsaved version is tried.

use std::sync::Arc;

use rand::seq::IteratorRandom as _;
use refract_domain::answer::probability::Probability;
use refract_domain::answer::{Answer, Answers, confidence};
use refract_domain::ids::ResultId;
use refract_persistence::ResultFilter;

use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::prisms::Prisms;
use crate::prisms::trial::TRIAL_TEXTS;
use crate::results::read::ReadableResult;

/// Most of the newest results among which texts are chosen.
pub const TRIAL_CANDIDATES: usize = 2_000;
/// Most pages of marked results among which texts are chosen.
const MARKED_PAGES: usize = 10;

/// Which stored texts an unsaved version is tried on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrialTexts {
    /// A random sample of the newest results.
    #[default]
    Random,
    /// The newest results whose least sure answer is the least sure.
    LeastSure,
    /// A random sample of the marked results.
    Marked,
}

impl TrialTexts {
    /// Every choice, in the order in which people see them.
    pub const ALL: [Self; 3] = [Self::Random, Self::LeastSure, Self::Marked];

    /// The choice's name in a form.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::LeastSure => "least_sure",
            Self::Marked => "marked",
        }
    }

    /// The choice with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name)
    }
}

impl Prisms<'_> {
    /// Chooses at most [`TRIAL_TEXTS`] stored `ok` results of a prism for
    /// [`try_draft`](Prisms::try_draft).
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn choose_trial_texts(
        self,
        lens: &Arc<PrismLens>,
        choice: TrialTexts,
    ) -> Result<Vec<ReadableResult>, InternalError> {
        let chosen = match choice {
            TrialTexts::Random => {
                let candidates = self.newest_answers(lens, |_| ()).await?;
                sample(candidates.into_iter().map(|(id, ())| id))
            }
            TrialTexts::LeastSure => {
                let mut candidates = self.newest_answers(lens, least_confidence).await?;
                candidates.sort_by_key(|(_, confidence)| *confidence);
                let ids = candidates.into_iter().map(|(id, _)| id);
                ids.take(TRIAL_TEXTS).collect()
            }
            TrialTexts::Marked => sample(self.marked(lens).await?.into_iter()),
        };
        self.find_trial_texts(lens, &chosen).await
    }

    /// Finds results of a prism by their ids. A result that was deleted meanwhile is left out.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn find_trial_texts(
        self,
        lens: &Arc<PrismLens>,
        ids: &[ResultId],
    ) -> Result<Vec<ReadableResult>, InternalError> {
        let database = &self.refract.database;
        let mut results = Vec::with_capacity(ids.len());
        for id in ids {
            let found = database.find_result(lens.prism.account, *id).await?;
            if let Some(found) = found.filter(|found| found.prism.id == lens.prism.id) {
                results.push(ReadableResult::through_lens(database, found.result, lens).await?);
            }
        }
        Ok(results)
    }

    /// The newest `ok` results, each with a measure of its answers.
    async fn newest_answers<T>(
        self,
        lens: &PrismLens,
        measure: impl Fn(&Answers) -> T,
    ) -> Result<Vec<(ResultId, T)>, InternalError> {
        let prism = &lens.prism;
        let database = &self.refract.database;
        let mut pages = database.answer_pages(prism.account, prism.id);
        let mut found = Vec::new();
        loop {
            let page = pages.next(TRIAL_CANDIDATES - found.len()).await?;
            if page.is_empty() {
                return Ok(found);
            }
            found.extend(page.iter().map(|one| (one.id, measure(&one.answers))));
            if found.len() >= TRIAL_CANDIDATES {
                return Ok(found);
            }
        }
    }

    async fn marked(self, lens: &PrismLens) -> Result<Vec<ResultId>, InternalError> {
        let database = &self.refract.database;
        let ok = ResultFilter {
            is_ok: Some(true),
            ..ResultFilter::default()
        };
        let mut pages = database.marked_pages(lens.prism.id, ok);
        let mut ids = Vec::new();
        for _ in 0..MARKED_PAGES {
            let Some(page) = pages.next().await? else {
                break;
            };
            ids.extend(page.iter().map(|marked| marked.id));
        }
        Ok(ids)
    }
}

fn sample(ids: impl Iterator<Item = ResultId>) -> Vec<ResultId> {
    ids.sample(&mut rand::rng(), TRIAL_TEXTS)
}

/// The confidence in the least sure of the answers.
fn least_confidence(answers: &Answers) -> Probability {
    let answers = answers.as_slice().iter();
    let sure = answers.map(|(_, answer)| confidence_of(answer));
    sure.min().unwrap_or(Probability::CERTAIN)
}

fn confidence_of(answer: &Answer) -> Probability {
    match answer {
        Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } => {
            let most = probabilities.iter().map(|(_, probability)| *probability);
            let outcomes = u32::try_from(probabilities.len()).unwrap_or(u32::MAX);
            confidence(most.max().unwrap_or_default().to_f64(), outcomes)
        }
        Answer::YesNo { probability } => {
            let yes = probability.to_f64();
            confidence(yes.max(1.0 - yes), 2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_as_sure_as_its_least_sure_answer() {
        let of = |json: &str| {
            let answers: Answers = serde_json::from_str(json).unwrap();
            least_confidence(&answers)
        };
        let angry = r#""angry":{"type":"yes_no","probability":0.55}"#;
        let topic = r#""topic":{"type":"choice","value":"a","probabilities":{"a":1.0,"b":0.0},"confidence":1.0}"#;
        let both = of(&format!("{{{topic},{angry}}}"));
        assert_eq!(both, of(&format!("{{{angry}}}")));
        assert!(both < of(&format!("{{{topic}}}")));
        assert_eq!(of("{}"), Probability::CERTAIN);
    }

    #[test]
    fn a_choice_is_found_by_its_name() {
        for choice in TrialTexts::ALL {
            assert_eq!(TrialTexts::named(choice.name()), Some(choice));
        }
        assert_eq!(TrialTexts::named("newest"), None);
    }
}
