//! A migrated database, and results of an account whose every property a test chooses.

use std::any::Any;

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::answer::{Answer, Answers, Probability};
use refract_domain::event::Actor;
use refract_domain::ids::{AccountId, ApiKeyId, PersonId, PrismId, ResultId};
use refract_domain::key::{FieldKey, OutcomeKey, QuestionKey};
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_domain::result::{ResultActor, ResultStatus, SavedResult};
use refract_domain::submission::{FieldValues, Ref, Submission};
use refract_identity::events::event_stamp;
use refract_identity::people::AccountActor;
use refract_persistence::{AccountRow, Database, DatabaseSettings, NewResult, Provenance};
use refract_service::Refract;
use refract_service::lenses::PrismLens;
use refract_test_support::backend::Backend;
use refract_test_support::postgres::{self, TestDatabase};
use tokio::runtime::Handle;
use uuid::{Builder, Uuid};

pub(crate) struct Fixture {
    pub(crate) database: Database,
    /// The use cases over the database, without a model.
    pub(crate) refract: Refract,
    pub(crate) url: String,
    pub(crate) account: AccountId,
    /// Keeps the database in existence until it is dropped.
    keeper: Box<dyn Any + Send + Sync>,
}

/// A result, as a test describes it.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    /// When it was made, in milliseconds after [`moment`] of zero.
    pub(crate) at: i64,
    /// 1 or 2.
    pub(crate) version: i32,
    /// The key of the topic that the model named, and the probability in percent that the writer is
    /// angry; `None` for a failed result.
    pub(crate) answers: Option<(&'static str, u32)>,
    pub(crate) reference: Option<&'static str>,
    pub(crate) actor: ResultActor,
    /// Whether another result retries it, when it failed.
    pub(crate) is_retried: bool,
}

impl Described {
    pub(crate) fn text(&self) -> String {
        format!("Hm {}? Größe \"50 %\"", self.at)
    }

    /// The outcome of `angry` that a test may mark: every other answered result has one.
    pub(crate) fn marked(&self) -> Option<&'static str> {
        let outcome = match self.at % 4 {
            0 => "yes",
            2 => "no",
            _ => return None,
        };
        self.answers.map(|_| outcome)
    }
}

impl Fixture {
    pub(crate) async fn on(backend: Backend) -> Self {
        match backend {
            Backend::Sqlite => {
                let folder = tempfile::tempdir().unwrap();
                let url = format!("sqlite://{}", folder.path().join("refract.db").display());
                Self::over(url, folder).await
            }
            Backend::Postgres => {
                let server = postgres_database().await;
                Self::over(server.url().to_owned(), server).await
            }
        }
    }

    /// On PostgreSQL, whose clock [`set_clock`](Self::set_clock) sets.
    pub(crate) async fn with_own_clock() -> Self {
        let server = postgres_database().await;
        // of two functions with one name, the first on the path is called
        let own_first = "DO $$ BEGIN EXECUTE format(
            'ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()
        ); END $$";
        server.execute(own_first).await;
        Self::over(server.url().to_owned(), server).await
    }

    /// Sets the clock of the database to this many seconds after that of the node.
    pub(crate) async fn set_clock(&self, seconds: i64) {
        let server: &TestDatabase = self.keeper.downcast_ref().unwrap();
        let clock = format!(
            "CREATE OR REPLACE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql
            AS $$ SELECT pg_catalog.clock_timestamp() + INTERVAL '{seconds} s' $$"
        );
        server.execute(&clock).await;
    }

    async fn over(url: String, keeper: impl Any + Send + Sync) -> Self {
        let database = connect(&url).await;
        database.migrate().await.unwrap();
        Self {
            account: account(&database).await,
            refract: Refract::new(database.clone()),
            database,
            url,
            keeper: Box::new(keeper),
        }
    }

    /// A prism of the account with two versions. Both ask for the topic, `billing` or another one
    /// that only this version has, and whether the writer is angry.
    pub(crate) async fn prism(&self, account: AccountId) -> PrismLens {
        let actor = AccountActor::operator(account);
        let file = |option: &str| {
            let prism = serde_json::json!({
                "name": "Triage",
                "fields": [{ "key": "text", "label": "Message" }],
                "questions": [
                    { "key": "topic", "type": "choice", "text": "What is it about?",
                      "options": [{ "label": "Billing" }, { "label": option }] },
                    { "key": "angry", "type": "yes_no", "text": "Is the writer angry?" },
                ],
            });
            serde_json::to_vec(&prism).unwrap()
        };
        let created = self
            .refract
            .prisms()
            .create(&actor, &file("Delivery"))
            .await;
        let selector = PrismSelector::Id(created.unwrap().id);
        self.refract
            .prisms()
            .save_version(&actor, &selector, &file("Returns"), None)
            .await
            .unwrap();
        self.refract
            .lenses()
            .find(account, &selector)
            .await
            .unwrap()
    }

    /// Saves a result and, if it is retried, its retry.
    pub(crate) async fn save(&self, prism: &PrismLens, described: &Described) -> ResultId {
        let new = new_result(prism, described);
        let id = new.result.id;
        self.database.save_result(&new).await.unwrap();
        id
    }

    /// Saves a retry of a failed result, made and failed in the same way a moment later.
    pub(crate) async fn save_retry(
        &self,
        prism: &PrismLens,
        of: ResultId,
        retry: &Described,
    ) -> ResultId {
        let new = NewResult {
            retry_of: Some(of),
            ..new_result(prism, retry)
        };
        self.database.save_result(&new).await.unwrap();
        new.result.id
    }
}

/// A migrated database.
async fn postgres_database() -> TestDatabase {
    let migrating = postgres::migrated_database(async |url| {
        connect(url).await.migrate().await.unwrap();
    });
    migrating.await
}

pub(crate) async fn connect(url: &str) -> Database {
    let settings = DatabaseSettings {
        url: url.into(),
        pool: 8,
    };
    let connecting = Database::connect(&settings, Handle::current());
    connecting.await.unwrap()
}

/// A new account.
pub(crate) async fn account(database: &Database) -> AccountId {
    let id = AccountId::new(Uuid::now_v7());
    let row = AccountRow {
        id,
        name: id.to_string(),
        created_at: moment(0),
    };
    let made = event_stamp(id, Actor::Operator, None);
    database.create_account(&row, made).await.unwrap();
    id
}

/// The moment this many milliseconds after noon of a fixed day.
pub(crate) fn moment(milliseconds: i64) -> DateTime<Utc> {
    let noon: DateTime<Utc> = "2026-03-04T12:00:00Z".parse().unwrap();
    noon + TimeDelta::milliseconds(milliseconds)
}

/// The key with this number.
pub(crate) fn key(number: u128) -> ResultActor {
    ResultActor::Key(ApiKeyId::new(Uuid::from_u128(number)))
}

pub(crate) fn person(number: u128) -> ResultActor {
    ResultActor::Person(PersonId::new(Uuid::from_u128(number)))
}

pub(crate) fn new_result(prism: &PrismLens, described: &Described) -> NewResult {
    let made_at = moment(described.at);
    let result = SavedResult {
        id: new_id(made_at),
        prism: prism.prism.id,
        version: VersionNumber::new(described.version).unwrap(),
        reference: described.reference.map(|it| Ref::saved(it.to_owned())),
        submission: Submission::saved(
            FieldValues::new(vec![(FieldKey::parse("text").unwrap(), described.text())]),
            None,
        ),
        status: status(described.answers),
        took_ms: 1,
        created_at: made_at,
        idempotency_key: None,
    };
    let (api_key, made_by) = match described.actor {
        ResultActor::Key(key) => (Some(key), None),
        ResultActor::Person(person) => (None, Some(person)),
        ResultActor::Operator => (None, None),
    };
    NewResult {
        account: prism.prism.account,
        api_key,
        made_by,
        file_run: None,
        retry_of: None,
        result,
        provenance: Provenance::default(),
    }
}

/// A new id of a moment.
fn new_id(moment: DateTime<Utc>) -> ResultId {
    let milliseconds = u64::try_from(moment.timestamp_millis()).unwrap();
    let random = Uuid::now_v7().into_bytes()[6..].try_into().unwrap();
    ResultId::new(Builder::from_unix_timestamp_millis(milliseconds, &random).into_uuid())
}

fn status(answers: Option<(&str, u32)>) -> ResultStatus {
    let Some((topic, angry)) = answers else {
        return ResultStatus::Failed {
            error: "The model timed out.".to_owned(),
        };
    };
    let certain = Probability::from_f64(1.0).unwrap();
    let topic = OutcomeKey::parse(topic).unwrap();
    ResultStatus::Ok(Answers::new(vec![
        (
            QuestionKey::parse("topic").unwrap(),
            Answer::Choice {
                value: Some(topic.clone()),
                probabilities: vec![(topic, certain)],
                confidence: certain,
            },
        ),
        (
            QuestionKey::parse("angry").unwrap(),
            Answer::YesNo {
                probability: Probability::from_millionths(angry * 10_000).unwrap(),
            },
        ),
    ]))
}

/// The results of a prism.
pub(crate) struct Saved {
    pub(crate) lens: PrismLens,
    /// In the order of their ids.
    pub(crate) results: Vec<(ResultId, Described)>,
}

impl Saved {
    pub(crate) fn prism(&self) -> PrismId {
        self.lens.prism.id
    }
}

/// Saves described results of a new prism of an account, with their retries.
pub(crate) async fn save_all(it: &Fixture, account: AccountId, described: &[Described]) -> Saved {
    let mut saved = Saved {
        lens: it.prism(account).await,
        results: Vec::new(),
    };
    save_more(it, &mut saved, described).await;
    saved
}

/// Saves further results of a prism.
pub(crate) async fn save_more(it: &Fixture, saved: &mut Saved, described: &[Described]) {
    for result in described {
        let id = it.save(&saved.lens, result).await;
        saved.results.push((id, result.clone()));
        if result.answers.is_none() && result.is_retried {
            let retry = Described {
                at: result.at + 1,
                is_retried: false,
                ..result.clone()
            };
            let id = it.save_retry(&saved.lens, id, &retry).await;
            saved.results.push((id, retry));
        }
    }
    saved.results.sort_by_key(|(id, _)| *id);
}
