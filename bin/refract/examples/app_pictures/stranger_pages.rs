//! The pages without a session, and the errors for a reviewer.

use crate::picture_book::PictureBook;

/// The address of the reviewer.
pub(crate) const EMAIL: &str = "robin@example.com";
const PASSWORD: &str = "zy!3kQ9 dab.x";
const RESULTS: &str = "/prisms/support-triage/results";

/// Takes the pictures, first with the path of a link that invites a reviewer.
pub(crate) async fn take(book: &mut PictureBook, link: &str) {
    book.browser.clear_cookies().await;
    book.take_page("sign-in", "/sign-in").await;
    book.browser.fill("#email", EMAIL).await;
    book.browser.fill("#password", "not the password").await;
    book.browser.follow("button.main").await;
    book.take("sign-in-refused").await;

    book.take_page("join", link).await;
    join(book, "another password").await;
    book.take("join-refused").await;
    join(book, PASSWORD).await;
    book.take_page("prism-reviewer", "/prisms/support-triage")
        .await;
    book.take_page("refused-role", "/keys").await;
    book.take_page("refused-unknown", "/prisms/no-such-prism")
        .await;

    book.open_page(RESULTS).await;
    book.browser.follow("tbody a").await;
    book.browser.choose("[name=\"mark.topic\"]", "other").await;
    book.browser.clear_cookies().await;
    book.browser.follow("form[action$=\"/marks\"] button").await;
    book.take("signed-out").await;
    book.take_page("link-used", link).await;
}

/// Takes the picture of a person's first page after their password was reset by this link.
pub(crate) async fn take_notice(book: &mut PictureBook, link: &str) {
    book.open_page(link).await;
    join(book, PASSWORD).await;
    book.take_page("notice", "/").await;
}

/// Fills and sends the form of the link. The password is repeated as given.
async fn join(book: &PictureBook, repeated: &str) {
    book.browser.fill("#name", "Robin").await;
    book.browser.fill("#password", PASSWORD).await;
    book.browser.fill("#password_again", repeated).await;
    book.browser.follow("button.main").await;
}
