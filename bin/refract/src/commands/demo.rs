//! `refract demo`: the main job with nothing to set up.

mod messages;
mod owner;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Args;
use http_body_util::BodyExt as _;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use refract_app::AppUrl;
use refract_domain::api_key::ApiKey;
use refract_domain::slug::PrismSelector;
use refract_http_api::HttpSettings;
use refract_http_serving::Lifecycle;
use refract_model_gateway::ModelGateway;
use refract_persistence::{Database, DatabaseSettings};
use refract_service::examples::SUPPORT_TRIAGE;
use refract_service::{Caller, ServiceMetrics, api_keys, prisms};
use refract_traces::Traces;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::operator::{self, AccountArg};
use super::serve;
use crate::api_url::ApiUrl;
use crate::app_settings::AppArgs;
use crate::settings::{self, ModelArgs, ServeArgs};
use crate::{metrics, output};

/// The slug of the demo's prism.
const PRISM: &str = SUPPORT_TRIAGE.slug;
/// The body of the demo's create call.
const BODY: &str = r#"{"text": "This is unacceptable! I was charged twice for my new bike, and nobody answers. Refund the second payment today!"}"#;
/// The address of the demo's own database.
const DATABASE_URL: &str = "sqlite://refract-demo.db";

/// The arguments of `refract demo`: the settings of `serve` without the database. The data is in
/// `refract-demo.db` in the current folder.
#[derive(Args)]
pub(crate) struct DemoCommand {
    /// Exits after the call instead of serving on
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    serve: ServeArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    app: AppArgs,
}

impl DemoCommand {
    /// Runs `refract demo`.
    pub(crate) async fn run(self) -> anyhow::Result<ExitCode> {
        let gateway = ModelGateway::new(self.model.settings_or_lexical()?)?;
        let settings = DatabaseSettings {
            url: DATABASE_URL.into(),
            pool: 4,
        };
        let workers = self.serve.workers();
        let (has_app, has_ops) = (self.app.is_on(), self.serve.ops_listen != "off");
        let shares = serve::descriptors::share(workers.get(), has_app, has_ops, &settings)?;
        let database = operator::open_or_create(&settings).await?;
        let key = prepare(&database).await?;
        let counts = ServiceMetrics::default();
        let http = HttpSettings {
            listen: settings::bind_or_free("REFRACT_LISTEN", &self.serve.listen)?,
            ops: match self.serve.ops_listen.as_str() {
                "off" => None,
                address => Some(settings::bind_or_free("REFRACT_OPS_LISTEN", address)?),
            },
            workers,
            connections: shares.api,
            grace: self.serve.grace(),
            lifecycle: Lifecycle::named("api"),
            budget: self.serve.body_budget()?,
            registry: metrics::registry(&gateway, &counts),
            proxies: self.app.trusted_proxies()?,
            traces: Traces::default(),
        };
        let address = http.listen.local_addr()?;
        let api_url = self.serve.api_url(address)?;
        let app = if self.once {
            None
        } else {
            self.app.bind_or_free(api_url.clone(), shares.app)?
        };
        let app_link = match &app {
            Some(app) => Some(prepare_app(&database, &gateway, &app.url).await?),
            None => None,
        };
        let (shown, has_shown) = oneshot::channel();
        let stop_signal = serve::stop_signal()?;
        let stop = async move {
            let is_good = has_shown.await.unwrap_or(false);
            if is_good && !self.once {
                stop_signal.await;
            }
        };
        let show = async {
            let said = match show(address, &key, &gateway).await {
                Ok(()) if !self.once => invite(&api_url, &key, app_link.as_deref()),
                said => said,
            };
            let _ = shown.send(said.is_ok());
            said
        };
        let (served, said) = tokio::join!(
            serve::serve(http, app, database, &gateway, counts, stop),
            show
        );
        said?;
        served
    }
}

/// Makes the demo's prism when it is missing, and a new key.
async fn prepare(database: &Database) -> anyhow::Result<ApiKey> {
    let account = AccountArg::of_default().find(database).await?;
    let caller = Caller::operator(account);
    let selector = PrismSelector::Slug(PRISM.to_owned());
    if database.find_prism(account, &selector).await?.is_none() {
        prisms::create(database, &caller, SUPPORT_TRIAGE.file).await?;
    }
    let (_, key) = api_keys::create(database, &caller, "demo".to_owned(), None).await?;
    Ok(key)
}

/// Gives the app's pages something to show, and returns a link that signs in as the demo's owner. A
/// connected model is not asked about the sample: that would cost 200 requests.
async fn prepare_app(
    database: &Database,
    gateway: &ModelGateway,
    url: &AppUrl,
) -> anyhow::Result<String> {
    let account = AccountArg::of_default().find(database).await?;
    if gateway.is_for_trying_only() {
        let prism = PrismSelector::Slug(PRISM.to_owned());
        messages::answer(database, account, &prism, gateway).await?;
    }
    let token = owner::sign_in_link(database, account).await?;
    Ok(url.sign_in_link(token.reveal()))
}

/// Makes a create and a read call, and prints the requests and their replies.
async fn show(address: SocketAddr, key: &ApiKey, gateway: &ModelGateway) -> anyhow::Result<()> {
    let url = format!("http://{address}/v1/prisms/{PRISM}/results");
    let mut text = String::new();
    writeln!(text, "The model: {}", gateway.describe())?;
    if gateway.is_for_trying_only() {
        writeln!(text, "It compares words and is for trying things only.")?;
    }
    let json = call(
        address,
        Method::POST,
        &format!("/v1/prisms/{PRISM}/results"),
        BODY,
        key,
    )
    .await?;
    writeln!(
        text,
        "\nPOST {url}\n{BODY}\n\nThe saved result (format=json):\n{json}"
    )?;
    let saved: SavedId = serde_json::from_str(&json)?;
    let path = format!("/v1/results/{}?format=csv", saved.id);
    let csv = call(address, Method::GET, &path, "", key).await?;
    writeln!(
        text,
        "\nGET http://{address}{path}\n\nThe result as a row of a spreadsheet:\n{csv}"
    )?;
    output::words(&text.replace('\r', ""))
}

/// Says how to go on: a call to copy, and the link into the app.
fn invite(api_url: &ApiUrl, key: &ApiKey, app_link: Option<&str>) -> anyhow::Result<()> {
    let words = format!(
        "Go on with:\n\ncurl -s {api_url}/prisms/{PRISM}/results \\\n  \
         -H 'Authorization: Bearer {}' \\\n  -H 'Content-Type: application/json' \\\n  \
         -d '{{\"text\": \"Where is my order?\"}}'\n\n{}Serving on {api_url} until Ctrl-C.\n",
        key.reveal(),
        app_link.map_or_else(String::new, |link| format!(
            "Open the app and press Sign in, as its owner (the link signs in once):\n\n{link}\n\n"
        )),
    );
    output::words(&words)
}

/// The part of a reply that the demo reads.
#[derive(Deserialize)]
struct SavedId {
    id: String,
}

/// Makes one HTTP call to the demo's own server and returns the body of the reply.
async fn call(
    address: SocketAddr,
    method: Method,
    path: &str,
    body: &str,
    key: &ApiKey,
) -> anyhow::Result<String> {
    let stream = TokioIo::new(TcpStream::connect(address).await?);
    let (mut sender, connection) = http1::handshake(stream).await?;
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, address.to_string())
        .header(AUTHORIZATION, format!("Bearer {}", key.reveal()))
        .header(CONTENT_TYPE, "application/json")
        .body(body.to_owned())?;
    let reply = sender.send_request(request).await?;
    let status = reply.status();
    let body = reply.into_body().collect().await?.to_bytes();
    let body = String::from_utf8_lossy(&body).into_owned();
    anyhow::ensure!(
        status == StatusCode::OK || status == StatusCode::BAD_GATEWAY,
        "the server answered {status}: {body}"
    );
    Ok(body)
}
