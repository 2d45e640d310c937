//! A prism of a person, use cases with a model, and results to save.

use std::num::NonZeroUsize;
use std::ops::Deref;
use std::time::Duration;

use refract_domain::answer::{Answer, Answers, Probability};
use refract_domain::ids::{PersonId, PrismId, ResultId};
use refract_domain::key::{FieldKey, OutcomeKey};
use refract_domain::prism::{PrismSelector, PrismVersion, Question, VersionNumber};
use refract_domain::result::{ResultStatus, SavedResult};
use refract_domain::submission::{FieldValues, Submission};
use refract_identity::people::AccountActor;
use refract_model_gateway::{
    ChatPrompt, ConnectionSettings, ModelGateway, ModelSettings, Protocol,
};
use refract_persistence::{NewResult, Provenance};
use refract_service::Refract;
use refract_service::lenses::PrismLens;
use refract_service::results::ReadableResult;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::fixture::Fixture;

/// A database with a person and a prism.
pub(crate) struct DraftFixture {
    base: Fixture,
    /// The person whose calls the tests make.
    pub(crate) actor: AccountActor,
    pub(crate) prism: PrismSelector,
    prism_id: PrismId,
}

impl Deref for DraftFixture {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.base
    }
}

/// The file of the prism's first version.
pub(crate) fn file() -> Value {
    json!({
        "name": "Triage",
        "fields": [{ "key": "text", "label": "Message" }],
        "questions": [
            { "key": "topic", "type": "choice", "text": "What about?", "options": [
                { "key": "billing", "label": "Billing" }, { "key": "delivery", "label": "Delivery" },
                { "key": "parts", "label": "Parts" }] },
            { "key": "angry", "type": "yes_no", "text": "Angry?" },
            { "key": "rude", "type": "yes_no", "text": "Rude?" },
        ],
    })
}

impl DraftFixture {
    /// Adds a person and the prism to a database with an account.
    pub(crate) async fn of(base: Fixture) -> Self {
        let actor = AccountActor::person(base.account, PersonId::new(Uuid::now_v7()));
        let file = file().to_string();
        let prisms = base.refract.prisms();
        let prism = prisms.create(&actor, file.as_bytes()).await.unwrap();
        Self {
            base,
            actor,
            prism: PrismSelector::Id(prism.id),
            prism_id: prism.id,
        }
    }

    /// The use cases with the built-in scorer.
    pub(crate) fn asking(&self) -> Refract {
        self.asking_by("builtin:lexical")
    }

    /// The use cases with the model at this address.
    pub(crate) fn asking_by(&self, endpoint: &str) -> Refract {
        let gateway = ModelGateway::new(ModelSettings {
            endpoint: endpoint.parse().unwrap(),
            protocol: Protocol::SystemOne,
            name: "default".to_owned(),
            api_key: None,
            connections: ConnectionSettings::default(),
            request_tokens: 52_000,
            request_questions: NonZeroUsize::new(100).unwrap(),
            requests_per_minute: None,
            tokens_per_minute: None,
            timeout: Duration::from_secs(30),
            concurrency: 64,
            prompt: ChatPrompt::default(),
            follow_ups: 26,
            prices: None,
        });
        self.refract.clone().with_model(gateway.unwrap().model())
    }

    pub(crate) async fn lens(&self) -> PrismLens {
        let found = self
            .refract
            .lenses()
            .find(self.actor.account(), &self.prism)
            .await;
        found.unwrap()
    }

    /// Saves a file as the prism's next version.
    pub(crate) async fn save_version(&self, file: &Value) -> VersionNumber {
        let bytes = file.to_string();
        let saved =
            self.refract
                .prisms()
                .save_version(&self.actor, &self.prism, bytes.as_bytes(), None);
        saved.await.unwrap().1
    }

    /// Saves columns as the prism's lens.
    pub(crate) async fn set_lens(&self, columns: &Value) {
        let bytes = json!({ "columns": columns }).to_string();
        let set = self
            .refract
            .lenses()
            .set(&self.actor, &self.prism, bytes.as_bytes(), None);
        set.await.unwrap();
    }

    /// Saves a result of a version as if the model had answered, and reads it.
    pub(crate) async fn save(
        &self,
        version: VersionNumber,
        text: &str,
        status: ResultStatus,
    ) -> ReadableResult {
        let id = self.insert(version, text, status).await;
        let found = self.refract.results().find(self.actor.account(), id).await;
        found.unwrap()
    }

    /// Saves a result of a version.
    pub(crate) async fn insert(
        &self,
        version: VersionNumber,
        text: &str,
        status: ResultStatus,
    ) -> ResultId {
        let result = SavedResult {
            id: ResultId::new(Uuid::now_v7()),
            prism: self.prism_id,
            version,
            reference: None,
            submission: Submission::saved(
                FieldValues::new(vec![(key("text"), text.to_owned())]),
                None,
            ),
            status,
            took_ms: 1,
            created_at: chrono::Utc::now(),
            idempotency_key: None,
        };
        let id = result.id;
        let new = NewResult {
            account: self.actor.account(),
            api_key: None,
            made_by: self.actor.person_id(),
            file_run: None,
            retry_of: None,
            result,
            provenance: Provenance::default(),
        };
        self.database.save_result(&new).await.unwrap();
        id
    }

    /// Number of saved results of the prism.
    pub(crate) async fn count(&self) -> u64 {
        let all = refract_persistence::ResultFilter::default();
        let account = self.actor.account();
        let counted = self.database.count_results(account, self.prism_id, all);
        counted.await.unwrap()
    }
}

pub(crate) fn key(text: &str) -> FieldKey {
    FieldKey::parse(text).unwrap()
}

/// Answers to all questions of a version: a choice names its first option, and a Yes / No has this
/// probability in millionths.
pub(crate) fn answers(version: &PrismVersion, millionths: u32) -> ResultStatus {
    let share = |millionths| Probability::from_millionths(millionths).unwrap();
    let answer = |question: &Question| {
        let mut outcomes = question.own_outcomes().iter();
        let answer = match outcomes.next() {
            None => Answer::YesNo {
                probability: share(millionths),
            },
            Some(first) => {
                let rest = question.outcomes().skip(1);
                let rest = rest
                    .map(|outcome| (OutcomeKey::parse(outcome.key).unwrap(), Probability::ZERO));
                let all = std::iter::once((first.key.clone(), Probability::CERTAIN)).chain(rest);
                Answer::Choice {
                    value: Some(first.key.clone()),
                    probabilities: all.collect(),
                    confidence: share(900_000),
                }
            }
        };
        (question.key.clone(), answer)
    };
    ResultStatus::Ok(Answers::new(
        version.questions().iter().map(answer).collect(),
    ))
}

pub(crate) fn failed() -> ResultStatus {
    ResultStatus::Failed {
        error: "The model timed out.".to_owned(),
    }
}
