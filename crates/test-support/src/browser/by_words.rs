//! Steps with what a person reads: the words of links and buttons, and the labels of inputs. The
//! words must be those of one element of the page: what two elements are called, a person could not
//! tell apart either.

use fantoccini::elements::Element;
use fantoccini::error::{CmdError, ErrorStatus, WebDriver};
use fantoccini::{Client, Locator};
use serde_json::json;

use super::Browser;
use super::actions::replace_content;
use super::waiting::{Wait, until_gone, with_found};

/// Finds the elements of a kind that are shown and called by these words. Runs after `NAMES`.
const FIND: &str = "
    const [kind, words] = arguments;
    const isShown = (element) =>
        element.checkVisibility({ visibilityProperty: true }) && !element.closest('[aria-hidden=true]');
    return [...document.querySelectorAll(kind)].filter((one) => isShown(one) && named(one) === words);";

/// What an element is called, as screen readers say it.
const NAMES: &str = "
    const plain = (text) => text.replace(/\\s+/g, ' ').trim();
    const byIds = (element, attribute) => (element.getAttribute(attribute) ?? '').split(' ')
        .map((id) => id && document.getElementById(id)).filter(Boolean)
        .map((one) => plain(one.innerText)).join(' ');
    const named = (element) => {
        const labels = [...(element.labels ?? [])].map((label) => plain(label.innerText)).join(' ');
        return plain(element.getAttribute('aria-label') ?? (labels || element.innerText || ''));
    };";

/// What is pressed: links, buttons, and summaries of what can be unfolded.
const PRESSED: &str = "a[href], button, summary";

/// What is filled in.
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

    /// Clicks the link or button with these words and waits until the page that it opens has taken the
    /// place of this one. That page may have the same address.
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

    /// What stands in the input with this label now.
    ///
    /// # Panics
    ///
    /// When there is not exactly one until the deadline.
    pub async fn value_in(&self, label: &str) -> String {
        let step = async |input: Element| input.prop("value").await;
        let value = self.with_named("value in", FILLED, label, step).await;
        value.unwrap_or_default()
    }

    /// What stands beside the input with this label and belongs to it: its hint, and what is wrong with
    /// it.
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

    /// What the element is called that has the focus; empty when none has.
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

    /// Waits until the element with these words has the focus. A page that has just loaded gives it a
    /// moment later.
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

/// The element of a kind that is called by these words. That there is none, or several, may pass.
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
