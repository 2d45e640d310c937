//! The pages of keys and people, and the sheet of components.

use crate::picture_book::PictureBook;

/// Takes the pictures. Returns the path of a link that invites a reviewer.
pub(crate) async fn take(book: &mut PictureBook) -> String {
    book.take_page("keys", "/keys").await;
    book.browser.fill("#name", "ticket importer").await;
    book.browser.follow("form.narrow button.main").await;
    book.take("key-made").await;
    book.open_page("/keys").await;
    book.browser.click("td summary").await;
    book.take("keys-revoking").await;

    book.take_page("people", "/people").await;
    book.take_page("events", "/events").await;
    book.browser.fill("#email", "robin@example.com").await;
    book.browser.choose("#role", "reviewer").await;
    book.browser.follow("form.narrow button.main").await;
    book.take("people-invited").await;
    let link = book.browser.text(".notice pre").await;
    book.open_page("/people").await;
    book.browser.click("td summary").await;
    book.take("people-removing").await;

    book.take_page("components", "/components").await;
    let (_, token) = link.split_once("/join/").expect("a link that invites");
    format!("/join/{}", token.trim())
}
