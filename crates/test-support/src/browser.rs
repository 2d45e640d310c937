//! A real Chromium or Firefox for tests of pages, driven over `WebDriver`.
//!
//! `make test` and `.ci/with-browser` install the programs if they may, and set the variables with
//! their paths. A test first asks [`Browser::available`] and returns early without a browser. Every
//! [`Browser`] has a separate driver and browser with an empty profile, so two of them act as two
//! people. Each step waits for the page until a deadline, and a step that is still impossible then
//! fails the test. This module knows nothing about Refract's pages.

mod actions;
mod by_text;
mod devtools;
mod firefox;
mod observations;
mod processes;
mod session;
mod settings;
mod waiting;

use std::path::Path;

pub use fantoccini::key::Key;
use serde_json::json;

use processes::{BrowserProcesses, BrowserPrograms, Engine};
use session::DriverSession;
pub use settings::{BrowserSettings, BrowserTheme};

/// A running browser with one window, killed when this value is dropped.
#[derive(Debug)]
pub struct Browser {
    session: DriverSession,
    processes: BrowserProcesses,
}

impl Browser {
    /// Whether the variables name a browser and its driver, so that [`Browser::start`] works.
    pub fn available() -> bool {
        BrowserPrograms::find().is_some()
    }

    /// Whether the browser takes commands of the `DevTools` protocol and shows its console, as
    /// Chromium does.
    pub fn has_devtools() -> bool {
        BrowserPrograms::find().is_some_and(|programs| programs.engine == Engine::Chromium)
    }

    /// Starts a browser with an empty page.
    ///
    /// # Panics
    ///
    /// When no browser is available, and when the browser does not start.
    pub async fn start(settings: BrowserSettings) -> Self {
        let programs = BrowserPrograms::required();
        let mut processes = BrowserProcesses::start_driver(&programs);
        let (driver, folder) = (processes.driver_address(), processes.folder());
        let session = DriverSession::start(&programs, driver, folder, settings).await;
        processes.started_browser(session.browser_process());
        let browser = Self { session, processes };
        if programs.engine == Engine::Firefox {
            browser.session.resize_window(settings).await;
            return browser;
        }
        // a real window is smaller inside than its size, and cannot be as narrow as a phone
        let area = json!({
            "width": settings.width,
            "height": settings.height,
            "deviceScaleFactor": 1,
            "mobile": false,
        });
        let command = "Emulation.setDeviceMetricsOverride";
        browser.session.developer_command(command, area).await;
        let command = "Browser.setDownloadBehavior";
        let downloads = json!({
            "behavior": "allow",
            "downloadPath": browser.folder().join("downloads"),
        });
        browser.session.developer_command(command, downloads).await;
        browser
    }

    /// The folder with the browser's profile and downloads, which is the working directory of its
    /// processes. It is removed when this value is dropped.
    pub fn folder(&self) -> &Path {
        self.processes.folder()
    }
}
