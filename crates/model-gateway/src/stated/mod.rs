//! The protocol `stated`: a chat model without log-probabilities states its probabilities itself.
//!
//! Several questions share a request, whose answer is bound to a schema. What the model states is
//! its opinion of its own certainty: proper distributions, but coarser than log-probabilities.

mod reading;
pub(crate) mod request;

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures_util::future::try_join_all;
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use self::request::Request;
use crate::attempts::Requests;
use crate::chat::completion;
use crate::failure::ModelFailure;
use crate::meter::Meter;

/// A server that speaks chat completions with schemas.
#[derive(Debug)]
pub(crate) struct Stated {
    /// Sent as `model`.
    model: String,
    /// It was refused once; remembered until the process ends.
    refuses_temperature: AtomicBool,
}

impl Stated {
    pub(crate) fn new(model: String) -> Self {
        Self {
            model,
            refuses_temperature: AtomicBool::new(false),
        }
    }

    /// Asks all questions. The first request that fails fails the call; the others are dropped.
    pub(crate) async fn ask(
        &self,
        requests: &Requests,
        version: &PrismVersion,
        submission: &Submission,
        meter: &Meter,
    ) -> Result<Answers, ModelFailure> {
        let parts = request::split(&self.model, version, submission);
        let pending = parts
            .into_iter()
            .map(|part| self.ask_part(requests, part, meter));
        let answers = try_join_all(pending).await?;
        Ok(Answers::new(answers.into_iter().flatten().collect()))
    }

    async fn ask_part(
        &self,
        requests: &Requests,
        part: Request<'_>,
        meter: &Meter,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelFailure> {
        let body = self.post(requests, &part, meter).await?;
        let completion = completion::read(&body)?;
        meter.told(&completion.told);
        let content = completion.content.unwrap_or_default();
        let (answers, seen) = reading::read(&content, part.questions)?;
        meter.saw(seen);
        Ok(answers)
    }

    /// Posts a request; once more without a temperature where the model takes none.
    async fn post(
        &self,
        requests: &Requests,
        part: &Request<'_>,
        meter: &Meter,
    ) -> Result<Bytes, ModelFailure> {
        let mut left = requests.time();
        let has_temperature = !self.refuses_temperature.load(Ordering::Relaxed);
        let body = part.body(has_temperature);
        match requests.post(body, meter, &mut left).await {
            Err(ModelFailure::ParameterRefused {
                parameter: "temperature",
                ..
            }) if has_temperature => {
                self.refuses_temperature.store(true, Ordering::Relaxed);
                let body = part.body(false);
                requests.post(body, meter, &mut left).await
            }
            answered => answered,
        }
    }
}
