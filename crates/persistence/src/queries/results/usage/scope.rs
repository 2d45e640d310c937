//! Which results are added up, and by what.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use refract_domain::ids::{ApiKeyId, PrismId};

/// What usage can be grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsageDimension {
    /// The prism that was asked.
    Prism,
    /// The API key that made the result.
    Key,
    /// The person who made the result in the app.
    Person,
    /// The file run that made the result.
    Run,
    /// The model, as its server reports it.
    Model,
    /// The day in UTC on which the result was saved.
    Day,
}

impl UsageDimension {
    /// Every dimension, in the order in which groups are listed.
    pub const ALL: [Self; 6] = [
        Self::Prism,
        Self::Key,
        Self::Person,
        Self::Run,
        Self::Model,
        Self::Day,
    ];

    /// The name of the dimension: `prism`, `key`, `person`, `run`, `model` or `day`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prism => "prism",
            Self::Key => "key",
            Self::Person => "person",
            Self::Run => "run",
            Self::Model => "model",
            Self::Day => "day",
        }
    }

    /// The dimension with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// Which results are added up, and in which groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageScope {
    /// What to group by; without any, all results are one group.
    pub by: BTreeSet<UsageDimension>,
    /// Only results of this prism.
    pub prism: Option<PrismId>,
    /// Only results that this key made.
    pub key: Option<ApiKeyId>,
    /// Results from this moment on; deleted ones from the beginning of its day in UTC.
    pub since: Option<DateTime<Utc>>,
    /// Results before this moment; deleted ones to the end of its day in UTC.
    pub until: Option<DateTime<Utc>>,
}
