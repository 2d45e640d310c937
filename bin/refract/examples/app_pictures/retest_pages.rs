//! The pages of a retest, from its estimate to its end.

use crate::picture_book::PictureBook;

const RETESTS: &str = "/prisms/support-triage/retests";

/// Takes the pictures.
pub(crate) async fn take(book: &mut PictureBook) {
    book.take_page("retests-estimate", &format!("{RETESTS}?texts=200"))
        .await;
    book.browser.follow("#estimate button.main").await;
    book.browser
        .wait_until_text("main", "200 of 200 texts")
        .await;
    book.take("retest").await;
    book.take_page("retests", RETESTS).await;
}
