//! The order check of one text: how far its choices depend on the order of their options.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::PrismVersion;
use refract_domain::question::Question;
use refract_evaluation::order_sensitivity::{OrderMeasures, OrderSensitivity};

use crate::InternalError;
use crate::measures::Measures;
use crate::measures::option_orders::OptionOrders;
use crate::results::readable_result::ReadableResult;

/// Orders that are asked at the same time.
const AT_ONCE: usize = 3;

/// What other orders of the options made of one text. Nothing of it is saved.
#[derive(Clone, Debug, Default)]
pub struct OrderCheck {
    /// The choices of the version that answered, in its order.
    pub choices: Vec<ChoiceInOrders>,
    /// The errors of the orders that the model did not answer.
    pub failures: Vec<String>,
}

/// One choice of a text in several orders of its options.
#[derive(Clone, Debug)]
pub struct ChoiceInOrders {
    /// The question.
    pub question: QuestionKey,
    /// The stored answer, which was given to the prism's own order.
    pub stored: Answer,
    /// The answers to other orders.
    pub orders: Vec<AnswerInOrder>,
    sensitivity: OrderSensitivity,
}

/// The answer to a choice with its options in another order.
#[derive(Clone, Debug)]
pub struct AnswerInOrder {
    /// The keys of the prism's own options in the order that was asked.
    pub options: Vec<OutcomeKey>,
    /// The answer.
    pub answer: Answer,
    /// Whether its outcome is another than that of the stored answer.
    pub flips: bool,
}

impl ChoiceInOrders {
    /// How far the answers are from the stored one.
    pub fn measures(&self) -> OrderMeasures {
        self.sensitivity.measures()
    }

    /// Whether the outcome of some order is another than that of the stored answer.
    pub fn flips(&self) -> bool {
        self.orders.iter().any(|order| order.flips)
    }

    fn add(&mut self, asked: &Question, answer: &Answer) {
        // an answer of another type is none to this question
        if self.sensitivity.add(&self.stored, answer).is_err() {
            return;
        }
        let options = asked.own_outcomes().iter();
        self.orders.push(AnswerInOrder {
            options: options.map(|option| option.key.clone()).collect(),
            flips: outcome(answer) != outcome(&self.stored),
            answer: answer.clone(),
        });
    }
}

/// What the order check of one text will cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderCheckCost {
    /// Number of times that the text is asked about again; 0 where there is nothing to check.
    pub orders: usize,
    /// Estimated model requests over all of these times; 0 for the built-in scorer.
    pub requests: usize,
}

impl Measures<'_> {
    /// What [`Measures::check_orders`] will cost.
    pub fn order_check_cost(self, result: &ReadableResult, most: usize) -> OrderCheckCost {
        let Some(model) = self.refract.model().ok().filter(|_| result.is_ok()) else {
            return OrderCheckCost::default();
        };
        let orders = OptionOrders::new(result.version(), most);
        let cost = orders.cost(|version| model.estimator(version), &[result]);
        OrderCheckCost {
            orders: orders.len(),
            requests: cost.requests,
        }
    }

    /// Asks about the text of a result again with the options of each choice in at most `most` other
    /// orders, and saves nothing. There is nothing to ask about a failed result and about one without
    /// choices.
    ///
    /// # Errors
    /// When there is no model to ask.
    pub async fn check_orders(
        self,
        result: &ReadableResult,
        most: usize,
    ) -> Result<OrderCheck, InternalError> {
        let Some(stored) = result.view().status.answers().cloned() else {
            return Ok(OrderCheck::default());
        };
        let results = self.refract.results();
        let orders = OptionOrders::new(result.version(), most);
        let asked = orders.versions().iter().map(|version| async move {
            let reply = results.ask(version, result.submission()).await?;
            Ok::<_, InternalError>((version, reply.outcome))
        });
        let mut asked = stream::iter(asked.collect::<Vec<_>>()).buffered(AT_ONCE);
        let mut check = OrderCheck {
            choices: choices(&orders, &stored),
            failures: Vec::new(),
        };
        while let Some((version, outcome)) = asked.try_next().await? {
            match outcome {
                Ok(answers) => check.add(version, &answers),
                Err(failure) => check.failures.push(failure.to_string()),
            }
        }
        Ok(check)
    }
}

impl OrderCheck {
    fn add(&mut self, version: &PrismVersion, answers: &Answers) {
        for choice in &mut self.choices {
            let question = version.question(&choice.question);
            if let Some((question, answer)) = question.zip(answers.get(&choice.question)) {
                choice.add(question, answer);
            }
        }
    }
}

/// The choices that have another order, before one is asked. The first order has them all.
fn choices(orders: &OptionOrders, stored: &Answers) -> Vec<ChoiceInOrders> {
    let first = orders.versions().first();
    let questions = first.map_or(&[][..], PrismVersion::questions).iter();
    let choice = |question: &Question| {
        Some(ChoiceInOrders {
            question: question.key.clone(),
            stored: stored.get(&question.key)?.clone(),
            orders: Vec::new(),
            sensitivity: OrderSensitivity::default(),
        })
    };
    questions.filter_map(choice).collect()
}

/// The chosen option of a choice.
fn outcome(answer: &Answer) -> Option<&OutcomeKey> {
    match answer {
        Answer::Choice { value, .. } => value.as_ref(),
        Answer::YesNo { .. } | Answer::Scale { .. } => None,
    }
}
