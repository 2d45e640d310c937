//! Asks the gateway and the reference the questions of a row, text by text.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::Context as _;
use refract_domain::answer::{Answer, Answers};
use refract_model_gateway::{
    ChatPrompt, ConnectionSettings, Model, ModelGateway, ModelSettings, Protocol,
};

use crate::codes::{QuestionCodes, Spelling};
use crate::cost::CallCost;
use crate::distances::{FidelityRow, TextDistance, total_variation};
use crate::http::PlainAddress;
use crate::material::{Asked, AskedText};
use crate::native::{NativeEndpoints, NextTokens};
use crate::reference::exact_answer;
use crate::relay::{AlternativesLimit, RecordingRelay};

/// Timeout of an attempt: a server without a graphics card reads thousands of tokens slowly.
const TIMEOUT: Duration = Duration::from_mins(5);
/// Questions from which the gateway learns what the server accepts, and how its model answers.
const LEARNING: [Asked; 2] = [Asked::Choice(62), Asked::YesNo];

/// The gateway before a server, with a relay between them.
pub(crate) struct Measurement {
    native: NativeEndpoints,
    relay: RecordingRelay,
    model: Model,
    seed: u64,
}

impl Measurement {
    /// Starts the relay and asks first questions, which do not count: the server refuses some
    /// requests only once, and these are not part of a question's cost.
    pub(crate) async fn start(
        server: PlainAddress,
        limit: Option<AlternativesLimit>,
        prompt: ChatPrompt,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let relay = RecordingRelay::start(server.clone(), limit).await?;
        let settings = ModelSettings {
            endpoint: relay.address.base_url().parse()?,
            protocol: Protocol::Chat,
            name: "default".to_owned(),
            api_key: None,
            connections: ConnectionSettings::default(),
            request_tokens: 52_000,
            request_questions: NonZeroUsize::MAX,
            requests_per_minute: None,
            tokens_per_minute: None,
            timeout: TIMEOUT,
            concurrency: 64,
            prompt,
            follow_ups: 26,
            prices: None,
        };
        let measurement = Self {
            native: NativeEndpoints(server),
            relay,
            model: ModelGateway::new(settings)?.model(),
            seed,
        };
        for learning in LEARNING {
            let asked = learning.about(seed)?;
            let reply = measurement.model.answer(&asked.version, &asked.submission);
            let reply = reply.await;
            let was_asked = !measurement.relay.take_questions().is_empty();
            if let (Err(failure), false) = (reply.outcome, was_asked) {
                return Err(failure).context("the first questions");
            }
        }
        Ok(measurement)
    }

    /// One line that describes the measurement.
    pub(crate) async fn introduction(&self) -> anyhow::Result<String> {
        let model = self.native.model().await?;
        Ok(format!("Model {model}, seed {}", self.seed))
    }

    /// Asks a question about this many texts. The noise of each counts `noise_counts` times.
    pub(crate) async fn row(
        &self,
        asked: Asked,
        texts: u64,
        noise_counts: f64,
    ) -> anyhow::Result<FidelityRow> {
        let mut found = Vec::new();
        for text in 0..texts {
            let asked = asked.about(self.seed.wrapping_mul(1_000).wrapping_add(text))?;
            found.push(self.text(&asked).await?);
        }
        Ok(FidelityRow {
            asked,
            texts: found,
            noise_counts,
        })
    }

    /// The cost of calls about a text of this many tokens.
    pub(crate) fn cost(&self, tokens: usize) -> CallCost<'_> {
        CallCost {
            native: &self.native,
            relay: &self.relay,
            model: &self.model,
            seed: self.seed,
            tokens,
        }
    }

    async fn text(&self, asked: &AskedText) -> anyhow::Result<TextDistance> {
        let reply = self.model.answer(&asked.version, &asked.submission).await;
        let question = self.relay.take_questions().pop();
        let question = question.context("the gateway sent no question to /v1/chat/completions")?;
        let codes = QuestionCodes::of_request(&question.body)
            .context("the gateway's prompt ends with no list of codes")?;
        let prompt = self.native.prompt(&question).await?;
        let next = async |tokens: &[u32]| {
            let tokens = [prompt.as_slice(), tokens].concat();
            self.native.next(&tokens).await
        };
        let exact = exact_answer(&codes, next).await?;
        let noise = self.noise(&codes, &prompt).await?;
        let distance = match (&reply.outcome, &exact) {
            (Err(failure), _) => Err(failure.to_string()),
            (Ok(_), None) => Err("no code has any probability".to_owned()),
            (Ok(answers), Some(exact)) => only_answer(answers)
                .map(|answer| total_variation(&answer, &exact.probabilities))
                .ok_or_else(|| "not one answer to one question".to_owned()),
        };
        let unread = reply.report.parsed.codes.map(|codes| codes.unread);
        Ok(TextDistance {
            distance,
            unread: unread.unwrap_or_default().to_f64(),
            requests: reply.report.requests,
            written: reply.report.output_tokens.unwrap_or_default(),
            noise,
            left_out: exact.map_or(1.0, |exact| exact.left_out),
        })
    }

    /// The distance between two readings of the prompt by the server itself, from its cache and
    /// afresh: over the codes, or their first letters and the digits after the most probable one.
    async fn noise(&self, codes: &QuestionCodes, prompt: &[u32]) -> anyhow::Result<f64> {
        let mut noise = 0.0;
        let mut tokens = prompt.to_vec();
        let mut begun = Vec::new();
        loop {
            let cached = self.native.next(&tokens).await?;
            let fresh = self.native.next_without_cache(&tokens).await?;
            let [cached_shares, fresh_shares] =
                [&cached, &fresh].map(|next| shares(codes, &begun, next));
            noise += distance(&cached_shares, &fresh_shares);
            let mut first_letters =
                cached
                    .tokens
                    .iter()
                    .filter_map(|token| match codes.read(&begun, &token.bytes) {
                        Spelling::Begun(begun) => Some((token.id, begun)),
                        Spelling::Code(_) | Spelling::Lead | Spelling::Other => None,
                    });
            match first_letters.next() {
                Some((id, letter)) if begun.is_empty() && !codes.are_words() => {
                    tokens.push(id);
                    begun = letter;
                }
                Some(_) | None => return Ok(noise),
            }
        }
    }
}

/// The shares of what tokens add to codes that have begun with `begun`.
fn shares(codes: &QuestionCodes, begun: &[u8], next: &NextTokens) -> BTreeMap<Vec<u8>, f64> {
    let mut shares: BTreeMap<Vec<u8>, f64> = BTreeMap::new();
    for token in &next.tokens {
        let spelled = match codes.read(begun, &token.bytes) {
            Spelling::Code(place) => place.to_be_bytes().to_vec(),
            Spelling::Begun(begun) => begun,
            Spelling::Lead | Spelling::Other => continue,
        };
        *shares.entry(spelled).or_default() += token.probability;
    }
    let sum: f64 = shares.values().sum();
    for share in shares.values_mut() {
        *share /= sum;
    }
    shares
}

/// The total variation distance of two distributions over the same things.
fn distance(one: &BTreeMap<Vec<u8>, f64>, other: &BTreeMap<Vec<u8>, f64>) -> f64 {
    let spelled: BTreeSet<&Vec<u8>> = one.keys().chain(other.keys()).collect();
    let of = |shares: &BTreeMap<Vec<u8>, f64>| -> Vec<f64> {
        let shares = spelled.iter().map(|key| shares.get(*key).copied());
        shares.map(Option::unwrap_or_default).collect()
    };
    total_variation(&of(one), &of(other))
}

/// The probabilities of the only answer, in the order of the outcomes; of yes and no for Yes / No.
fn only_answer(answers: &Answers) -> Option<Vec<f64>> {
    let [(_, answer)] = answers.as_slice() else {
        return None;
    };
    Some(match answer {
        Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } => {
            let probabilities = probabilities.iter().map(|(_, p)| p.to_f64());
            probabilities.collect()
        }
        Answer::YesNo { probability } => vec![probability.to_f64(), 1.0 - probability.to_f64()],
    })
}
