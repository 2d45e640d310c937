//! How the texts of a retest were chosen, and what was found when they were.

use refract_domain::prism::PrismVersion;
use refract_persistence::PersistenceError;
use serde::{Deserialize, Serialize};

use crate::measures::Retest;

/// How the texts of a retest were chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextOrigin {
    /// At random among all answered results.
    #[default]
    Answered,
    /// At random among those with a mark that counts in measures.
    Marked,
    /// At random among the wrong answers to a question.
    Wrong,
    /// The least sure of a search.
    LeastSure,
    /// The newest of a search.
    Found,
}

impl TextOrigin {
    /// What one of the texts is called.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Answered | Self::Found => "text",
            Self::Marked => "marked text",
            Self::Wrong => "wrongly answered text",
            Self::LeastSure => "least sure text",
        }
    }
}

/// What was found when the texts of a retest were drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DrawnTexts {
    /// How the texts were chosen.
    pub from: TextOrigin,
    /// The draft that is asked; `None` for a saved version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft: Option<PrismVersion>,
    /// Number of drawn texts that lack a field of the version.
    pub lacking_fields: u64,
    /// Number of drawn texts that are too large for the version.
    pub too_large: u64,
    /// Questions that are not compared on some drawn texts, each with the number of these texts.
    pub not_compared: Vec<(String, u64)>,
    /// Whether the texts are drawn from the newest
    /// [`SAMPLED_NEWEST`](crate::measures::SAMPLED_NEWEST) results only.
    pub is_of_newest: bool,
}

impl DrawnTexts {
    /// Reads the column of a retest.
    pub(super) fn read(json: &str) -> Result<Self, PersistenceError> {
        let column = "retests.drawn";
        serde_json::from_str(json).map_err(|_| PersistenceError::Unreadable { column })
    }

    /// Adds what was found when a part of the texts was loaded.
    pub(super) fn add(&mut self, retest: &Retest) {
        self.lacking_fields += retest.lacking_fields;
        self.too_large += retest.too_large;
        for (question, texts) in &retest.not_compared {
            let mut counted = self.not_compared.iter_mut();
            match counted.find(|(key, _)| key == question.as_str()) {
                Some((_, counted)) => *counted += texts,
                None => self.not_compared.push((question.to_string(), *texts)),
            }
        }
    }
}
