//! A person's actions on a page: opening, clicking, typing, and those with a mouse. Every step waits
//! for its element.

#![expect(
    clippy::panic,
    reason = "a test whose browser cannot do a step fails here with the reason"
)]

use fantoccini::actions::{InputSource as _, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::elements::Element;
use fantoccini::error::CmdError;
use fantoccini::{Client, Locator};
use serde_json::json;

use super::Browser;
use super::waiting::{until_gone, with_element};

/// Length in characters of the longest text typed key by key.
const TYPED_AT_MOST: usize = 1_000;

/// Sets an input's text and sends the events of a person who pastes and leaves the input. Real
/// keys, and Chromium's own insertion, take minutes for 100,000 characters with line breaks.
const PASTE: &str = "
    const [input, text] = arguments;

    input.focus();
    input.value = text;
    input.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertFromPaste' }));
    input.dispatchEvent(new Event('change', { bubbles: true }));";

impl Browser {
    /// Opens an address and waits until the page has loaded.
    ///
    /// # Panics
    ///
    /// When nothing answers at the address.
    pub async fn open(&self, address: &str) {
        let opened = self.session.client.goto(address).await;
        opened.unwrap_or_else(|error| panic!("open {address}: {error}"));
    }

    /// Loads the page again.
    ///
    /// # Panics
    ///
    /// When the page cannot be loaded.
    pub async fn reload(&self) {
        let loaded = self.session.client.refresh().await;
        loaded.unwrap_or_else(|error| panic!("reload: {error}"));
    }

    /// Goes back to the previous page.
    ///
    /// # Panics
    ///
    /// When that page cannot be loaded.
    pub async fn back(&self) {
        let loaded = self.session.client.back().await;
        loaded.unwrap_or_else(|error| panic!("back: {error}"));
    }

    /// Clicks in the middle of the first element that matches the CSS selector. Does not wait for
    /// the effect: [`Browser::follow`] is for clicks that open a page.
    ///
    /// # Panics
    ///
    /// When the element cannot be clicked until the deadline, for instance because another one
    /// covers it.
    pub async fn click(&self, css: &str) {
        let client = &self.session.client;
        with_element(client, "click", css, async |element| element.click().await).await;
    }

    /// Clicks a link, or the button of a form, and waits until the new page has replaced this one.
    /// The new page may have the same address.
    ///
    /// # Panics
    ///
    /// When the element cannot be clicked, or no other page is there, until the deadline.
    pub async fn follow(&self, css: &str) {
        let client = &self.session.client;
        let page = with_element(client, "follow", css, async |_| {
            client.find(Locator::Css(":root")).await
        });
        let page = page.await;
        self.click(css).await;
        until_gone(page, css).await;
    }

    /// Replaces the content of an input: key by key, or all at once like a paste for a text of more
    /// than 1,000 characters.
    ///
    /// # Panics
    ///
    /// When the input cannot be used until the deadline.
    pub async fn fill(&self, css: &str, text: &str) {
        let client = &self.session.client;
        with_element(client, "fill", css, async |element| {
            replace_content(client, &element, text).await
        })
        .await;
    }

    /// Chooses the option with this value in a `select`.
    ///
    /// # Panics
    ///
    /// When there is no such option until the deadline.
    pub async fn choose(&self, css: &str, value: &str) {
        let client = &self.session.client;
        with_element(client, "choose in", css, async |element| {
            element.select_by_value(value).await
        })
        .await;
    }

    /// Focuses an element and presses keys there without removing anything. The keys are characters
    /// and [`Key`](super::Key)s. The selector `:focus` leaves the focus unchanged. A file input
    /// takes the path of a file.
    ///
    /// # Panics
    ///
    /// When the element cannot take keys until the deadline.
    pub async fn press(&self, css: &str, keys: &str) {
        let client = &self.session.client;
        with_element(client, "press keys in", css, async |element| {
            element.send_keys(keys).await
        })
        .await;
    }

    /// Presses keys as [`Browser::press`] does, and waits until the page that they open has replaced
    /// this one.
    ///
    /// # Panics
    ///
    /// When the element cannot take keys, or no other page is there, until the deadline.
    pub async fn follow_keys(&self, css: &str, keys: &str) {
        let client = &self.session.client;
        let page = with_element(client, "follow keys in", css, async |_| {
            client.find(Locator::Css(":root")).await
        });
        let page = page.await;
        self.press(css, keys).await;
        until_gone(page, keys).await;
    }

    /// Deletes the cookies of the page's address, so that the next request is anonymous.
    ///
    /// # Panics
    ///
    /// When the browser does not answer.
    pub async fn clear_cookies(&self) {
        let cleared = self.session.client.delete_all_cookies().await;
        cleared.unwrap_or_else(|error| panic!("delete cookies: {error}"));
    }
}

/// Replaces the content of an input, key by key or all at once.
pub(super) async fn replace_content(
    client: &Client,
    input: &Element,
    text: &str,
) -> Result<(), CmdError> {
    input.clear().await?;
    if text.chars().count() <= TYPED_AT_MOST {
        return input.send_keys(text).await;
    }
    client
        .execute(PASTE, vec![json!(input), json!(text)])
        .await?;
    Ok(())
}

impl Browser {
    /// Drags the first element that matches `css` to the middle of the first one that matches `to`,
    /// and drops it there. Both must be inside the window.
    ///
    /// # Panics
    ///
    /// When one of them is missing at the deadline, or is outside the window.
    pub async fn drag(&self, css: &str, to: &str) {
        let client = &self.session.client;
        let found = async |place: &str| {
            with_element(client, "drag", place, async |element| Ok(element)).await
        };
        let over = |element, x| PointerAction::MoveToElement {
            element,
            duration: None,
            x,
            y: 0.0,
        };
        let (from, to) = (found(css).await, found(to).await);
        let button = MOUSE_BUTTON_LEFT;
        // two moves: a page gets one event for the start of a drag and one for its continuation
        let mouse = MouseActions::new("mouse".to_owned())
            .then(over(from.clone(), 0.0))
            .then(PointerAction::Down { button })
            .then(over(to.clone(), 1.0))
            .then(over(to, 0.0))
            .then(PointerAction::Up { button });
        let moved = client.perform_actions(mouse).await;
        moved.unwrap_or_else(|error| panic!("drag {css:?}: {error}"));
    }
}
