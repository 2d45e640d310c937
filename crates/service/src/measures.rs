//! Measures over saved results: how often they are right, two sides compared, the order of options.

mod comparison;
pub(crate) mod evaluation;
pub(crate) mod option_orders;
mod order_check;

pub use self::comparison::{
    ComparedQuestion, ComparedSide, ComparedSides, DifferingText, MOST_DIFFERING,
};
pub use self::evaluation::{EvaluatedQuestion, EvaluationError, questions};
pub use self::option_orders::{
    OptionOrders, OrdersAsking, OrdersEnd, OrdersReport, QuestionInOrders,
};
pub use self::order_check::{AnswerInOrder, ChoiceInOrders, OrderCheck, OrderCheckCost};
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
