//! A migrated database with an account, a key and a prism, and values for tests to save.

use std::any::Any;
use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::account::ApiKeyHash;
use refract_domain::answer::{Answer, Answers, Probability};
use refract_domain::event::{Actor, EventStamp, LensChangeDetails};
use refract_domain::ids::{AccountId, ApiKeyId, EventId, PersonId, PrismId, ResultId};
use refract_domain::key::{FieldKey, QuestionKey};
use refract_domain::prism::{DisplayName, PrismSelector, PrismVersion, Slug, VersionNumber};
use refract_domain::result::{ResultStatus, SavedResult};
use refract_domain::submission::{FieldValues, IdempotencyKey, Submission};
use refract_persistence::{
    AccountRow, Database, DatabaseSettings, NewApiKey, NewPrism, NewResult, Prism, Provenance,
};
use refract_test_support::postgres;
use tokio::runtime::Handle;
use uuid::Uuid;

pub(crate) struct Fixture {
    pub(crate) database: Database,
    pub(crate) url: String,
    pub(crate) account: AccountId,
    pub(crate) key: NewApiKey,
    pub(crate) prism: Prism,
    /// Keeps the database in existence until it is dropped.
    _keeper: Box<dyn Any + Send + Sync>,
}

impl Fixture {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = sqlite_url(&folder);
        connect(&url).await.migrate().await.unwrap();
        Self::over(url, folder).await
    }

    pub(crate) async fn postgres() -> Self {
        let server = postgres::migrated_database(async |url| {
            connect(url).await.migrate().await.unwrap();
        })
        .await;
        Self::over(server.url().to_owned(), server).await
    }

    async fn over(url: String, keeper: impl Any + Send + Sync) -> Self {
        let database = connect(&url).await;
        let account = account(&database, "tests").await;
        let key = new_key(account, 1);
        let made = new_stamp(account, 0);
        database.create_api_key(&key, made).await.unwrap();
        let prism = prism(&database, account, "Triage").await;
        Self {
            database,
            url,
            account,
            key,
            prism,
            _keeper: Box::new(keeper),
        }
    }

    /// The stamp of a change by an operator in the account, this many milliseconds after a fixed
    /// moment.
    pub(crate) fn stamp(&self, milliseconds: i64) -> EventStamp {
        new_stamp(self.account, milliseconds)
    }

    /// The stamp of a change by a person of the account.
    pub(crate) fn stamp_of(&self, person: PersonId, milliseconds: i64) -> EventStamp {
        EventStamp {
            actor: Actor::Person(person),
            ..self.stamp(milliseconds)
        }
    }

    pub(crate) fn selector(&self) -> PrismSelector {
        PrismSelector::Id(self.prism.id)
    }

    /// A new result of the prism's first version.
    pub(crate) fn result(&self, status: ResultStatus, key: Option<&str>) -> NewResult {
        let result = SavedResult {
            id: ResultId::new(Uuid::now_v7()),
            prism: self.prism.id,
            version: VersionNumber::FIRST,
            reference: None,
            submission: submission("Where is my bicycle?"),
            status,
            took_ms: 12,
            created_at: moment(0),
            idempotency_key: key.map(idempotency_key),
        };
        NewResult {
            account: self.account,
            api_key: Some(self.key.id),
            made_by: None,
            file_run: None,
            retry_of: None,
            result,
            provenance: Provenance::default(),
        }
    }

    /// A retry of a result, which takes over the idempotency key.
    pub(crate) fn retry(&self, failed: &SavedResult, status: ResultStatus) -> NewResult {
        let key = failed.idempotency_key.as_ref().map(IdempotencyKey::as_str);
        NewResult {
            retry_of: Some(failed.id),
            ..self.result(status, key)
        }
    }

    /// Reads a result of the account.
    pub(crate) async fn read(&self, id: ResultId) -> Option<SavedResult> {
        let found = self.database.find_result(self.account, id).await.unwrap();
        found.map(|found| found.result)
    }

    /// Counts the results that the fixture's key made.
    pub(crate) async fn results_made(&self) -> i64 {
        results_made(&self.database, self.account, self.key.id).await
    }
}

/// Counts the results that a key made, of all prisms of its account.
pub(crate) async fn results_made(database: &Database, account: AccountId, key: ApiKeyId) -> i64 {
    let (first, last) = (ResultId::new(Uuid::nil()), ResultId::new(Uuid::max()));
    let mut made = 0;
    for prism in database.list_prisms(account).await.unwrap() {
        let counting = database.count_results_by_key(prism.id, first, last);
        let counts = counting.await.unwrap().into_iter();
        let of_key = counts.filter(|count| count.api_key == Some(key));
        made += of_key.map(|count| count.ok + count.failed).sum::<u64>();
    }
    i64::try_from(made).unwrap()
}

pub(crate) fn sqlite_url(folder: &tempfile::TempDir) -> String {
    format!("sqlite://{}", folder.path().join("refract.db").display())
}

pub(crate) async fn connect(url: &str) -> Database {
    let settings = DatabaseSettings {
        url: url.into(),
        pool: 8,
    };
    Database::connect(&settings, Handle::current())
        .await
        .unwrap()
}

pub(crate) async fn account(database: &Database, name: &str) -> AccountId {
    let id = AccountId::new(Uuid::now_v7());
    let row = AccountRow {
        id,
        name: name.to_owned(),
        created_at: moment(0),
    };
    let made = database.create_account(&row, new_stamp(id, 0));
    made.await.unwrap();
    id
}

/// The slugs to try for a prism of this name, whose words are ASCII.
pub(crate) fn slugs(name: &str) -> impl Iterator<Item = Slug> {
    let words = name.to_ascii_lowercase().replace(' ', "-");
    let words = words.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "");
    let numbered = (2..).map({
        let words = words.clone();
        move |number| format!("{words}-{number}")
    });
    [words].into_iter().chain(numbered).map(Slug::saved)
}

pub(crate) async fn prism(database: &Database, account: AccountId, name: &str) -> Prism {
    let name = DisplayName::parse(name).unwrap();
    let new = NewPrism {
        id: PrismId::new(Uuid::now_v7()),
        name: &name,
        version: &version(&["angry"]),
        stamp: new_stamp(account, 0),
    };
    database
        .create_prism(&new, &mut slugs(name.as_str()))
        .await
        .unwrap()
}

/// A key whose hash is this byte 32 times.
pub(crate) fn new_key(account: AccountId, byte: u8) -> NewApiKey {
    NewApiKey {
        id: ApiKeyId::new(Uuid::now_v7()),
        account,
        name: format!("key {byte}"),
        hash: ApiKeyHash::new([byte; 32]),
        first_characters: "rk_abcd".to_owned(),
        expires_at: None,
        networks: None,
    }
}

/// The stamp of a change by an operator this many milliseconds after a fixed moment.
pub(crate) fn new_stamp(account: AccountId, milliseconds: i64) -> EventStamp {
    EventStamp {
        id: EventId::new(Uuid::now_v7()),
        account,
        at: moment(milliseconds),
        actor: Actor::Operator,
        request: None,
        note: None,
    }
}

/// Details of a change of a lens that a test does not look at.
pub(crate) fn lens_details() -> LensChangeDetails {
    LensChangeDetails::between(0, &[], &[])
}

/// A version with the field `text` and a Yes / No question for each key.
pub(crate) fn version(questions: &[&str]) -> PrismVersion {
    let question = |key: &&str| serde_json::json!({"key": key, "type": "yes_no", "text": "Is it?"});
    let questions: Vec<_> = questions.iter().map(question).collect();
    let fields = serde_json::json!([{"key": "text", "label": "Message"}]);
    let json = serde_json::json!({"fields": fields, "context": null, "questions": questions});
    serde_json::from_value(json).unwrap()
}

pub(crate) fn submission(text: &str) -> Submission {
    let field = (FieldKey::parse("text").unwrap(), text.to_owned());
    Submission::saved(FieldValues::new(vec![field]), None)
}

pub(crate) fn answered() -> ResultStatus {
    let answer = Answer::YesNo {
        probability: Probability::from_f64(0.25).unwrap(),
    };
    ResultStatus::Ok(Answers::new(vec![(
        QuestionKey::parse("angry").unwrap(),
        answer,
    )]))
}

pub(crate) fn failed() -> ResultStatus {
    ResultStatus::Failed {
        error: "The model timed out.".to_owned(),
    }
}

pub(crate) fn idempotency_key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

/// The moment this many milliseconds after a fixed one.
pub(crate) fn moment(milliseconds: i64) -> DateTime<Utc> {
    let origin = DateTime::from_timestamp_millis(1_767_225_600_123).unwrap();
    origin + TimeDelta::milliseconds(milliseconds)
}

/// The `up.sql` or `down.sql` of every migration, oldest first.
pub(crate) fn scripts(database: &str, name: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../migrations")
        .join(database);
    let mut migrations: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    migrations.sort_unstable();
    migrations
        .iter()
        .map(|folder| fs::read_to_string(folder.join(name)).unwrap())
        .collect()
}
