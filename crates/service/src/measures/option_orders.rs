//! Checks whether the order of options matters: asks the model about answered texts again, with the
//! options of Choice questions in other orders.
//!
//! The answers to these model requests are compared with the saved answers and then dropped:
//! nothing is saved.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use refract_boxed_futures::boxed;
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::{PrismVersion, Question, in_other_orders};
use refract_evaluation::flips::{AnswerSensitivity, SensitivityMeasures};
use refract_model_gateway::{CostEstimate, Model};

use crate::InternalError;
use crate::asking::{AskedTexts, AskingPace, EarlyEnd, Next, add_cost, ask_each};
use crate::measures::Measures;
use crate::results::read::ReadableResult;

/// Most orders of one text that are asked at the same time.
const AT_ONCE: usize = 3;

/// The Choice questions of a version with their options in other orders.
pub struct OptionOrders {
    versions: Vec<PrismVersion>,
}

/// How other orders of the options changed the answers to many texts.
#[derive(Clone, Debug)]
pub struct OrdersReport {
    /// Texts that the model was asked about, once for each order.
    pub asked: AskedTexts,
    /// The Choice questions in the version's order.
    pub questions: Vec<QuestionInOrders>,
}

/// A Choice question that was asked in other orders about many texts.
#[derive(Clone, Debug)]
pub struct QuestionInOrders {
    /// The question.
    pub question: QuestionKey,
    /// Number of other orders.
    pub orders: usize,
    sensitivity: AnswerSensitivity,
}

/// How other orders of the options changed the answers to one text.
#[derive(Clone, Debug, Default)]
pub struct OrderCheck {
    /// The choices of the version that answered, in the version's order.
    pub choices: Vec<ChoiceInOrders>,
    /// The errors of the orders that the model did not answer.
    pub failures: Vec<String>,
}

/// One choice of a text in several orders of its options.
#[derive(Clone, Debug)]
pub struct ChoiceInOrders {
    /// The question.
    pub question: QuestionKey,
    /// The answers to other orders.
    pub orders: Vec<AnswerInOrder>,
    sensitivity: AnswerSensitivity,
}

/// The answer to a choice with its options in another order.
#[derive(Clone, Debug)]
pub struct AnswerInOrder {
    /// The keys of the prism's own options, in the order in which they were asked.
    pub options: Vec<OutcomeKey>,
    /// The answer.
    pub answer: Answer,
    /// Whether its outcome differs from that of the stored answer.
    pub flips: bool,
}

/// What the order check of one text will cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderCheckCost {
    /// Number of times that the model is asked about the text again; 0 where there is nothing to
    /// check.
    pub orders: usize,
    /// Estimated model requests over all of these times; 0 for the built-in scorer.
    pub requests: usize,
}

#[boxed(local)]
impl Measures<'_> {
    /// Estimated cost of asking about the texts of these results in every order.
    ///
    /// # Errors
    /// When there is no model to ask.
    pub fn cost_in_orders(
        self,
        orders: &OptionOrders,
        results: &[ReadableResult],
    ) -> Result<CostEstimate, InternalError> {
        Ok(orders.cost(self.refract.model()?, results))
    }

    /// Asks about the text of each result in every order, and compares the answers with the
    /// result's. Failed results are skipped. After `stop`, or when the model is away, the model is
    /// asked about no further text. `progress` gets the report after each text and order.
    ///
    /// # Errors
    /// When there is no model to ask.
    pub async fn ask_in_orders(
        self,
        orders: &OptionOrders,
        results: &[ReadableResult],
        pace: AskingPace,
        stop: impl Future<Output = ()>,
        mut progress: impl FnMut(&OrdersReport),
    ) -> Result<OrdersReport, InternalError> {
        let model = self.refract.model()?;
        let answered = results.iter().filter_map(|result| {
            let answers = result.view().status.answers()?;
            Some((result.submission(), answers))
        });
        let texts = answered.flat_map(|(submission, answers)| {
            let versions = orders.versions.iter();
            versions.map(move |version| (version, submission, answers))
        });
        let mut report = orders.report(pace);
        let begun = report.asked.begun();
        let requests = texts.map(async |(version, submission, answers)| {
            let begun = begun.begin();
            let reply = model.answer(version, submission).await;
            (begun, answers, reply.outcome)
        });
        let asking = ask_each(stream::iter(requests), pace.concurrency, stop, |reply| {
            let Some((begun, saved, outcome)) = reply else {
                report.asked.end = Some(EarlyEnd::Asked);
                return Next::Drop;
            };
            let outcome = outcome.map_err(|failure| failure.to_string());
            let compared = outcome.and_then(|answers| report.compare(saved, &answers));
            report.asked.count(begun, compared);
            progress(&report);
            Next::begin_if(report.asked.end.is_none())
        });
        asking.await;
        Ok(report)
    }

    /// The cost of [`Measures::check_orders`].
    pub fn order_check_cost(self, result: &ReadableResult, most: usize) -> OrderCheckCost {
        let Some(model) = self.refract.model().ok().filter(|_| result.is_ok()) else {
            return OrderCheckCost::default();
        };
        let orders = OptionOrders::new(result.version(), most);
        OrderCheckCost {
            orders: orders.len(),
            requests: orders.cost(model, std::slice::from_ref(result)).requests,
        }
    }

    /// Asks about the text of a result again with the options of each choice in at most `most`
    /// other orders, and saves nothing. Asks nothing for a failed result or a result without
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
        let versions = orders.versions.iter();
        let asked = versions.map(|version| results.ask(version, result.submission()));
        let asked = stream::iter(asked.collect::<Vec<_>>()).buffered(AT_ONCE);
        let asked: Vec<_> = asked.try_collect().await?;
        let (mut answered, mut failures) = (Vec::new(), Vec::new());
        for (version, reply) in orders.versions.iter().zip(asked) {
            match reply.outcome {
                Ok(answers) => answered.push((version, answers)),
                Err(failure) => failures.push(failure.to_string()),
            }
        }
        let choices = orders.questions().iter();
        let choices = choices.filter_map(|question| {
            let stored = stored.get(&question.key)?;
            Some(ChoiceInOrders::new(&question.key, stored, &answered))
        });
        Ok(OrderCheck {
            choices: choices.collect(),
            failures,
        })
    }
}

impl OptionOrders {
    /// At most `most` other orders of each Choice question; fewer where a question has fewer.
    pub fn new(version: &PrismVersion, most: usize) -> Self {
        Self {
            versions: in_other_orders(version, most),
        }
    }

    /// Number of times that the model is asked about each text; 0 for a version without Choice
    /// questions.
    pub fn len(&self) -> usize {
        self.versions.len()
    }

    /// Whether the model is never asked: no Choice question has another order.
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }

    /// The Choice questions that have another order. The first version has all of them.
    fn questions(&self) -> &[Question] {
        let first = self.versions.first();
        first.map_or(&[], PrismVersion::questions)
    }

    /// Estimated cost of asking a model about the texts of these results.
    fn cost(&self, model: &Model, results: &[ReadableResult]) -> CostEstimate {
        let mut cost = CostEstimate::default();
        for version in &self.versions {
            let estimator = model.estimator(version);
            for result in results {
                add_cost(&mut cost, &estimator, version, result.submission());
            }
        }
        cost
    }

    /// The report before the first request to the model.
    fn report(&self, pace: AskingPace) -> OrdersReport {
        let questions = self.questions().iter().map(|question| {
            let versions = self.versions.iter();
            let having = versions.filter(|version| version.question(&question.key).is_some());
            QuestionInOrders {
                question: question.key.clone(),
                orders: having.count(),
                sensitivity: AnswerSensitivity::default(),
            }
        });
        OrdersReport {
            asked: AskedTexts::new(pace),
            questions: questions.collect(),
        }
    }
}

impl OrdersReport {
    /// Compares the answers to a text in another order with the saved ones.
    fn compare(&mut self, saved: &Answers, answers: &Answers) -> Result<(), String> {
        for asked in &mut self.questions {
            let pair = saved.get(&asked.question).zip(answers.get(&asked.question));
            if let Some((saved, other)) = pair {
                let added = asked.sensitivity.add(saved, other);
                added.map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }
}

impl QuestionInOrders {
    /// How far the answers depend on the order.
    pub fn measures(&self) -> SensitivityMeasures {
        self.sensitivity.measures()
    }
}

impl ChoiceInOrders {
    /// Compares the answers of each order with the stored answer, which was given to the prism's
    /// own order.
    fn new(key: &QuestionKey, stored: &Answer, answered: &[(&PrismVersion, Answers)]) -> Self {
        let mut sensitivity = AnswerSensitivity::default();
        let orders = answered.iter().filter_map(|(version, answers)| {
            let (asked, answer) = (version.question(key)?, answers.get(key)?);
            // an answer of another type does not answer this question
            sensitivity.add(stored, answer).ok()?;
            let options = asked.own_outcomes().iter();
            Some(AnswerInOrder {
                options: options.map(|option| option.key.clone()).collect(),
                answer: answer.clone(),
                flips: chosen(answer) != chosen(stored),
            })
        });
        Self {
            question: key.clone(),
            orders: orders.collect(),
            sensitivity,
        }
    }

    /// How far the answers are from the stored answer.
    pub fn measures(&self) -> SensitivityMeasures {
        self.sensitivity.measures()
    }

    /// Whether some order has another outcome than the stored answer.
    pub fn flips(&self) -> bool {
        self.orders.iter().any(|order| order.flips)
    }
}

/// The chosen option of a choice.
fn chosen(answer: &Answer) -> Option<&OutcomeKey> {
    match answer {
        Answer::Choice { value, .. } => value.as_ref(),
        Answer::YesNo { .. } | Answer::Scale { .. } => None,
    }
}
