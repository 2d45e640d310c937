//! Developer tools for a page: runs scripts, takes pictures, sends any `DevTools` command, and
//! finds accessibility violations by axe-core.

#![expect(
    clippy::panic,
    reason = "a test whose browser cannot look at a page fails here with the reason"
)]

use std::fs;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::{Browser, processes};

impl Browser {
    /// Runs the body of a function in the page with these `arguments`, and returns the function's
    /// result. Waiting for a promise needs a browser with scripts; anything else works without
    /// them. The page's content security policy does not apply to the function.
    ///
    /// # Panics
    ///
    /// When the function throws.
    pub async fn evaluate(&self, script: &str, arguments: &[Value]) -> Value {
        let value = self
            .session
            .client
            .execute(script, arguments.to_vec())
            .await;
        value.unwrap_or_else(|error| panic!("a script in the page: {error}"))
    }

    /// Sends a command of the [DevTools protocol](https://chromedevtools.github.io/devtools-protocol/)
    /// and returns its result.
    ///
    /// # Panics
    ///
    /// When Chromium refuses the command.
    pub async fn cdp(&self, command: &str, parameters: Value) -> Value {
        self.session.developer_command(command, parameters).await
    }

    /// Ends Chromium's trace and returns the events of all its processes, unordered, in the [format
    /// of traces](https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
    /// Needs a traced browser.
    ///
    /// # Panics
    ///
    /// When the browser is not traced.
    pub async fn end_trace(self) -> Vec<Value> {
        let entries = self.session.performance_log().await;
        let events = entries.iter().filter_map(|entry| {
            let message = entry.get("message")?.as_str()?;
            let message: Value = serde_json::from_str(message).ok()?;
            let is_event = message.pointer("/message/method")? == "Tracing.dataCollected";
            let event = message.pointer("/message/params")?;
            is_event.then(|| event.clone())
        });
        events.collect()
    }

    /// A PNG picture of the whole page, including parts outside the window. It is wider than the
    /// window only if the page is.
    ///
    /// # Panics
    ///
    /// When Chromium takes no picture.
    pub async fn picture(&self) -> Vec<u8> {
        let (width, height) = self.page_size().await;
        self.picture_of(width, height).await
    }

    /// A PNG picture of the beginning of the page: its full width, and at most this height in CSS
    /// pixels.
    ///
    /// # Panics
    ///
    /// When Chromium takes no picture.
    pub async fn picture_of_beginning(&self, height: u32) -> Vec<u8> {
        let (width, whole) = self.page_size().await;
        self.picture_of(width, whole.min(f64::from(height))).await
    }

    /// The width and the height of the whole page, in CSS pixels.
    async fn page_size(&self) -> (f64, f64) {
        let layout = self.cdp("Page.getLayoutMetrics", json!({})).await;
        let length = |path| layout.pointer(path).and_then(Value::as_f64);
        let size = length("/cssContentSize/width").zip(length("/cssContentSize/height"));
        size.unwrap_or_else(|| panic!("the browser does not tell the size of the page"))
    }

    async fn picture_of(&self, width: f64, height: f64) -> Vec<u8> {
        let area = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let command = json!({ "format": "png", "captureBeyondViewport": true, "clip": area });
        let answer = self.cdp("Page.captureScreenshot", command).await;
        let Some(picture) = answer.get("data").and_then(Value::as_str) else {
            panic!("the browser took no picture");
        };
        let picture = BASE64_STANDARD.decode(picture);
        picture.unwrap_or_else(|error| panic!("the picture is no base64: {error}"))
    }
}

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
    const options = { runOnly: { type: 'tag', values: arguments[0] }, resultTypes: ['violations'] };
    return axe.run(document, options).then((found) =>
        found.violations.flatMap((fault) =>
            fault.nodes.map((node) => `${fault.id}: ${node.html.slice(0, 300)}`)));";

impl Browser {
    /// The source of axe-core; `None` if it is not installed, so pages are not checked.
    ///
    /// # Panics
    ///
    /// When the variable names a file that cannot be read.
    pub fn axe() -> Option<String> {
        let path = processes::axe()?;
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
