//! What Firefox needs otherwise than Chromium: settings at its start, and the size of its window.

#![expect(
    clippy::panic,
    reason = "a test whose browser does not answer fails here with the reason"
)]

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{Browser, BrowserSettings, BrowserTheme};

/// Media types that are saved without a question.
const SAVED: &str = "text/csv,text/tab-separated-values,application/json,application/x-ndjson,\
    application/vnd.openxmlformats-officedocument.spreadsheetml.sheet,application/octet-stream";

pub(super) fn capabilities(
    firefox: &Path,
    folder: &Path,
    settings: BrowserSettings,
) -> Map<String, Value> {
    let theme = match settings.theme {
        BrowserTheme::Dark => 0,
        BrowserTheme::Light => 1,
    };
    let options = json!({
        "binary": firefox,
        "args": ["-headless"],
        "prefs": {
            "javascript.enabled": settings.scripts,
            "layout.css.prefers-color-scheme.content-override": theme,
            "intl.accept_languages": "en-US",
            "browser.download.folderList": 2,
            "browser.download.dir": folder.join("downloads"),
            "browser.helperApps.neverAsk.saveToDisk": SAVED,
            "browser.download.always_ask_before_handling_new_types": false,
        },
    });
    let capabilities = [
        ("timeouts", json!({ "pageLoad": 30_000, "script": 30_000 })),
        ("browserName", json!("firefox")),
        ("moz:firefoxOptions", options),
    ];
    let pairs = capabilities.into_iter();
    pairs
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

impl Browser {
    /// Makes the window as much larger than the page's area as its frame is.
    ///
    /// # Panics
    ///
    /// When Firefox does not answer.
    pub(super) async fn resize_window(&self, settings: BrowserSettings) {
        let script = "return [outerWidth - innerWidth, outerHeight - innerHeight]";
        let frame = self.evaluate(script, &[]).await;
        let length = |at, inside: u32| {
            let outside = frame.get(at).and_then(Value::as_u64).unwrap_or_default();
            inside + u32::try_from(outside).unwrap_or_default()
        };
        let (width, height) = (length(0, settings.width), length(1, settings.height));
        let sized = self.session.client.set_window_size(width, height).await;
        sized.unwrap_or_else(|error| panic!("the window's size: {error}"));
    }
}
