//! What a person sees of a page, such as texts, values and the address, and the data that the
//! browser stores.
#![expect(
    clippy::panic,
    reason = "a test whose browser cannot read a page fails here with the reason"
)]

use std::fs;

use fantoccini::Locator;
use fantoccini::error::CmdError;
use serde_json::{Value, json};

use super::Browser;
use super::waiting::{Wait, may_pass, with_element};

impl Browser {
    /// The visible text of the first element that matches the CSS selector. Waits for the element.
    ///
    /// # Panics
    ///
    /// When there is no such element until the deadline.
    pub async fn text(&self, css: &str) -> String {
        let client = &self.session.client;
        with_element(client, "text of", css, async |element| element.text().await).await
    }

    /// The visible texts of all elements that match the CSS selector now, in the order of the page.
    /// Hidden elements have empty texts.
    ///
    /// # Panics
    ///
    /// When the page still changes at the deadline.
    pub async fn texts(&self, css: &str) -> Vec<String> {
        let mut wait = Wait::until(format!("texts of {css:?}"));
        loop {
            match self.texts_now(css).await {
                Ok(texts) => return texts,
                Err(error) if may_pass(&error) => wait.again(&error.to_string()).await,
                Err(error) => panic!("texts of {css:?}: {error}"),
            }
        }
    }

    /// An attribute of the first element that matches the CSS selector, as written in the page.
    /// Waits for the element.
    ///
    /// # Panics
    ///
    /// When there is no such element until the deadline.
    pub async fn attribute(&self, css: &str, name: &str) -> Option<String> {
        let client = &self.session.client;
        with_element(client, "attribute of", css, async |element| {
            element.attr(name).await
        })
        .await
    }

    /// The current content of an input. Waits for the input.
    ///
    /// # Panics
    ///
    /// When there is no such input until the deadline.
    pub async fn value(&self, css: &str) -> String {
        let client = &self.session.client;
        let value = with_element(client, "value of", css, async |element| {
            element.prop("value").await
        });
        value.await.unwrap_or_default()
    }

    /// Whether any element matches the CSS selector now, and the first of them is visible.
    ///
    /// # Panics
    ///
    /// When the browser does not answer.
    pub async fn is_shown(&self, css: &str) -> bool {
        let shown = match self.session.client.find(Locator::Css(css)).await {
            Ok(element) => element.is_displayed().await,
            Err(error) => Err(error),
        };
        match shown {
            Ok(shown) => shown,
            Err(error) if may_pass(&error) => false,
            Err(error) => panic!("whether {css:?} is shown: {error}"),
        }
    }

    /// Waits until the page shows an element that matches the CSS selector.
    ///
    /// # Panics
    ///
    /// When the page does not show it until the deadline.
    pub async fn wait_for(&self, css: &str) {
        let mut wait = Wait::until(format!("for {css:?} to be shown"));
        while !self.is_shown(css).await {
            wait.again("it was not shown").await;
        }
    }

    /// Waits until an element that matches the CSS selector shows a text with these words.
    ///
    /// # Panics
    ///
    /// When no such text appears until the deadline.
    pub async fn wait_until_text(&self, css: &str, contains: &str) {
        let mut wait = Wait::until(format!("for {css:?} to show {contains:?}"));
        loop {
            let texts = self.texts(css).await;
            if texts.iter().any(|text| text.contains(contains)) {
                return;
            }
            wait.again(&format!("{texts:?}")).await;
        }
    }

    /// Waits until a file with this name has been downloaded, and returns the content.
    ///
    /// # Panics
    ///
    /// When the file is empty or not complete at the deadline.
    pub async fn wait_for_download(&self, name: &str) -> Vec<u8> {
        // Chromium gives a file its final name when it is complete, but on a busy machine an empty
        // file with that name has occurred earlier
        let path = self.processes.folder().join("downloads").join(name);
        let mut wait = Wait::until(format!("for the download {name:?}"));
        loop {
            match fs::read(&path) {
                Ok(content) if content.is_empty() => wait.again("it is empty").await,
                Ok(content) => return content,
                Err(error) => wait.again(&error.to_string()).await,
            }
        }
    }

    /// The address of the page.
    ///
    /// # Panics
    ///
    /// When the browser does not answer.
    pub async fn address(&self) -> String {
        let address = self.session.client.current_url().await;
        let address = address.unwrap_or_else(|error| panic!("address of the page: {error}"));
        address.into()
    }

    /// The title of the page.
    ///
    /// # Panics
    ///
    /// When the browser does not answer.
    pub async fn title(&self) -> String {
        let title = self.session.client.title().await;
        title.unwrap_or_else(|error| panic!("title of the page: {error}"))
    }

    /// The cookies that the page's address would get, with `name`, `value`, `httpOnly`, `secure` and
    /// `sameSite`.
    ///
    /// # Panics
    ///
    /// When the browser does not answer.
    pub async fn cookies(&self) -> Vec<Value> {
        let cookies = self.session.client.get_all_cookies().await;
        let cookies = cookies.unwrap_or_else(|error| panic!("cookies of the page: {error}"));
        let described = cookies.iter().map(|cookie| {
            json!({
                "name": cookie.name(),
                "value": cookie.value(),
                "httpOnly": cookie.http_only(),
                "secure": cookie.secure(),
                "sameSite": cookie.same_site().map(|site| site.to_string()),
            })
        });
        described.collect()
    }

    /// The errors in the browser's console since the last call, on all pages: blocked by a policy,
    /// thrown by a script, or not loaded.
    pub async fn console_errors(&self) -> Vec<String> {
        let entries = self.session.console().await;
        let errors = entries.iter().filter(|entry| entry["level"] == "SEVERE");
        let messages = errors.map(|entry| entry["message"].as_str().unwrap_or_default());
        messages.map(str::to_owned).collect()
    }

    async fn texts_now(&self, css: &str) -> Result<Vec<String>, CmdError> {
        let mut texts = Vec::new();
        for element in self.session.client.find_all(Locator::Css(css)).await? {
            texts.push(element.text().await?);
        }
        Ok(texts)
    }
}
