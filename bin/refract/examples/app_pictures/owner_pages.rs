//! The pages of keys, events and people, and the component sheet.

use crate::picture_book::PictureBook;

/// Takes the pictures. Returns the path of a link that invites a reviewer.
pub(crate) async fn take(book: &mut PictureBook) -> String {
    book.take_page("keys", "/keys").await;
    book.browser.fill("#name", "ticket importer").await;
    // a browser expects the parts of a date in the order of its locale
    book.browser.fill("#expires", "01012100").await;
    book.browser.follow("form.narrow button.main").await;
    book.take("key-made").await;
    book.open_page("/keys").await;
    book.browser.click("td summary").await;
    book.take("keys-revoking").await;

    book.take_page("usage", "/usage").await;
    book.take_page("events", "/events").await;
    book.take_page("people", "/people").await;
    book.browser.fill("#email", "robin@example.com").await;
    book.browser.choose("#role", "reviewer").await;
    book.browser.follow("form.narrow button.main").await;
    book.take("people-invited").await;
    let link = book.browser.text(".notice pre").await;
    book.open_page("/people").await;
    book.browser.click("td summary").await;
    book.take("people-removing").await;

    book.take_page("me", "/me").await;
    book.browser
        .fill("#present_password", "not the password")
        .await;
    book.browser.fill("#password", "another 9kQ3 one").await;
    book.browser.fill("#password_again", "another").await;
    book.browser
        .follow("form[action=\"/me/password\"] button")
        .await;
    book.take("me-refused").await;

    book.take_page("components", "/components").await;
    let (_, token) = link.split_once("/join/").expect("a link that invites");
    format!("/join/{}", token.trim())
}
