//! Measures over saved results: how often they are right, how two sides compare, whether the order
//! of options matters, what another model or version would answer, and what changed over time.

mod agreement;
mod comparison;
pub(crate) mod evaluation;
mod gold_answers;
mod option_orders;
mod question_quality;
mod retest;
mod robustness;
pub mod stored_retests;
pub(crate) mod watch;

pub use self::agreement::QuestionAgreement;
pub use self::comparison::{
    ComparedQuestion, ComparedSide, ComparedSides, DifferingText, MOST_DIFFERING,
};
pub use self::evaluation::{EvaluatedQuestion, EvaluationError, questions};
pub use self::gold_answers::{GoldAnswers, WrongAnswer, WrongAnswers};
pub use self::option_orders::{
    AnswerInOrder, ChoiceInOrders, OptionOrders, OrderCheck, OrderCheckCost, OrdersReport,
    QuestionInOrders,
};
pub use self::question_quality::{MOST_WRONG_RESULTS, QuestionQuality, WrongResult, WrongResults};
pub use self::retest::{
    DrawnFrom, FlippedAnswer, PredictedOutcome, Retest, RetestError, RetestOrder, RetestProgress,
    RetestReport, RetestedQuestion, SAMPLED_NEWEST, retest_fingerprint,
};
pub use self::robustness::{PerturbedForms, PerturbedQuestion, RobustnessReport};
pub use self::watch::{
    ComparedPeriod, CutoffCheck, Occurrence, PrismWatch, WatchAgainst, WatchOutcome, WatchRounds,
    WatchScope, WatchedAnswers,
};
use crate::Refract;

/// The use cases of measures, from [`Refract::measures`](crate::Refract::measures).
#[derive(Clone, Copy)]
pub struct Measures<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Measures over saved results.
    pub fn measures(&self) -> Measures<'_> {
        Measures { refract: self }
    }
}
