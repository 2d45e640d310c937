//! The side of the use cases, over a database that is filled with results.

use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context as _;
use refract_domain::ids::ResultId;
use refract_domain::prism::PrismSelector;
use refract_domain::submission::{IdempotencyKey, SentFields};
use refract_identity::keys::{ApiKey, CallKeyId, KeyLimits, PresentedKey};
use refract_identity::people::{AccountActor, DEFAULT_ACCOUNT};
use refract_service::Refract;
use refract_service::model::{
    ChatPrompt, ConnectionSettings, ModelEndpoint, ModelGateway, ModelSettings, Protocol,
};
use refract_service::results::CreateCall;
use refract_service::store::DatabaseSettings;
use tokio::runtime::Runtime;

use crate::load::{Calls, Side, THREADS};
use crate::shapes::CallKind;

/// Number of connections of either side, on all threads together.
pub const POOL: usize = 16;
/// Number of results that the database is filled with.
const FILLED: usize = 20_000;

const PRISM: &str = r#"{"name": "Bench", "fields": [{"key": "text", "label": "Message"}],
    "questions": [{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}]}"#;
const TEXT: &str = "My bicycle came without a saddle and nobody answers the telephone. I have \
    called four times now, and each time a machine told me that my call is important. It is not.";

/// The use cases' side.
pub struct Service {
    // dropped before the runtime that drives its connections
    refract: Refract,
    _runtime: Runtime,
    url: String,
    pub api_key: ApiKey,
    pub results: Vec<ResultId>,
}

impl Service {
    /// Migrates the database and fills it through the use cases.
    pub fn open(url: &str) -> anyhow::Result<Self> {
        let runtime = Runtime::new()?;
        let settings = DatabaseSettings {
            url: url.into(),
            pool: POOL,
        };
        let gateway = ModelGateway::new(ModelSettings {
            endpoint: ModelEndpoint::DemoScorer,
            protocol: Protocol::SystemOne,
            name: String::new(),
            api_key: None,
            connections: ConnectionSettings::default(),
            request_tokens: 8_000,
            request_questions: NonZeroUsize::new(100).unwrap(),
            requests_per_minute: None,
            tokens_per_minute: None,
            timeout: Duration::from_secs(60),
            concurrency: 64,
            prompt: ChatPrompt::default(),
            follow_ups: 26,
            prices: None,
        })?;
        let prepared = runtime.block_on(async {
            let refract = Refract::connect(&settings).await?;
            refract.store().migrate().await?;
            let account = refract.accounts().find(DEFAULT_ACCOUNT).await?;
            let actor = AccountActor::operator(account.id);
            let (_, key) = refract
                .keys()
                .create(&actor, "bench".to_owned(), KeyLimits::default())
                .await?;
            refract.prisms().create(&actor, PRISM.as_bytes()).await?;
            anyhow::Ok((refract.with_model(gateway.model()), key))
        });
        let (refract, api_key) = prepared?;
        let mut service = Self {
            refract,
            _runtime: runtime,
            url: url.to_owned(),
            api_key,
            results: Vec::new(),
        };
        service.fill()?;
        Ok(service)
    }

    fn fill(&mut self) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let results = tokio::task::LocalSet::new().block_on(&runtime, async {
            let calls = self.open().await?;
            let creates = (0..FILLED).map(|number| {
                let calls = calls.clone();
                tokio::task::spawn_local(async move { calls.create(Some(number)).await })
            });
            let mut results = Vec::new();
            for call in creates.collect::<Vec<_>>() {
                results.push(call.await??);
            }
            anyhow::Ok(results)
        });
        self.results = results?;
        Ok(())
    }

    /// The address of the database.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// The use cases of one thread.
#[derive(Clone)]
pub struct ServiceCalls {
    refract: Refract,
    api_key: Rc<PresentedKey>,
    results: Vec<ResultId>,
}

impl Side for Service {
    type OfThread = ServiceCalls;

    async fn open(&self) -> anyhow::Result<ServiceCalls> {
        let threads = NonZeroUsize::new(THREADS).context("no threads")?;
        let refract = self.refract.for_this_thread(Some(threads));
        Ok(ServiceCalls {
            refract,
            api_key: Rc::new(PresentedKey::new(
                Some(self.api_key.clone()),
                CallKeyId::default(),
                None,
            )),
            results: self.results.clone(),
        })
    }
}

/// The idempotency key of a result that the database was filled with.
pub fn idempotency_key(number: usize) -> String {
    format!("order {}", number % FILLED)
}

impl ServiceCalls {
    async fn create(&self, number: Option<usize>) -> anyhow::Result<ResultId> {
        let key = number.map(|number| IdempotencyKey::parse(&idempotency_key(number)));
        let call = CreateCall {
            prism: PrismSelector::Slug("bench".to_owned()),
            fields: SentFields::new(vec![("text".to_owned(), TEXT.to_owned())]),
            context: None,
            reference: None,
            version: None,
            idempotency_key: key.transpose().ok().flatten(),
        };
        let created = self.refract.results().create(&self.api_key, call).await?;
        Ok(created.id())
    }
}

impl Calls for ServiceCalls {
    async fn call(&self, kind: CallKind, number: usize) -> anyhow::Result<()> {
        match kind {
            CallKind::Read => {
                let id = self.results[number % self.results.len()];
                self.refract.results().read(&self.api_key, id).await?;
            }
            CallKind::Create => {
                self.create(None).await?;
            }
            CallKind::Replay => {
                let id = self.create(Some(number)).await?;
                anyhow::ensure!(id == self.results[number % FILLED], "not a replay");
            }
        }
        Ok(())
    }
}
