//! Steps that find elements by their visible words: those of links and buttons, and the labels of
//! inputs. Exactly one element must have the words, since a person could not distinguish two
//! either.

use fantoccini::elements::Element;
use fantoccini::error::{CmdError, ErrorStatus, WebDriver};
use fantoccini::{Client, Locator};
use serde_json::json;

use super::Browser;
use super::actions::replace_content;
use super::waiting::{Wait, until_gone, with_found};

/// Finds the visible elements of a kind with this accessible name. Runs after `NAMES`.
const FIND: &str = "
    const [kind, words] = arguments;
    const isShown = (element) =>
        element.checkVisibility({ visibilityProperty: true }) && !element.closest('[aria-hidden=true]');
    return [...document.querySelectorAll(kind)].filter((one) => isShown(one) && named(one) === words);";

/// Computes an element's accessible name, as screen readers read it.
const NAMES: &str = "
    const plain = (text) => text.replace(/\\s+/g, ' ').trim();
    const byIds = (element, attribute) => (element.getAttribute(attribute) ?? '').split(' ')
        .map((id) => id && document.getElementById(id)).filter(Boolean)
        .map((one) => plain(one.innerText)).join(' ');
    const named = (element) => {
        const labels = [...(element.labels ?? [])].map((label) => plain(label.innerText)).join(' ');
        return plain(element.getAttribute('aria-label') ?? (labels || element.innerText || ''));
    };";

/// Elements to press: links, buttons, and summaries of foldable details.
const PRESSED: &str = "a[href], button, summary";

/// Elements to fill in.
const FILLED: &str = "input, select, textarea";

impl Browser {
    /// Clicks the link, button or summary with these words.
    ///
    /// # Panics
    ///
    /// When there is not exactly one, or it cannot be clicked, until the deadline.
    pub async fn click_on(&self, words: &str) {
        let step = async |element: Element| element.click().await;
        self.with_named("click on", PRESSED, words, step).await;
    }

    /// Clicks the link or button with these words and waits until the new page has replaced this
    /// one. The new page may have the same address.
    ///
    /// # Panics
    ///
    /// When there is not exactly one, it cannot be clicked, or no other page is there, until the
    /// deadline.
    pub async fn follow_on(&self, words: &str) {
        let client = &self.session.client;
        let page = async |_| client.find(Locator::Css(":root")).await;
        let page = self.with_named("follow", PRESSED, words, page).await;
        self.click_on(words).await;
        until_gone(page, words).await;
    }

    /// Replaces the content of the input with this label, as [`Browser::fill`] does.
    ///
    /// # Panics
    ///
    /// When there is not exactly one, or it cannot be used, until the deadline.
    pub async fn fill_in(&self, label: &str, text: &str) {
        let client = &self.session.client;
        let step = async |input: Element| replace_content(client, &input, text).await;
        self.with_named("fill in", FILLED, label, step).await;
    }

    /// Types a date, such as `2020-01-02`, into the date input with this label.
    ///
    /// # Panics
    ///
    /// When there is not exactly one, or it cannot be used, until the deadline.
    pub async fn fill_date_in(&self, label: &str, date: &str) {
        // Firefox takes the value from its driver, Chromium the keys of the American order
        let keys = match date.split('-').collect::<Vec<_>>()[..] {
            [year, month, day] if Self::has_devtools() => format!("{month}{day}{year}"),
            _ => date.to_owned(),
        };
        self.fill_in(label, &keys).await;
    }

    /// Presses keys in the input with this label, as [`Browser::press`] does.
    ///
    /// # Panics
    ///
    /// When there is not exactly one, or it cannot be used, until the deadline.
    pub async fn press_in(&self, label: &str, keys: &str) {
        let step = async |input: Element| input.send_keys(keys).await;
        self.with_named("press keys in", FILLED, label, step).await;
    }

    /// Chooses the option with these words in the `select` with this label.
    ///
    /// # Panics
    ///
    /// When there is not exactly one such `select`, or no such option, until the deadline.
    pub async fn choose_in(&self, label: &str, words: &str) {
        let step = async |select: Element| select.select_by_label(words).await;
        self.with_named("choose in", FILLED, label, step).await;
    }

    /// The current content of the input with this label.
    ///
    /// # Panics
    ///
    /// When there is not exactly one until the deadline.
    pub async fn value_in(&self, label: &str) -> String {
        let step = async |input: Element| input.prop("value").await;
        let value = self.with_named("value in", FILLED, label, step).await;
        value.unwrap_or_default()
    }

    /// The text next to the input with this label that belongs to it: its hint and its error.
    ///
    /// # Panics
    ///
    /// When there is not exactly one until the deadline.
    pub async fn beside(&self, label: &str) -> String {
        let client = &self.session.client;
        let script = format!("{NAMES} return byIds(arguments[0], 'aria-describedby');");
        let step = async |input: Element| client.execute(&script, vec![json!(input)]).await;
        let words = self.with_named("beside", FILLED, label, step).await;
        words.as_str().unwrap_or_default().to_owned()
    }

    /// Whether the page shows a link, button or summary with these words now.
    ///
    /// # Panics
    ///
    /// When the browser does not answer.
    pub async fn offers(&self, words: &str) -> bool {
        let script = format!("{NAMES} {FIND}");
        let found = self
            .evaluate(&script, &[json!(PRESSED), json!(words)])
            .await;
        found.as_array().is_some_and(|found| !found.is_empty())
    }

    /// The accessible name of the focused element; empty if no element has the focus.
    ///
    /// # Panics
    ///
    /// When the browser does not answer.
    pub async fn focus(&self) -> String {
        let script = format!(
            "{NAMES} const focus = document.activeElement;
            return !focus || focus === document.body ? '' : named(focus);"
        );
        let name = self.evaluate(&script, &[]).await;
        name.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the element with these words has the focus. A page sets the focus a moment after
    /// it has loaded.
    ///
    /// # Panics
    ///
    /// When another element, or none, has it at the deadline.
    pub async fn wait_for_focus(&self, words: &str) {
        let mut wait = Wait::until(format!("for the focus on {words:?}"));
        loop {
            let focus = self.focus().await;
            if focus == words {
                return;
            }
            wait.again(&format!("it was on {focus:?}")).await;
        }
    }

    async fn with_named<T>(
        &self,
        step: &str,
        kind: &str,
        words: &str,
        action: impl AsyncFn(Element) -> Result<T, CmdError>,
    ) -> T {
        let client = &self.session.client;
        let find = async || find_named(client, kind, words).await;
        with_found(format!("{step} {words:?}"), find, action).await
    }
}

/// The element of a kind with this accessible name. Errors if there is none or several; the error
/// is transient, since the page may still change.
async fn find_named(client: &Client, kind: &str, words: &str) -> Result<Element, CmdError> {
    let script = format!("{NAMES} {FIND}");
    let arguments = vec![json!(kind), json!(words)];
    let found = client.execute(&script, arguments).await?;
    let found = found.as_array().map_or(&[][..], Vec::as_slice);
    if let [element] = found
        && let Some(id) = element.as_object().and_then(|it| it.values().next())
        && let Some(id) = id.as_str()
    {
        let id = id.to_owned().into();
        return Ok(Element::from_element_id(client.clone(), id));
    }
    let seen = format!("{} elements are called so", found.len());
    let none = WebDriver::new(ErrorStatus::NoSuchElement, seen);
    Err(CmdError::Standard(none))
}
