//! The app in a real Chromium, as people use it. Without a browser these tests check nothing.

mod answers;
mod codes;
mod editing;
mod examples;
mod first_visit;
mod interrupted;
mod keys;
mod lens;
mod looks;
mod own_page;
mod people;
mod quality;
mod results;
mod reviewing;
mod texts;
mod two_people;

use refract_test_stack::browser::invited;
use refract_test_stack::service::{PRISM, Service};
use refract_test_support::browser::{Browser, BrowserSettings};

const PASSWORD: &str = "zy!3kQ9 dab.x";

/// Opens a browser in which Ada has joined with a role, on the first page. The link contains the
/// app address known to commands, so its path is opened at the node's own address.
pub(crate) async fn joined(
    service: &Service,
    settings: BrowserSettings,
    email: &str,
    role: &str,
) -> Browser {
    joined_as("Ada", service, settings, email, role).await
}

/// Opens a browser in which a person with this name has joined.
async fn joined_as(
    name: &str,
    service: &Service,
    settings: BrowserSettings,
    email: &str,
    role: &str,
) -> Browser {
    let link = invited(service, email, role).await;
    let (_, token) = link.split_once("/join/").unwrap();
    let browser = Browser::start(settings).await;
    browser.open(&at(service, &format!("/join/{token}"))).await;
    join(&browser, name).await;
    browser
}

/// Fills in the invitation page.
async fn join(browser: &Browser, name: &str) {
    browser.fill_in("Name", name).await;
    browser.fill_in("Password", PASSWORD).await;
    browser.fill_in("The password again", PASSWORD).await;
    browser.follow_on("Join").await;
    browser.wait_for("nav[aria-label=Sections]").await;
}

pub(crate) fn at(service: &Service, path: &str) -> String {
    format!("http://{}{path}", service.nodes[0].app)
}

/// Opens one of the prism's pages, such as `/try`.
async fn open(browser: &Browser, service: &Service, page: &str) {
    let path = format!("/prisms/{PRISM}{page}");
    browser.open(&at(service, &path)).await;
}

/// The settings of a browser with or without scripts.
fn with_scripts(scripts: bool) -> BrowserSettings {
    BrowserSettings {
        scripts,
        ..BrowserSettings::default()
    }
}
