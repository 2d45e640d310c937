//! Waiting for pages: steps that are tried until they succeed, with a deadline.
#![expect(
    clippy::panic,
    reason = "a test whose page does not become what it should fails here with the reason"
)]

use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::error::{CmdError, ErrorStatus};
use fantoccini::{Client, Locator};

/// How long a page may take until a step is possible. A test machine may be busy with other tests.
const DEADLINE: Duration = Duration::from_secs(20);

/// Pause between two tries of a step.
const PAUSE: Duration = Duration::from_millis(20);

/// Does a step with the first element that the CSS selector finds, as soon as the page has the element
/// and the element can be used.
///
/// # Panics
///
/// When that is not so at the deadline, and at once for any other error.
pub(super) async fn with_element<T>(
    client: &Client,
    step: &str,
    css: &str,
    action: impl AsyncFn(Element) -> Result<T, CmdError>,
) -> T {
    let mut wait = Wait::until(format!("{step} {css:?}"));
    loop {
        let done = match client.find(Locator::Css(css)).await {
            Ok(element) => action(element).await,
            Err(error) => Err(error),
        };
        match done {
            Ok(value) => return value,
            Err(error) if may_pass(&error) => wait.again(&error.to_string()).await,
            Err(error) => panic!("{step} {css:?}: {error}"),
        }
    }
}

/// Whether a page that is loading, or changing itself, may answer otherwise in a moment.
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
    )
}

/// Tries of something that must succeed before the deadline.
pub(super) struct Wait {
    what: String,
    deadline: Instant,
}

impl Wait {
    /// Begins the waiting; `what` says in an error what did not happen.
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
