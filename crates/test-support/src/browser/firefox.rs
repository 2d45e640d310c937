//! The settings of Firefox at its start.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::settings::{BrowserSettings, BrowserTheme};

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
