//! The effect of other option orders: asks the model again, and prints the differences.

use std::fmt::Write as _;

use indicatif::HumanCount;
use refract_domain::key::QuestionKey;
use refract_evaluation::answer_sensitivity::SensitivityMeasures;
use refract_evaluation::measures::figures::{number, range};
use refract_service::measures::{OptionOrders, OrdersReport, QuestionInOrders};
use refract_service::model::{CostEstimate, TokenPrice};
use refract_service::results::ReadableResult;
use refract_service::runs::AskingPace;
use serde::Serialize;

use super::super::file_run::{AskedPrism, report};
use super::super::signals::StopSignals;
use crate::output;
use crate::terminal::{Palette, Progress, counted, widened};

/// The settings of the order check.
#[derive(Clone, Copy)]
pub(super) struct OrdersQuestion {
    /// The most other orders of a question.
    pub(super) most: usize,
    pub(super) gives_up: bool,
}

#[derive(Serialize)]
struct OrdersJson<'a> {
    question: &'a QuestionKey,
    orders: usize,
    comparisons: u64,
    flip_rate: Option<f64>,
    flip_rate_low: Option<f64>,
    flip_rate_high: Option<f64>,
    total_variation: Option<f64>,
    largest_total_variation: Option<f64>,
}

/// Asks about the results' texts again with the options in other orders; `None` if no question has
/// another order.
pub(super) async fn ask(
    question: OrdersQuestion,
    asked: &AskedPrism,
    results: &[ReadableResult],
    mut signals: StopSignals,
) -> anyhow::Result<Option<OrdersReport>> {
    let orders = OptionOrders::new(asked.prism.version(), question.most);
    if orders.is_empty() {
        output::say("--orders: the prism has no Choice question, so there is no order to change");
        return Ok(None);
    }
    let cost = asked.refract.measures().cost_in_orders(&orders, results)?;
    let price = asked.refract.token_price();
    output::say(&announced(&orders, cost, results, price));
    let pace = AskingPace {
        concurrency: asked.concurrency,
        gives_up: question.gives_up,
    };
    let total = orders.len().saturating_mul(results.len());
    let progress = Progress::begin("texts in other orders", u64::try_from(total).ok());
    let show = |report: &OrdersReport| {
        let failures = report.asked.failures();
        let words = match failures {
            0 => String::new(),
            _ => format!(", {} failed", HumanCount(failures)),
        };
        progress.show(report.asked.answered + failures, &words);
    };
    let measures = asked.refract.measures();
    let asking = measures.ask_in_orders(&orders, results, pace, signals.next(), show);
    let ended = asking.await;
    progress.end();
    let ended = ended?;
    for (error, failures) in &ended.asked.failed {
        output::say(&format!(
            "other orders: {} × {error}",
            HumanCount(*failures)
        ));
    }
    Ok(Some(ended))
}

fn announced(
    orders: &OptionOrders,
    cost: CostEstimate,
    results: &[ReadableResult],
    price: TokenPrice,
) -> String {
    format!(
        "asking about {} again with the options in {}{}; nothing of it is saved",
        report::rows(widened(results.len())),
        counted(widened(orders.len()), "other order"),
        report::cost(widened(cost.tokens), widened(cost.requests), price)
    )
}

/// A line for each question.
pub(super) fn render(report: &OrdersReport) -> String {
    let palette = Palette::of_stdout();
    let questions = &report.questions;
    let keys = questions.iter().map(|q| q.question.as_str().len());
    let width = keys.max().unwrap_or(0).max(8);
    let title = palette.heading.apply_to("Options in other orders");
    let header = format!(
        "{:width$}  {:>6}  {:>8}  {:22}  PROBABILITIES MOVE",
        "QUESTION", "ORDERS", "COMPARED", "ANSWER FLIPS"
    );
    let mut words = format!("{title}\n{}\n", palette.faint.apply_to(header));
    for asked in questions {
        let SensitivityMeasures {
            comparisons,
            flip_rate,
            mean_total_variation,
            largest_total_variation,
        } = asked.measures();
        let _ = writeln!(
            words,
            "{:width$}  {:>6}  {:>8}  {:22}  {} on average, {} at most",
            asked.question.as_str(),
            asked.orders,
            HumanCount(comparisons).to_string(),
            range(flip_rate.value(), flip_rate.interval()),
            number(mean_total_variation),
            number(largest_total_variation),
        );
    }
    words
}

/// Prints a JSON line for each question.
pub(super) fn print_json(report: &OrdersReport) -> anyhow::Result<()> {
    let line = |asked: &QuestionInOrders| {
        let measures = asked.measures();
        let interval = measures.flip_rate.interval();
        output::json(&OrdersJson {
            question: &asked.question,
            orders: asked.orders,
            comparisons: measures.comparisons,
            flip_rate: measures.flip_rate.value(),
            flip_rate_low: interval.map(|interval| interval.low),
            flip_rate_high: interval.map(|interval| interval.high),
            total_variation: measures.mean_total_variation,
            largest_total_variation: measures.largest_total_variation,
        })
    };
    report.questions.iter().try_for_each(line)
}
