//! Asks about answered texts again with the options of Choice questions in other orders.
//!
//! What these model requests give is compared with the saved answers and then forgotten: nothing of
//! it is saved.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use refract_domain::answer::Answers;
use refract_domain::key::QuestionKey;
use refract_domain::model_input::{State, json_chars};
use refract_domain::option_orders::in_other_orders;
use refract_domain::prism::PrismVersion;
use refract_evaluation::order_sensitivity::{OrderMeasures, OrderSensitivity};
use refract_model_gateway::{CostEstimate, Estimator, ModelFailure};

use crate::InternalError;
use crate::measures::Measures;
use crate::results::readable_result::ReadableResult;
use crate::runs::failure_threshold::failure_threshold;

/// The Choice questions of a version with their options in other orders.
pub struct OptionOrders {
    versions: Vec<PrismVersion>,
}

/// How many model requests are sent at once, and when to give up.
#[derive(Clone, Copy, Debug)]
pub struct OrdersAsking {
    /// Texts that are asked about at once.
    pub concurrency: NonZeroUsize,
    /// Whether to stop when the failures in a row reach
    /// [`failure_threshold`](crate::runs::failure_threshold()).
    pub gives_up: bool,
}

/// What other orders of the options changed.
#[derive(Clone, Debug, Default)]
pub struct OrdersReport {
    /// Texts that were asked about, once for each order, and answered.
    pub answered: u64,
    /// Texts that were asked about and failed, by error.
    pub failed: BTreeMap<String, u64>,
    /// Why the asking stopped early; `None` when all was asked.
    pub stop: Option<OrdersEnd>,
    questions: Vec<QuestionInOrders>,
    failures_in_a_row: u64,
}

/// Why no further order was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrdersEnd {
    /// The caller asked to stop.
    #[error("it was stopped")]
    Asked,
    /// The failures in a row reached the threshold.
    #[error("the model failed {failures} times in a row: {error}")]
    ModelAway {
        /// Number of failures without an answer in between.
        failures: u64,
        /// The error of the last failure.
        error: String,
    },
}

/// A Choice question that was asked in other orders.
#[derive(Clone, Debug)]
pub struct QuestionInOrders {
    /// The question.
    pub question: QuestionKey,
    /// Number of other orders.
    pub orders: usize,
    sensitivity: OrderSensitivity,
}

impl QuestionInOrders {
    /// How far the answers depend on the order.
    pub fn measures(&self) -> OrderMeasures {
        self.sensitivity.measures()
    }
}

impl OrdersReport {
    /// The Choice questions in the version's order.
    pub fn questions(&self) -> &[QuestionInOrders] {
        &self.questions
    }

    /// Texts that were asked about, once for each order.
    pub fn done(&self) -> u64 {
        self.answered + self.failures()
    }

    /// Texts that were asked about and failed.
    pub fn failures(&self) -> u64 {
        self.failed.values().sum()
    }
}

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
        let model = self.refract.model()?;
        let results: Vec<_> = results.iter().collect();
        Ok(orders.cost(|version| model.estimator(version), &results))
    }

    /// Asks about the text of each result in every order, and compares with the result's answers.
    /// Failed results are passed by. After `stop`, or when the model is away, no further text is
    /// asked about. `progress` is told the report after each text and order.
    ///
    /// # Errors
    /// When there is no model to ask.
    pub async fn ask_in_orders(
        self,
        orders: &OptionOrders,
        results: &[ReadableResult],
        asking: OrdersAsking,
        stop: impl Future<Output = ()>,
        mut progress: impl FnMut(&OrdersReport),
    ) -> Result<OrdersReport, InternalError> {
        let model = self.refract.model()?;
        let threshold = asking
            .gives_up
            .then(|| failure_threshold(asking.concurrency));
        let answered = results.iter().filter_map(|result| {
            let answers = result.view().status.answers()?;
            Some((result.submission(), answers.clone()))
        });
        let mut texts = answered.flat_map(|(submission, answers)| {
            let versions = orders.versions.iter();
            versions.map(move |version| (version, submission, answers.clone()))
        });
        let mut report = orders.report();
        let mut in_flight = FuturesUnordered::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            while report.stop.is_none() && in_flight.len() < asking.concurrency.get() {
                let Some((version, submission, answers)) = texts.next() else {
                    break;
                };
                let asked = model.answer(version, submission);
                in_flight.push(async move { (answers, asked.await.outcome) });
            }
            let ended = tokio::select! {
                biased;
                () = &mut stop, if report.stop.is_none() => {
                    report.stop = Some(OrdersEnd::Asked);
                    // nothing of these requests is saved, so none is waited for
                    return Ok(report);
                }
                ended = in_flight.next() => ended,
            };
            let Some((answers, outcome)) = ended else {
                return Ok(report);
            };
            report.count(&answers, outcome, threshold);
            progress(&report);
        }
    }
}

impl OptionOrders {
    /// At most `most` other orders of each Choice question; fewer where a question has fewer.
    pub fn new(version: &PrismVersion, most: usize) -> Self {
        Self {
            versions: in_other_orders(version, most),
        }
    }

    /// The versions to ask, each with its own order.
    pub(crate) fn versions(&self) -> &[PrismVersion] {
        &self.versions
    }

    /// Number of times that each text is asked about; 0 for a version without Choice questions.
    pub fn len(&self) -> usize {
        self.versions.len()
    }

    /// Whether there is nothing to ask.
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }

    /// Estimated cost of asking about the texts of these results, by an estimator of each order.
    pub(crate) fn cost(
        &self,
        estimator: impl Fn(&PrismVersion) -> Estimator,
        results: &[&ReadableResult],
    ) -> CostEstimate {
        let mut cost = CostEstimate::default();
        for version in &self.versions {
            let estimator = estimator(version);
            for result in results {
                let state_chars = json_chars(&State {
                    prism_context: version.context(),
                    submission: result.submission(),
                });
                let one = estimator.estimate(state_chars);
                cost.requests += one.requests;
                cost.tokens += one.tokens;
            }
        }
        cost
    }

    /// A report of nothing asked.
    fn report(&self) -> OrdersReport {
        // the first order has every question that has any
        let first = self
            .versions
            .first()
            .map_or(&[][..], PrismVersion::questions);
        let questions = first.iter().map(|question| QuestionInOrders {
            question: question.key.clone(),
            orders: self.orders_of(&question.key),
            sensitivity: OrderSensitivity::default(),
        });
        OrdersReport {
            questions: questions.collect(),
            ..OrdersReport::default()
        }
    }

    fn orders_of(&self, question: &QuestionKey) -> usize {
        let versions = self.versions.iter();
        versions
            .filter(|version| version.question(question).is_some())
            .count()
    }
}

impl OrdersReport {
    /// Compares the answers to a text in another order with the saved ones.
    fn count(
        &mut self,
        saved: &Answers,
        outcome: Result<Answers, ModelFailure>,
        threshold: Option<u64>,
    ) {
        let compared = outcome
            .map_err(|failure| failure.to_string())
            .and_then(|answers| self.compare(saved, &answers));
        match compared {
            Ok(()) => {
                self.answered += 1;
                self.failures_in_a_row = 0;
            }
            Err(error) => {
                self.failures_in_a_row += 1;
                if threshold == Some(self.failures_in_a_row) {
                    self.stop = Some(OrdersEnd::ModelAway {
                        failures: self.failures_in_a_row,
                        error: error.clone(),
                    });
                }
                *self.failed.entry(error).or_default() += 1;
            }
        }
    }

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
