//! Scripts and styles: embedded in the binary, and served under an address that changes with them,
//! so that browsers may keep them for good.

use std::fmt::Write as _;

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, HeaderValue};
use maud::PreEscaped;
use sha2::{Digest as _, Sha256};

use crate::page_refusal::PageRefusal;
use crate::page_reply::PageReply;
use crate::visit::OpenVisit;

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Every asset: its name, its media type and its text.
const ASSETS: &[(&str, &str, &str)] = &[
    ("app.css", STYLE, include_str!("../assets/app.css")),
    (
        "icon.svg",
        "image/svg+xml",
        include_str!("../assets/icon.svg"),
    ),
    ("fragment.js", SCRIPT, include_str!("../assets/fragment.js")),
    ("try.js", SCRIPT, include_str!("../assets/try.js")),
];

/// The name of the folder that the assets of this binary are served in: a hash of all of them, since
/// scripts import each other by name.
#[derive(Clone, Debug)]
pub(crate) struct AssetFolder(String);

impl AssetFolder {
    /// The folder of the embedded assets.
    pub(crate) fn embedded() -> Self {
        let mut hash = Sha256::new();
        for (name, _, text) in ASSETS {
            hash.update(name);
            hash.update(text);
        }
        let mut folder = String::new();
        for byte in hash.finalize().iter().take(8) {
            // writing to a `String` cannot fail
            let _ = write!(folder, "{byte:02x}");
        }
        Self(folder)
    }

    /// The address of an asset.
    pub(crate) fn address(&self, name: &str) -> String {
        format!("/assets/{}/{name}", self.0)
    }
}

/// Serves an asset. One that is asked for under the folder of another binary, as during an upgrade,
/// is not kept by the browser.
pub(crate) async fn show(visit: OpenVisit) -> Result<PageReply, PageRefusal> {
    let values = &visit.sent.values;
    let found = ASSETS
        .iter()
        .find(|(name, _, _)| *name == values.get("name"));
    let (_, media_type, text) = found.ok_or(PageRefusal::NotFound)?;
    let keeping = if values.get("folder") == visit.site.assets.0 {
        "public, max-age=31536000, immutable"
    } else {
        "no-store"
    };
    let reply = PageReply::html(StatusCode::OK, PreEscaped((*text).to_owned()));
    Ok(reply
        .with_header(
            actix_web::http::header::CONTENT_TYPE,
            HeaderValue::from_static(media_type),
        )
        .with_header(CACHE_CONTROL, HeaderValue::from_static(keeping)))
}
