//! An outcome with its position in the version that answered.

use refract_domain::answer::probability::Probability;
use refract_domain::key::OutcomeKey;
use refract_domain::prism::question::Question;
use refract_domain::result::mark;

/// An outcome with its position in the version that answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedOutcome<'a> {
    /// The outcome.
    pub(crate) key: &'a OutcomeKey,
    /// The outcome's position among those that the question can be marked with, from 0.
    pub(crate) place: usize,
}

impl<'a> PlacedOutcome<'a> {
    /// Finds an outcome of the question; `None` when the question lacks it.
    pub(crate) fn find(question: &Question, key: &'a OutcomeKey) -> Option<Self> {
        let mut outcomes = mark::outcomes(question);
        let place = outcomes.position(|outcome| outcome.key == key.as_str())?;
        Some(Self { key, place })
    }

    /// The outcome's probability in an answer; 0 if the answer does not list it.
    ///
    /// Answers list outcomes in the order of the version, so the outcome's position is checked
    /// first: a search among 255 outcomes takes long.
    pub(crate) fn probability(&self, probabilities: &[(OutcomeKey, Probability)]) -> Probability {
        let is_it = |(key, _): &&(OutcomeKey, Probability)| key == self.key;
        let in_place = probabilities.get(self.place).filter(is_it);
        let found = in_place.or_else(|| probabilities.iter().find(is_it));
        found.map_or(Probability::ZERO, |(_, probability)| *probability)
    }
}
