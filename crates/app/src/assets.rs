//! Scripts and styles, embedded in the binary. Their address contains a hash of their content, so
//! browsers may cache them forever.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Every asset: name, media type and text.
const ASSETS: &[(&str, &str, &str)] = &[
    ("app.css", STYLE, include_str!("../assets/app.css")),
    (
        "icon.svg",
        "image/svg+xml",
        include_str!("../assets/icon.svg"),
    ),
    ("copy.js", SCRIPT, include_str!("../assets/copy.js")),
    (
        "shown-once.js",
        SCRIPT,
        include_str!("../assets/shown-once.js"),
    ),
    ("lens.js", SCRIPT, include_str!("../assets/lens.js")),
    ("mark.js", SCRIPT, include_str!("../assets/mark.js")),
    ("try.js", SCRIPT, include_str!("../assets/try.js")),
    ("edit.js", SCRIPT, include_str!("../assets/edit.js")),
    ("send.js", SCRIPT, include_str!("../assets/send.js")),
    ("typed.js", SCRIPT, include_str!("../assets/typed.js")),
    ("drag.js", SCRIPT, include_str!("../assets/drag.js")),
    ("faults.js", SCRIPT, include_str!("../assets/faults.js")),
    ("fragment.js", SCRIPT, include_str!("../assets/fragment.js")),
];

/// The folder in which this binary's assets are served: a hash of all assets together, since
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

    /// Whether `name` is the name of this folder.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.0 == name
    }

    /// The address of an asset.
    pub(crate) fn address(&self, name: &str) -> String {
        format!("/assets/{}/{name}", self.0)
    }
}

/// An asset by its name: its media type and its text.
pub(crate) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    let found = ASSETS.iter().find(|(known, _, _)| *known == name);
    found.map(|(_, media_type, text)| (*media_type, *text))
}
