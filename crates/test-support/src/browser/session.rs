//! The `WebDriver` session with one browser: its start, with settings for how it shows pages, and
//! Chromium's commands outside the standard.

#![expect(
    clippy::panic,
    reason = "a test whose browser does not answer fails here with the reason"
)]

use std::path::Path;

use fantoccini::error::CmdError;
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, Value, json};
use url::{ParseError, Url};

use super::firefox;
use super::processes::{BrowserPrograms, Engine};
use super::settings::{BrowserSettings, BrowserTheme};

/// Flags for a browser that renders pages the same on every machine and contacts nothing else.
const FLAGS: [&str; 16] = [
    "--headless=new",
    // Chromium ends with the driver, which has the other end of the pipe
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--hide-scrollbars",
    "--lang=en-US",
];

/// Categories of a trace: tasks, scripts, styles, layout, paint.
const TRACED: &str = "devtools.timeline,disabled-by-default-devtools.timeline";

/// A session with a browser that the driver has started.
#[derive(Debug)]
pub(super) struct DriverSession {
    /// The commands of the `WebDriver` standard.
    pub(super) client: Client,
    engine: Engine,
}

impl DriverSession {
    /// Starts the browser with an empty profile in this folder.
    ///
    /// # Panics
    ///
    /// When the browser does not start.
    pub(super) async fn start(
        programs: &BrowserPrograms,
        driver: &str,
        folder: &Path,
        settings: BrowserSettings,
    ) -> Self {
        let BrowserPrograms {
            engine, browser, ..
        } = programs;
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(match engine {
            Engine::Chromium => capabilities(browser, folder, settings),
            Engine::Firefox => firefox::capabilities(browser, folder, settings),
        });
        let connected = builder.connect(driver).await;
        let client =
            connected.unwrap_or_else(|error| panic!("the browser does not start: {error}"));
        Self {
            client,
            engine: *engine,
        }
    }

    /// Makes the window as much larger than the page's area as its frame is.
    ///
    /// # Panics
    ///
    /// When the browser does not answer.
    pub(super) async fn resize_window(&self, settings: BrowserSettings) {
        let script = "return [outerWidth - innerWidth, outerHeight - innerHeight]";
        let frame = self.client.execute(script, Vec::new()).await;
        let frame = frame.unwrap_or_else(|error| panic!("the window's frame: {error}"));
        let length = |at, inside: u32| {
            let outside = frame.get(at).and_then(Value::as_u64).unwrap_or_default();
            inside + u32::try_from(outside).unwrap_or_default()
        };
        let (width, height) = (length(0, settings.width), length(1, settings.height));
        let sized = self.client.set_window_size(width, height).await;
        sized.unwrap_or_else(|error| panic!("the window's size: {error}"));
    }

    /// The process id of the browser, if the driver reports it.
    pub(super) fn browser_process(&self) -> Option<i32> {
        let capabilities = self.client.capabilities()?;
        let named = ["goog:processID", "moz:processID"];
        let process_id = named.iter().find_map(|name| capabilities.get(*name))?;
        i32::try_from(process_id.as_i64()?).ok()
    }

    /// Chromium's performance log since the last call. For a traced browser it includes the events
    /// of the trace, each as JSON in the field `message`.
    ///
    /// # Panics
    ///
    /// When the driver does not answer, or the browser is not traced.
    pub(super) async fn performance_log(&self) -> Vec<Value> {
        match self.post("se/log", json!({ "type": "performance" })).await {
            Ok(Value::Array(entries)) => entries,
            answer => panic!("the browser's trace cannot be read: {answer:?}"),
        }
    }

    /// Sends a command of the `DevTools` protocol and returns its result.
    ///
    /// # Panics
    ///
    /// When Chromium refuses the command.
    pub(super) async fn developer_command(&self, name: &str, parameters: Value) -> Value {
        let body = json!({ "cmd": name, "params": parameters });
        let answer = self.post("goog/cdp/execute", body).await;
        answer.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The entries of the browser's console since the last call; none of Firefox, whose driver does
    /// not show it.
    ///
    /// # Panics
    ///
    /// When the driver does not answer.
    pub(super) async fn console(&self) -> Vec<Value> {
        if self.engine == Engine::Firefox {
            return Vec::new();
        }
        match self.post("se/log", json!({ "type": "browser" })).await {
            Ok(Value::Array(entries)) => entries,
            answer => panic!("the browser's console cannot be read: {answer:?}"),
        }
    }

    async fn post(&self, place: &'static str, body: Value) -> Result<Value, CmdError> {
        self.client.issue_cmd(DriverCommand { place, body }).await
    }
}

/// A command of Chromium's driver outside the standard.
#[derive(Debug)]
struct DriverCommand {
    /// The path after the session's.
    place: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for DriverCommand {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        let session = session.unwrap_or_default();
        base.join(&format!("session/{session}/{}", self.place))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

fn capabilities(chromium: &Path, folder: &Path, settings: BrowserSettings) -> Map<String, Value> {
    let mut arguments: Vec<String> = FLAGS.iter().map(ToString::to_string).collect();
    arguments.push(format!(
        "--user-data-dir={}",
        folder.join("profile").display()
    ));
    // Blink's numbers for the two themes; unlike an override, the theme applies in every window
    let theme = match settings.theme {
        BrowserTheme::Dark => 0,
        BrowserTheme::Light => 1,
    };
    // without the scripts of pages; the driver's own scripts run in any case
    let scripts = settings.scripts;
    arguments.push(format!(
        "--blink-settings=preferredColorScheme={theme},scriptEnabled={scripts}"
    ));
    let logged = if settings.is_traced { "ALL" } else { "OFF" };
    let traced = settings
        .is_traced
        .then(|| json!({ "enableNetwork": false, "enablePage": false, "traceCategories": TRACED }));
    // the driver finds the pages of both kinds at different places
    let name = if chromium.to_string_lossy().ends_with("headless-shell") {
        "chrome-headless-shell"
    } else {
        "chrome"
    };
    let mut options = json!({
        "binary": chromium,
        "args": arguments,
    });
    if let (Some(options), Some(traced)) = (options.as_object_mut(), traced) {
        options.insert("perfLoggingPrefs".to_owned(), traced);
    }
    let capabilities = [
        ("timeouts", json!({ "pageLoad": 30_000, "script": 30_000 })),
        ("browserName", json!(name)),
        (
            "goog:loggingPrefs",
            json!({ "browser": "ALL", "performance": logged }),
        ),
        ("goog:chromeOptions", options),
    ];
    let pairs = capabilities.into_iter();
    pairs
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
