//! The protocol `stated`: a chat model without log-probabilities states its probabilities itself.
//!
//! Several questions share a request, whose answer is bound to a schema. What the model states is
//! its opinion of its own certainty: proper distributions, but coarser than log-probabilities.

mod reading;
pub(crate) mod request;

use awc::http::Uri;
use futures_util::future::try_join_all;
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::Definition;
use refract_domain::submission::Submission;

use self::request::Request;
use crate::attempts::Requests;
use crate::chat::completion;
use crate::failure::ModelFailure;
use crate::meter::Meter;

/// A server that speaks chat completions with schemas.
#[derive(Debug)]
pub(crate) struct Stated {
    /// The whole address, ending in `/chat/completions`.
    pub(crate) uri: Uri,
    /// Sent as `model`.
    pub(crate) model: String,
}

impl Stated {
    /// Asks all questions. The first request that fails fails the call; the others are dropped.
    pub(crate) async fn ask(
        &self,
        requests: &Requests,
        definition: &Definition,
        submission: &Submission,
        meter: &Meter,
    ) -> Result<Answers, ModelFailure> {
        let parts = request::split(&self.model, definition, submission);
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
        let body = requests.post(&self.uri, part.body, meter).await?;
        let completion = completion::read(&body)?;
        let content = completion.content.unwrap_or_default();
        let answers = reading::read(&content, part.questions)?;
        meter.told(&completion.told);
        Ok(answers)
    }
}
