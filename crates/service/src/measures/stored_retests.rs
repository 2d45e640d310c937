//! Stored retests: texts of a prism that a node asks about again in the background, of another model,
//! another version or a draft. No result is saved: the new answers are kept beside the retest for a while.

mod start;
mod stored_retest;
mod text_choice;
mod worker;

use std::ops::RangeInclusive;

pub use refract_domain::result::{DrawnTexts, TextOrigin};
pub use refract_persistence::RetestCounts;

pub use self::start::{
    ModelName, ModelNameError, PlannedVersion, RetestEstimate, RetestPlan, StartRetestError,
};
pub use self::stored_retest::{ChangeRetestOutcome, StoredRetest};
pub use self::text_choice::TextChoice;
pub use self::worker::RetestWorker;
use crate::Refract;

/// Number of texts that a retest may ask about.
pub const RETEST_TEXTS: RangeInclusive<u16> = 10..=2_000;
/// Number of texts that a retest asks about unless another number is given.
pub const USUAL_RETEST_TEXTS: u16 = 200;
/// Number of texts that a draft may be tried on.
pub const TRIAL_TEXTS: RangeInclusive<u16> = 1..=200;
/// Most retests of an account that are under way; a prism has one.
pub const MOST_RETESTS_UNDER_WAY: i32 = 3;
/// Most retests of a prism that are listed.
pub const LISTED_RETESTS: u32 = 20;
/// Days after which a retest that ended is deleted.
pub const KEPT_RETEST_DAYS: i64 = 30;

/// The use cases of stored retests, from [`Refract::retests`](crate::Refract::retests).
#[derive(Clone, Copy)]
pub struct Retests<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Stored retests.
    pub fn retests(&self) -> Retests<'_> {
        Retests { refract: self }
    }
}
