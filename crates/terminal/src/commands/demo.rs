//! The setup and the tour of `refract demo`: a prism, a key, sample results and real calls, while
//! the program serves.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use anyhow::Context as _;
use http::StatusCode;
use refract_domain::account::{Email, PersonName, Role};
use refract_domain::ids::{AccountId, PersonId};
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_file_runs::{
    FileRun, InputSource, RowLayout, RunFiles, RunOrder, RunSettings, RunTally, Shard,
};
use refract_identity::keys::{ApiKey, KeyLimits};
use refract_identity::people::{AccountActor, AppUrl, Token};
use refract_lens_rendering::RowFormat;
use refract_service::model::ModelGateway;
use refract_service::prisms::{PrismError, SUPPORT_TRIAGE};
use refract_service::store::DEMO_DATABASE_URL;
use refract_service::{CallError, Refract};
use serde::Deserialize;

use super::context::AccountArg;
use super::health::{self, NodeReply};
use crate::output;
use crate::settings::ApiUrl;

/// The slug of the demo's prism.
const PRISM: &str = SUPPORT_TRIAGE.slug;
/// The body of the demo's create call.
const BODY: &str = r#"{"text": "This is unacceptable! I was charged twice for my new bike, and nobody answers. Refund the second payment today!"}"#;
/// 200 messages to a bicycle shop.
const MESSAGES: &[u8] = include_bytes!("../../../../docs/examples/messages.csv");
/// The number of messages in flight to the model.
const CONCURRENCY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);
/// The owner's address, which receives no mail.
const EMAIL: &str = "owner@demo.invalid";
/// The owner's name.
const NAME: &str = "Demo owner";

/// Creates the demo's prism if it is missing, and a new key.
///
/// # Errors
/// A failure of the database.
pub async fn prepare(refract: &Refract) -> anyhow::Result<ApiKey> {
    let account = AccountArg::of_default().find(refract).await?;
    let actor = AccountActor::operator(account);
    let selector = PrismSelector::Slug(PRISM.to_owned());
    match refract.prisms().find(account, &selector).await {
        Err(PrismError::NotFound) => {
            let creating = refract.prisms().create(&actor, SUPPORT_TRIAGE.file);
            creating.await?;
        }
        found => drop(found?),
    }
    let label = "demo".to_owned();
    let (_, key) = refract
        .keys()
        .create(&actor, label, KeyLimits::default())
        .await?;
    Ok(key)
}

/// What a person finds in the app of the demo.
pub struct AppInvitation {
    /// Signs in as the demo's owner, once.
    link: String,
    /// Number of answered sample messages.
    samples: u64,
}

/// Fills the app's pages with sample results, and makes a link that signs in as the demo's owner.
/// Only the built-in scorer answers the samples: a connected model would cost 200 requests.
///
/// # Errors
/// A database failure, or messages without an answer.
pub async fn prepare_app(refract: &Refract, url: &AppUrl) -> anyhow::Result<AppInvitation> {
    let account = AccountArg::of_default().find(refract).await?;
    let samples = if refract.is_for_trying_only() {
        let prism = PrismSelector::Slug(PRISM.to_owned());
        answer(refract, account, &prism).await?
    } else {
        0
    };
    let token = sign_in_link(refract, account).await?;
    let link = url.sign_in_link(token.reveal());
    Ok(AppInvitation { link, samples })
}

/// Prints what the demo has made, then sends a create and a read call to its own server, and prints
/// the requests and replies. `wanted` is the address that the setting names: another program may have
/// taken its port.
///
/// # Errors
/// A call fails, or stdout cannot be written.
pub async fn show(
    (wanted, address): (SocketAddr, SocketAddr),
    key: &ApiKey,
    gateway: &ModelGateway,
) -> anyhow::Result<()> {
    let url = format!("http://{address}/v1/prisms/{PRISM}/results");
    let file = DEMO_DATABASE_URL.trim_start_matches("sqlite://");
    let mut text =
        format!("The database: {file} in this folder, with the prism {PRISM} and a new API key.\n");
    if wanted.port() != 0 && wanted.port() != address.port() {
        let (taken, free) = (wanted.port(), address.port());
        writeln!(text, "Port {taken} is taken: the API is on port {free}.")?;
    }
    writeln!(text, "The model: {}", gateway.describe())?;
    if gateway.is_for_trying_only() {
        writeln!(text, "It compares words and is for trying things only.")?;
    }
    let create = format!("POST /v1/prisms/{PRISM}/results");
    let json = call(address, &create, BODY, key).await?;
    writeln!(
        text,
        "\nPOST {url}\n{BODY}\n\nThe saved result (format=json):\n{json}"
    )?;
    let saved: SavedId = serde_json::from_str(&json)?;
    let path = format!("/v1/results/{}?format=csv", saved.id);
    let csv = call(address, &format!("GET {path}"), "", key).await?;
    writeln!(
        text,
        "\nGET http://{address}{path}\n\nThe result as a row of a spreadsheet:\n{csv}"
    )?;
    output::text(&text.replace('\r', ""))
}

/// Prints the next steps: a call to copy, and the link into the app.
///
/// # Errors
/// Stdout cannot be written.
pub fn invite(api_url: &ApiUrl, key: &ApiKey, app: Option<&AppInvitation>) -> anyhow::Result<()> {
    let call = call_to_copy(api_url, key);
    let app = app.map_or_else(String::new, AppInvitation::describe);
    output::text(&format!(
        "Go on with:\n\n{call}\n{app}Serving on {api_url} until Ctrl-C.\n"
    ))
}

/// Prints the call to copy of a demo that does not go on.
///
/// # Errors
/// Stdout cannot be written.
pub fn end(api_url: &ApiUrl, key: &ApiKey) -> anyhow::Result<()> {
    let call = call_to_copy(api_url, key);
    output::text(&format!(
        "While `refract demo` serves, go on with:\n\n{call}"
    ))
}

fn call_to_copy(api_url: &ApiUrl, key: &ApiKey) -> String {
    format!(
        "curl -s {api_url}/prisms/{PRISM}/results \\\n  \
         -H 'Authorization: Bearer {}' \\\n  -H 'Content-Type: application/json' \\\n  \
         -d '{{\"text\": \"Where is my order?\"}}'\n",
        key.reveal()
    )
}

impl AppInvitation {
    /// The way into the app.
    fn describe(&self) -> String {
        let (link, samples) = (&self.link, self.samples);
        let samples = if samples == 0 {
            String::new()
        } else {
            format!("It has the answers to {samples} sample messages. ")
        };
        format!(
            "{samples}Open the app and press Sign in, as its owner (the link signs in once):\n\n{link}\n\n"
        )
    }
}

/// The part of a reply that the demo reads.
#[derive(Deserialize)]
struct SavedId {
    id: String,
}

/// Sends one HTTP call to the demo's own server and returns the body of the reply.
async fn call(
    address: SocketAddr,
    method_and_path: &str,
    body: &str,
    key: &ApiKey,
) -> anyhow::Result<String> {
    let headers = format!(
        "authorization: Bearer {}\r\ncontent-type: application/json\r\n",
        key.reveal()
    );
    let NodeReply { status, body } = health::send(address, method_and_path, &headers, body).await?;
    anyhow::ensure!(
        status == StatusCode::OK || status == StatusCode::BAD_GATEWAY,
        "the server answered {status}: {body}"
    );
    Ok(body)
}

/// Asks a prism about every message with a file run, which skips messages that are already
/// answered. Returns the number of messages.
async fn answer(
    refract: &Refract,
    account: AccountId,
    prism: &PrismSelector,
) -> anyhow::Result<u64> {
    let order = RunOrder {
        input: InputSource::Stream(Box::new(MESSAGES)),
        mappings: &[],
        shard: Shard::WHOLE,
        name: "demo".to_owned(),
    };
    // a version saved during the demo must not answer all messages again
    let first = Some(VersionNumber::FIRST);
    let prism = match refract.runs().pin(account, prism, first).await {
        // the prism was archived in an earlier demo
        Err(CallError::PrismNotFound) => return Ok(0),
        found => found?,
    };
    let estimator = prism.estimator()?;
    let run = Arc::new(FileRun::open(prism, order)?);
    let tally = Arc::new(RunTally::default());
    let check = run.check(estimator, &tally).await?;
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let settings = RunSettings::new(CONCURRENCY, threads);
    let files = RunFiles {
        layout: RowLayout::plain(RowFormat::Csv),
        rows: &mut std::io::sink(),
        refused: None,
    };
    let never = std::future::pending();
    let summary = run.run(settings, &check, &tally, files, never).await;
    match summary.stop {
        Some(stop) => Err(anyhow::anyhow!(
            "the sample messages were not answered: {stop}"
        )),
        None => Ok(summary.written),
    }
}

/// The token of a link that signs in as the demo's owner, who is created if missing.
async fn sign_in_link(refract: &Refract, account: AccountId) -> anyhow::Result<Token> {
    let actor = AccountActor::operator(account);
    let owner = find_or_make(refract, &actor).await?;
    let token = refract.people().sign_in_link(&actor, owner).await?;
    token.context("the demo's owner was removed at this moment: start the demo again")
}

async fn find_or_make(refract: &Refract, actor: &AccountActor) -> anyhow::Result<PersonId> {
    let people = refract.people().list(actor.account()).await?;
    let owner = people.iter().find(|person| person.email.as_str() == EMAIL);
    if let Some(joined) = owner.filter(|owner| owner.name.is_some()) {
        return Ok(joined.id);
    }
    let refused = || anyhow::anyhow!("the demo's owner cannot be made");
    let email = Email::parse(EMAIL).map_err(|_| refused())?;
    let name = PersonName::parse(NAME).map_err(|_| refused())?;
    let invitation = refract.people().invite(actor, &email, Role::Owner).await?;
    let people = refract.people();
    people.accept_by_link(&invitation.token, &name).await?;
    Ok(invitation.person)
}
