//! Review: a person judges the results of a queue, one text after the other.
//!
//! A *sitting* has the results of its queue, drawn when it begins, and what the person judged. It is
//! saved, so that the person goes on where they stopped, on any node. Marks are saved with the way
//! in which their results were chosen, since only a random draw measures quality.

mod draw;
mod next;
mod sitting;

use refract_domain::key::QuestionKey;
use refract_domain::lens::Cutoffs;
use refract_domain::result::mark::MarkSource;
use refract_persistence::ResultFilter;
use serde::{Deserialize, Serialize};

pub use self::draw::REVIEWED_NEWEST;
pub use self::next::{Judgement, JudgementInput, NextToReview, ReviewFrom, ReviewItem};
pub use self::sitting::{ReviewStep, Sitting, Standing};
use crate::results::ResultSearch;

/// The kind of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueKind {
    /// A random sample.
    #[default]
    Random,
    /// The Yes / No answers nearest to a cutoff first.
    Near,
    /// The least sure answers first.
    LeastSure,
    /// Choices without a valid answer.
    NoValidAnswer,
    /// The results that a filter selects, the newest first.
    Filter,
    /// The results about which people differ, to settle them, the newest first.
    Differ,
}

/// A queue that a person asks for.
#[derive(Clone, Debug, Default)]
pub struct ReviewQueue {
    /// Which results come first.
    pub kind: QueueKind,
    /// The question to judge; `None` for all questions of each result, one after the other.
    pub question: Option<QuestionKey>,
    /// The cutoffs of a draft, for [`QueueKind::Near`]; `None` for those of the lens.
    pub cutoffs: Option<Cutoffs>,
    /// The results that the queue is made from. Failed results are left out.
    pub search: ResultSearch,
    /// Whether answers are hidden until they are judged.
    pub is_blind: bool,
    /// Whether the queue also has what other people marked, so that agreement can be measured.
    pub is_shared: bool,
}

impl QueueKind {
    /// Every kind, the default first.
    pub const ALL: [Self; 6] = [
        Self::Random,
        Self::Near,
        Self::LeastSure,
        Self::NoValidAnswer,
        Self::Filter,
        Self::Differ,
    ];

    /// The kind's name, as in an address.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Near => "near",
            Self::LeastSure => "least_sure",
            Self::NoValidAnswer => "no_valid_answer",
            Self::Filter => "filter",
            Self::Differ => "differ",
        }
    }

    /// The kind with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The source of marks that are made in the queue; `is_fair` is whether a random draw was from
    /// all results.
    const fn source(self, is_fair: bool) -> MarkSource {
        match self {
            Self::Random if is_fair => MarkSource::Random,
            Self::Near => MarkSource::Near,
            Self::LeastSure => MarkSource::LeastSure,
            Self::Random | Self::NoValidAnswer | Self::Filter | Self::Differ => MarkSource::Filter,
        }
    }
}

impl ReviewQueue {
    /// Whether the queue is a fair sample: a random draw from all results, or from all of a version
    /// or of a period. A draw from the results with one answer, say, measures that answer alone.
    pub fn is_fair(&self) -> bool {
        let filter = &self.search.filter;
        let by_nothing_else = ResultSearch {
            filter: ResultFilter {
                is_ok: filter.is_ok,
                version: filter.version,
                since: filter.since,
                until: filter.until,
                ..ResultFilter::default()
            },
            ..ResultSearch::default()
        };
        self.kind == QueueKind::Random && self.search == by_nothing_else
    }

    /// Whether only a person's own judgements close a question.
    fn is_of_person(&self) -> bool {
        self.is_shared || self.kind == QueueKind::Differ
    }

    /// The search, for `ok` results alone.
    fn ok_search(&self) -> ResultSearch {
        let mut search = self.search.clone();
        search.filter.is_ok = Some(true);
        search
    }
}
