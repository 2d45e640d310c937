//! Waits for pages: repeats a step until it succeeds or a deadline passes.
#![expect(
    clippy::panic,
    reason = "a test whose page does not become what it should fails here with the reason"
)]

use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::error::{CmdError, ErrorStatus};
use fantoccini::{Client, Locator};

/// Longest wait for a step to become possible. A test machine may be busy with other tests.
const DEADLINE: Duration = Duration::from_secs(20);

/// Pause between two tries of a step.
const PAUSE: Duration = Duration::from_millis(20);
/// What Chromium's inspector says when a script replaces an element while the driver reads it.
const REPLACED: &str = "does not belong to the document";

/// Performs a step on the first element that matches the CSS selector, as soon as the element
/// exists and is usable.
///
/// # Panics
///
/// When the element is not usable until the deadline, and at once for any other error.
pub(super) async fn with_element<T>(
    client: &Client,
    step: &str,
    css: &str,
    action: impl AsyncFn(Element) -> Result<T, CmdError>,
) -> T {
    let find = async || client.find(Locator::Css(css)).await;
    with_found(format!("{step} {css:?}"), find, action).await
}

/// Performs a step on the element that `find` returns, as soon as it returns a usable one. `what`
/// names the step.
///
/// # Panics
///
/// When there is no usable element until the deadline, and at once for any other error.
pub(super) async fn with_found<T>(
    what: String,
    find: impl AsyncFn() -> Result<Element, CmdError>,
    action: impl AsyncFn(Element) -> Result<T, CmdError>,
) -> T {
    let mut wait = Wait::until(what.clone());
    loop {
        let done = match find().await {
            Ok(element) => action(element).await,
            Err(error) => Err(error),
        };
        match done {
            Ok(value) => return value,
            Err(error) if may_pass(&error) => wait.again(&error.to_string()).await,
            Err(error) => panic!("{what}: {error}"),
        }
    }
}

/// Waits until another page has replaced the page of this element.
///
/// # Panics
///
/// When the page is still there at the deadline.
pub(super) async fn until_gone(page: Element, what: &str) {
    let mut wait = Wait::until(format!("for the page that {what} opens"));
    // an element of a replaced page is stale
    while !page
        .tag_name()
        .await
        .is_err_and(|error| error.is_stale_element_reference())
    {
        wait.again("the page was still there").await;
    }
}

/// Whether the error is transient, because the page is loading or changing itself.
pub(super) fn may_pass(error: &CmdError) -> bool {
    let CmdError::Standard(error) = error else {
        return false;
    };
    matches!(
        error.error,
        ErrorStatus::NoSuchElement
            | ErrorStatus::StaleElementReference
            | ErrorStatus::ElementClickIntercepted
            | ErrorStatus::ElementNotInteractable
    ) || error.message.contains(REPLACED)
}

/// Repeated tries of something that must succeed before the deadline.
pub(super) struct Wait {
    what: String,
    deadline: Instant,
}

impl Wait {
    /// Starts to wait. `what` names the awaited event in the error.
    pub(super) fn until(what: String) -> Self {
        let deadline = Instant::now() + DEADLINE;
        Self { what, deadline }
    }

    /// Pauses before the next try.
    ///
    /// # Panics
    ///
    /// When the deadline has passed.
    pub(super) async fn again(&mut self, seen: &str) {
        assert!(
            Instant::now() < self.deadline,
            "waited {} seconds: {}; at last: {seen}",
            DEADLINE.as_secs(),
            self.what
        );
        tokio::time::sleep(PAUSE).await;
    }
}
