//! Accessibility violations in pages, found by axe-core.
#![expect(
    clippy::panic,
    reason = "a test whose page cannot be looked through fails here with the reason"
)]

use std::fs;

use serde_json::{Value, json};

use super::{Browser, programs};

/// The rules to check: WCAG 2.2 at level AA, and best practices beyond it.
const RULES: [&str; 6] = [
    "wcag2a",
    "wcag2aa",
    "wcag21a",
    "wcag21aa",
    "wcag22aa",
    "best-practice",
];

/// Returns a line for each violation: the rule and the first 300 characters of the element.
const RUN: &str = "
    return axe.run(document, { runOnly: { type: 'tag', values: arguments[0] } }).then((found) =>
        found.violations.flatMap((fault) =>
            fault.nodes.map((node) => `${fault.id}: ${node.html.slice(0, 300)}`)));";

impl Browser {
    /// The source of axe-core; `None` if it is not installed, so pages are not checked.
    ///
    /// # Panics
    ///
    /// When the variable names a file that cannot be read.
    pub fn axe() -> Option<String> {
        let path = programs::axe()?;
        let source = fs::read_to_string(&path);
        Some(source.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    /// The violations that axe-core finds in the page, as `rule: element`. `axe` is the source of
    /// axe-core. Needs a browser with scripts.
    ///
    /// # Panics
    ///
    /// When axe-core does not run in the page.
    pub async fn accessibility_violations(&self, axe: &str) -> Vec<String> {
        self.evaluate(axe, &[]).await;
        let answer = self.evaluate(RUN, &[json!(RULES)]).await;
        let Some(violations) = answer.as_array() else {
            panic!("axe-core answered {answer}");
        };
        let lines = violations.iter().filter_map(Value::as_str);
        lines.map(str::to_owned).collect()
    }
}
