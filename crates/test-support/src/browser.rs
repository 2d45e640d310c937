//! A real Chromium for tests of pages, driven over `WebDriver`.
//!
//! `make test` and `.ci/with-browser` install the programs if they may, and set the variables with
//! their paths. A test first asks [`Browser::available`] and returns early without a browser. Every
//! [`Browser`] has a separate driver and Chromium with an empty profile, so two of them act as two
//! people. Each step waits for the page until a deadline, and a step that is still impossible then
//! fails the test. This module knows nothing about Refract's pages.

mod actions;
mod by_text;
mod devtools;
mod observations;
mod processes;
mod session;
mod waiting;

use std::path::Path;

pub use fantoccini::key::Key;
use serde_json::json;

use processes::BrowserProcesses;
use session::DriverSession;
pub use session::{BrowserSettings, BrowserTheme};

/// A running Chromium with one window, killed when this value is dropped.
#[derive(Debug)]
pub struct Browser {
    session: DriverSession,
    processes: BrowserProcesses,
}

impl Browser {
    /// Whether the variables name a Chromium and a driver, so that [`Browser::start`] works.
    pub fn available() -> bool {
        processes::chromium().is_some() && processes::driver().is_some()
    }

    /// Starts a browser with an empty page.
    ///
    /// # Panics
    ///
    /// When no browser is available, and when the browser does not start.
    pub async fn start(settings: BrowserSettings) -> Self {
        let mut processes = BrowserProcesses::start_driver();
        let session =
            DriverSession::start(processes.driver_address(), processes.folder(), settings);
        let session = session.await;
        processes.started_chromium(session.chromium_process());
        let browser = Self { session, processes };
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
