//! The protocol `systemone`: typed questions in, probabilities out, all questions in one request.
//!
//! Source: the System One format of decision models. [`request`] writes it, [`reading`]
//! reads it; neither knows of connections.

mod reading;
pub(crate) mod request;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use self::request::Request;
use crate::attempts::Requests;
use crate::failure::ModelFailure;
use crate::meter::Meter;

/// A server that speaks System One.
#[derive(Debug)]
pub(crate) struct SystemOne {
    /// Sent as `model`.
    pub(crate) model: String,
    /// Estimated tokens above which a request is split.
    pub(crate) request_tokens: usize,
}

impl SystemOne {
    /// Asks all questions. The first request that fails fails the call; the others are dropped.
    pub(crate) async fn ask(
        &self,
        requests: &Requests,
        version: &PrismVersion,
        submission: &Submission,
        meter: &Meter,
    ) -> Result<Answers, ModelFailure> {
        let parts = request::split(&self.model, version, submission, self.request_tokens);
        let mut answers = Vec::with_capacity(version.questions().len());
        let mut pending: FuturesUnordered<_> = parts
            .into_iter()
            .map(|part| self.ask_part(requests, part, meter))
            .collect();
        while let Some(part) = pending.next().await {
            answers.push(part?);
        }
        answers.sort_unstable_by_key(|(first, _)| *first);
        Ok(Answers::new(
            answers
                .into_iter()
                .flat_map(|(_, answers)| answers)
                .collect(),
        ))
    }

    /// The index of the part's first question, and the answers.
    async fn ask_part(
        &self,
        requests: &Requests,
        part: Request<'_>,
        meter: &Meter,
    ) -> Result<(usize, Vec<(QuestionKey, Answer)>), ModelFailure> {
        let body = requests
            .post(part.body, meter, &mut requests.time())
            .await?;
        let reply = reading::read(&body)?;
        meter.told(&reply.told);
        let (answers, seen) = reply.answers_to(part.questions)?;
        meter.saw(seen);
        Ok((part.first_question, answers))
    }
}
