//! A real Chromium for tests of pages, driven over WebDriver.
//!
//! `make test` and `.ci/with-browser` install the programs where they may, and set the variables that
//! name them. A test asks [`Browser::available`] first and returns early without a browser. Every
//! [`Browser`] is a driver and a Chromium of its own with an empty profile, so that two of them are
//! two people. What a page shows soon is waited for with a deadline, and a step that cannot be done
//! by then fails the test. This module knows nothing about Refract's pages.

mod accessibility;
mod actions;
mod devtools;
mod observations;
mod processes;
mod programs;
mod session;
mod waiting;

pub use fantoccini::key::Key;
use serde_json::json;

use processes::BrowserProcesses;
use session::DriverSession;

/// A running Chromium with one window, which is killed when this value is dropped.
#[derive(Debug)]
pub struct Browser {
    session: DriverSession,
    processes: BrowserProcesses,
}

/// What a browser shows pages in.
#[derive(Clone, Copy, Debug)]
pub struct BrowserSettings {
    /// Whether the scripts of pages run.
    pub scripts: bool,
    /// The colours that pages are asked for.
    pub theme: BrowserTheme,
    /// The width of the page's area, in CSS pixels. A picture has as many pixels.
    pub width: u32,
    /// The height of the page's area, in CSS pixels.
    pub height: u32,
}

impl Default for BrowserSettings {
    /// A light page with scripts on a laptop's screen.
    fn default() -> Self {
        Self {
            scripts: true,
            theme: BrowserTheme::Light,
            width: 1440,
            height: 900,
        }
    }
}

/// The value of the media query `prefers-color-scheme`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowserTheme {
    /// Dark text on a light ground.
    Light,
    /// Light text on a dark ground.
    Dark,
}

impl Browser {
    /// Whether the variables name a Chromium and a driver, so that [`Browser::start`] works.
    pub fn available() -> bool {
        programs::chromium().is_some() && programs::driver().is_some()
    }

    /// Starts a browser with an empty page.
    ///
    /// # Panics
    ///
    /// When no browser is available, and when the browser does not start.
    pub async fn start(settings: BrowserSettings) -> Self {
        let mut processes = BrowserProcesses::start_driver();
        let session =
            DriverSession::start(processes.driver_address(), processes.profile(), settings);
        let session = session.await;
        processes.started_chromium(session.chromium_process());
        let browser = Self { session, processes };
        // the window's edges take some of its size, and no window is as narrow as a phone
        let area = json!({
            "width": settings.width,
            "height": settings.height,
            "deviceScaleFactor": 1,
            "mobile": false,
        });
        let command = "Emulation.setDeviceMetricsOverride";
        browser.session.developer_command(command, area).await;
        browser
    }
}
