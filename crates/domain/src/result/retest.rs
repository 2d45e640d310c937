//! Stored retests: the states of a retest, which change leads from which state to which, and how the
//! texts were chosen.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::prism::PrismVersion;

/// The state of a stored retest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RetestState {
    /// No node has taken the retest yet.
    Waiting,
    /// A node asks about the texts.
    Asking,
    /// Every text was asked about.
    Done,
    /// A person stopped the retest before its last text.
    Stopped,
    /// The retest ended by itself before its last text: the model stayed away.
    Failed,
}

/// A change of a stored retest that a person makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RetestChange {
    /// Ask about no further text.
    Interrupt,
    /// Ask about the texts that have no new answers.
    Continue,
}

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
    /// Whether the texts are drawn from the newest results only.
    pub is_of_newest: bool,
}

impl RetestState {
    /// Every state.
    pub const ALL: [Self; 5] = [
        Self::Waiting,
        Self::Asking,
        Self::Done,
        Self::Stopped,
        Self::Failed,
    ];

    /// The state's name, such as `asking`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Asking => "asking",
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }

    /// The state with this name; `None` for any other text.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether a node asks about the texts, or is about to.
    pub const fn is_under_way(self) -> bool {
        match self {
            Self::Waiting | Self::Asking => true,
            Self::Done | Self::Stopped | Self::Failed => false,
        }
    }

    /// The state after a person's change; `None` where this state does not allow the change.
    pub const fn after(self, change: RetestChange) -> Option<Self> {
        match (change, self) {
            (RetestChange::Interrupt, Self::Waiting | Self::Asking) => Some(Self::Stopped),
            // a done retest may have texts that failed
            (RetestChange::Continue, Self::Done | Self::Stopped | Self::Failed) => {
                Some(Self::Waiting)
            }
            (RetestChange::Interrupt | RetestChange::Continue, _) => None,
        }
    }
}

impl RetestChange {
    /// Every change.
    pub const ALL: [Self; 2] = [Self::Interrupt, Self::Continue];
}

impl fmt::Display for RetestState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retest_is_stopped_while_it_is_under_way_and_continued_afterwards() {
        let stopped = RetestState::Waiting.after(RetestChange::Interrupt);
        assert_eq!(stopped, Some(RetestState::Stopped));
        for state in RetestState::ALL {
            assert_eq!(RetestState::parse(state.name()), Some(state));
            for change in RetestChange::ALL {
                let is_interruption = change == RetestChange::Interrupt;
                let after = state.after(change);
                assert_eq!(
                    after.is_some(),
                    state.is_under_way() == is_interruption,
                    "{state}"
                );
                let leads_to_work = after.is_some_and(RetestState::is_under_way);
                assert!(
                    after.is_none() || leads_to_work != is_interruption,
                    "{state}"
                );
            }
        }
        assert_eq!(RetestState::parse("Done"), None);
    }
}
