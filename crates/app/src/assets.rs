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
    (
        "lens-rows.js",
        SCRIPT,
        include_str!("../assets/lens-rows.js"),
    ),
    ("mark.js", SCRIPT, include_str!("../assets/mark.js")),
    ("try.js", SCRIPT, include_str!("../assets/try.js")),
    ("edit.js", SCRIPT, include_str!("../assets/edit.js")),
    ("send.js", SCRIPT, include_str!("../assets/send.js")),
    ("keys.js", SCRIPT, include_str!("../assets/keys.js")),
    ("stale.js", SCRIPT, include_str!("../assets/stale.js")),
    ("times.js", SCRIPT, include_str!("../assets/times.js")),
    ("typed.js", SCRIPT, include_str!("../assets/typed.js")),
    ("drag.js", SCRIPT, include_str!("../assets/drag.js")),
    ("faults.js", SCRIPT, include_str!("../assets/faults.js")),
    ("review.js", SCRIPT, include_str!("../assets/review.js")),
    ("count.js", SCRIPT, include_str!("../assets/count.js")),
    ("fold.js", SCRIPT, include_str!("../assets/fold.js")),
    ("run.js", SCRIPT, include_str!("../assets/run.js")),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The declarations of the style sheet as pairs of property and value.
    fn declarations() -> impl Iterator<Item = (&'static str, &'static str)> {
        let (_, style) = find("app.css").unwrap();
        let blocks = style.split(['{', '}', ';', '\n']);
        blocks.filter_map(|declaration| {
            let (property, value) = declaration.split_once(':')?;
            Some((property.trim(), value.trim()))
        })
    }

    #[test]
    fn letters_have_the_sizes_of_one_scale() {
        // a telephone enlarges the page around letters below 16 pixels
        let others = ["1rem", "inherit", "max(1rem, 16px)"];
        let sizes = declarations().filter(|(property, _)| *property == "font-size");
        for (_, size) in sizes {
            assert!(
                size.starts_with("var(--") || others.contains(&size),
                "{size}"
            );
        }
    }

    #[test]
    fn spaces_have_the_widths_of_one_scale() {
        // 6 rem keep a text beside a button that lies over it
        let scale = [".125", ".25", ".5", ".75", "1", "1.5", "2", "3", "6"];
        let is_space = |property: &str| {
            ["padding", "margin", "gap", "row-gap", "column-gap"]
                .iter()
                .any(|space| property == *space || property.starts_with(&format!("{space}-")))
        };
        for (property, value) in declarations().filter(|(property, _)| is_space(property)) {
            let words = value.split([' ', '(', ')', ',']);
            for width in words.filter_map(|word| word.strip_suffix("rem")) {
                let width = width.trim_start_matches('-');
                assert!(scale.contains(&width), "{property}: {value}");
            }
        }
    }
}
