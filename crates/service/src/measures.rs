//! Measures over saved results: how often they are right, how two sides compare, and whether the
//! order of options matters.

mod comparison;
pub(crate) mod evaluation;
mod gold_answers;
mod option_orders;
mod question_quality;

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
