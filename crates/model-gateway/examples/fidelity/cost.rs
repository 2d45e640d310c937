//! What a call about a long text costs the server: the tokens that it reads afresh, beside those
//! that it has to, and the time beside other orders of sending.

use std::time::Instant;

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use futures_util::future::try_join_all;
use hyper::Method;
use refract_model_gateway::Model;
use serde_json::Value;

use crate::http::PlainAddress;
use crate::material::{AskedText, long_call, long_choice};
use crate::native::NativeEndpoints;
use crate::relay::{RecordedQuestion, RecordingRelay};

/// Bounds on the tokens read afresh, as multiples of what has to be read: for ten questions, and for
/// a choice of 255 outcomes with its follow-up requests.
const MOST_OF_TEN: f64 = 1.1;
const MOST_OF_255: f64 = 2.0;
/// How many requests go at once, after one that goes alone or from the start.
const ORDERS: [(bool, usize); 5] = [(true, 1), (true, 2), (true, 10), (false, 2), (false, 10)];

/// A server, and the gateway in front of it.
pub(crate) struct CallCost<'a> {
    pub(crate) native: &'a NativeEndpoints,
    pub(crate) relay: &'a RecordingRelay,
    pub(crate) model: &'a Model,
    pub(crate) seed: u64,
    /// Tokens of the text, about.
    pub(crate) tokens: usize,
}

/// What one call made the server do.
struct Spent {
    /// Tokens read afresh.
    read: f64,
    seconds: f64,
}

impl CallCost<'_> {
    /// Prints the cost of ten questions. Returns whether the tokens are within their bound.
    pub(crate) async fn print_call(&self, compares_orders: bool) -> anyhow::Result<bool> {
        let asked = long_call(self.seed, self.tokens)?;
        let (spent, questions) = self.ask(&asked).await?;
        let needed = self.needed(&questions).await?;
        let ratio = spent.read / needed;
        println!("\n10 questions about a text of {} tokens", self.tokens);
        println!("  read afresh {ratio:.2} of what one reading takes (bound {MOST_OF_TEN})");
        if compares_orders {
            self.print_orders(&questions, &spent).await?;
        }
        Ok(ratio <= MOST_OF_TEN)
    }

    /// Prints the cost of a choice of 255 outcomes. Returns whether the tokens are within their bound.
    pub(crate) async fn print_choice(&self) -> anyhow::Result<bool> {
        let asked = long_choice(self.seed, self.tokens)?;
        let (spent, questions) = self.ask(&asked).await?;
        let ratio = spent.read / self.needed(&questions).await?;
        println!("1 choice of 255 outcomes about such a text");
        println!("  read afresh {ratio:.2} of what one reading takes (bound {MOST_OF_255})");
        Ok(ratio <= MOST_OF_255)
    }

    /// Asks the questions by the gateway.
    async fn ask(&self, asked: &AskedText) -> anyhow::Result<(Spent, Vec<RecordedQuestion>)> {
        self.relay.take_questions();
        let before = self.tokens_read().await?;
        let begin = Instant::now();
        let reply = self.model.answer(&asked.version, &asked.submission).await;
        let seconds = begin.elapsed().as_secs_f64();
        reply.outcome.context("the call")?;
        let read = self.tokens_read().await? - before;
        Ok((Spent { read, seconds }, self.relay.take_questions()))
    }

    /// The tokens that a server has to read for these questions: their common beginning once, and
    /// the rest of each.
    async fn needed(&self, questions: &[RecordedQuestion]) -> anyhow::Result<f64> {
        let mut prompts = Vec::new();
        for question in questions {
            prompts.push(self.native.prompt(question).await?);
        }
        let first = prompts.first().context("no question was asked")?;
        let is_shared = |at: &usize| {
            prompts
                .iter()
                .all(|prompt| prompt.get(*at) == first.get(*at))
        };
        let shared = (0..first.len()).take_while(is_shared).count();
        let rests: usize = prompts.iter().map(|prompt| prompt.len() - shared).sum();
        Ok(f64::from(u32::try_from(shared + rests)?))
    }

    /// Sends the same questions about other texts in other orders.
    async fn print_orders(
        &self,
        questions: &[RecordedQuestion],
        by_gateway: &Spent,
    ) -> anyhow::Result<()> {
        let mut best = f64::INFINITY;
        for (number, (first_alone, at_once)) in ORDERS.into_iter().enumerate() {
            let bodies = questions
                .iter()
                .map(|question| about_another_text(question, number));
            let bodies: Vec<Value> = bodies.collect();
            let before = self.tokens_read().await?;
            let begin = Instant::now();
            let alone = usize::from(first_alone);
            let (first, others) = bodies.split_at(alone);
            for wave in first.chunks(1).chain(others.chunks(at_once)) {
                try_join_all(wave.iter().map(|body| self.send(body))).await?;
            }
            let seconds = begin.elapsed().as_secs_f64();
            let read = self.tokens_read().await? - before;
            best = best.min(seconds);
            let beginning = if first_alone { "one, then " } else { "" };
            println!(
                "  {beginning}{at_once} at once: read {:.2} of the gateway's, time {:.2} of the gateway's",
                read / by_gateway.read,
                seconds / by_gateway.seconds
            );
        }
        println!(
            "  the gateway took {:.2} of the best order's time",
            by_gateway.seconds / best
        );
        Ok(())
    }

    async fn send(&self, body: &Value) -> anyhow::Result<()> {
        self.server().post("/v1/chat/completions", body).await?;
        Ok(())
    }

    /// The tokens that the server has read afresh since its start.
    async fn tokens_read(&self) -> anyhow::Result<f64> {
        let (status, body) = self
            .server()
            .send(Method::GET, "/metrics", Bytes::new())
            .await?;
        ensure!(
            status.is_success(),
            "/metrics: status {status}; start the server with --metrics"
        );
        let text = String::from_utf8_lossy(&body);
        let mut lines = text.lines();
        let count = lines.find_map(|line| line.strip_prefix("llamacpp:prompt_tokens_total "));
        let count = count.context("/metrics: no count of prompt tokens")?;
        Ok(count.trim().parse()?)
    }

    fn server(&self) -> &PlainAddress {
        &self.native.0
    }
}

/// The request about a text that the server has not read: it differs from its first word on.
fn about_another_text(question: &RecordedQuestion, number: usize) -> Value {
    let mut body = question.body.clone();
    if let Some(content) = body.pointer_mut("/messages/1/content") {
        let changed = content.as_str().unwrap_or_default();
        let changed = changed.replacen("{\"text\":\"", &format!("{{\"text\":\"{number} "), 1);
        *content = Value::String(changed);
    }
    body
}
