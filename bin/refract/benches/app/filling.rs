//! Databases with few or many results, saved the way the service saves them.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::Instant;

use chrono::{TimeDelta, Utc};
use refract_domain::account::{Email, PersonName, Role};
use refract_domain::event::Actor;
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::prism::PrismSelector;
use refract_identity::events::event_stamp;
use refract_identity::keys::KeyLimits;
use refract_identity::people;
use refract_identity::people::{AccountActor, Token, TypedPassword};
use refract_persistence::{AccountRow, DEFAULT_ACCOUNT, Database, DatabaseSettings, SaveOutcome};
use refract_service::Refract;
use tokio::runtime::Handle;
use tokio::task::LocalSet;
use uuid::Uuid;

use crate::made_results::{ResultMaking, before_last_hour};

/// The prism of the results. Its slug is derived from its name.
const PRISM: &str = include_str!("../../../../docs/examples/support-triage.json");
/// The number of saves in flight.
const AT_ONCE: u32 = 512;
/// The days over which the results are spread, up to now.
const DAYS: i64 = 30;

/// A database with results and a signed-in owner.
pub(crate) struct FilledDatabase {
    pub(crate) url: String,
    pub(crate) refract: Refract,
    pub(crate) account: AccountId,
    /// The cookie's token.
    pub(crate) token: Token,
    /// Number of results, without retries.
    pub(crate) results: u32,
    pub(crate) making: ResultMaking,
}

impl FilledDatabase {
    /// Fills an empty database. Must be called on the thread that uses it afterwards.
    pub(crate) async fn fill(url: String, results: u32) -> Self {
        let settings = DatabaseSettings {
            url: url.as_str().into(),
            pool: 16,
        };
        let database = Database::connect(&settings, Handle::current()).await;
        let database = database.unwrap();
        database.migrate().await.unwrap();
        // group commit, as a serving thread has
        let database = database.for_this_thread(NonZeroUsize::MIN);
        let account = AccountRow {
            id: AccountId::new(Uuid::now_v7()),
            name: DEFAULT_ACCOUNT.to_owned(),
            created_at: Utc::now(),
        };
        let made = event_stamp(account.id, Actor::Operator, None);
        database.create_account(&account, made).await.unwrap();
        let refract = Refract::new(database.clone());
        let (making, token) = people_and_prisms(&refract, account.id, results).await;
        let began = Instant::now();
        save_all(&database, &making).await;
        let seconds = began.elapsed().as_secs_f64();
        println!("Saved {results} results in {seconds:.0} s.");
        // as a node does in the background
        let counting = refract.results().count_now(account.id, Utc::now());
        counting.await.unwrap();
        Self {
            url,
            refract,
            account: account.id,
            token,
            results,
            making,
        }
    }

    /// The id of the middle result.
    pub(crate) fn middle(&self) -> ResultId {
        self.making.id(self.results / 2)
    }
}

/// Creates an owner, two keys, and two prisms with three versions each.
async fn people_and_prisms(
    refract: &Refract,
    account: AccountId,
    results: u32,
) -> (ResultMaking, Token) {
    let operator = &AccountActor::operator(account);
    let email = Email::parse("ada@example.com").unwrap();
    let invitation = refract.people().invite(operator, &email, Role::Owner).await;
    let invitation = invitation.unwrap();
    let name = PersonName::parse("Ada").unwrap();
    let password = TypedPassword::new("zy!3kQ9 dab.x");
    let client = people::SignInClient::default();
    let token = &invitation.token;
    let session = refract
        .people()
        .accept(&client, token, &name, password, None)
        .await;
    let mut keys = Vec::new();
    for name in ["the shop", "the archive"] {
        let (key, _) = refract
            .keys()
            .create(operator, name.to_owned(), KeyLimits::default())
            .await
            .unwrap();
        keys.push(key);
    }
    let mut made = Vec::new();
    for _ in 0..2 {
        let prism = refract.prisms().create(operator, PRISM.as_bytes()).await;
        let prism = prism.unwrap();
        let selector = PrismSelector::Id(prism.id);
        for context in ["We sell bicycles.", "We sell bicycles and repair them."] {
            let file = PRISM.replace("We sell bicycles online.", context);
            refract
                .prisms()
                .save_version(operator, &selector, file.as_bytes(), None)
                .await
                .unwrap();
        }
        made.push(prism.id);
    }
    let all = TimeDelta::days(DAYS);
    let end = Utc::now();
    let before_last_hour = i32::try_from(before_last_hour(results)).unwrap();
    let making = ResultMaking {
        account,
        prisms: made.try_into().unwrap(),
        keys: keys.try_into().unwrap(),
        person: invitation.person,
        results,
        begin: end - TimeDelta::hours(1) - all,
        apart: all / before_last_hour,
        end,
    };
    (making, session.unwrap().token)
}

/// Saves every result and its retry, many concurrently and roughly in order.
async fn save_all(database: &Database, making: &ResultMaking) {
    let next = Rc::new(Cell::new(0));
    let saving = LocalSet::new();
    for _ in 0..AT_ONCE.min(making.results) {
        let (database, making, next) = (database.clone(), making.clone(), Rc::clone(&next));
        saving.spawn_local(async move {
            while next.get() < making.results {
                let made = making.result(next.replace(next.get() + 1));
                for new in [Some(made.first), made.retry].into_iter().flatten() {
                    let saved = database.save_result(&new).await.unwrap();
                    assert_eq!(saved, SaveOutcome::Saved);
                }
            }
        });
    }
    saving.await;
}
