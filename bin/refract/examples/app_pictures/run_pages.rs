//! The pages of a file run, from its upload to its end.

use crate::picture_book::PictureBook;

const RUNS: &str = "/prisms/support-triage/runs";
/// The messages of the examples, which the demo has answered already.
const MESSAGES: &str = include_str!("../../../../docs/examples/messages.csv");

/// Takes the pictures.
pub(crate) async fn take(book: &mut PictureBook) {
    book.take_page("runs-empty", RUNS).await;
    let folder = tempfile::tempdir().expect("a folder for the file");
    let file = folder.path().join("messages.csv");
    // other refs, so that each row is asked about again
    std::fs::write(&file, MESSAGES.replace("M-", "N-")).expect("the file can be written");
    let file = file.to_str().expect("a path of letters");
    book.browser.press("#file", file).await;
    book.browser.follow("form[enctype] button.main").await;
    book.take("run-columns").await;
    book.browser.follow("form.narrow button.main").await;
    book.browser.wait_until_text("main", "ready to start").await;
    book.take("run-ready").await;
    book.browser
        .follow("form[action$=\"/preview\"] button")
        .await;
    book.browser
        .wait_until_text("main", "Five rows, answered")
        .await;
    book.take("run-previewed").await;
    book.browser
        .follow("form[action$=\"/start\"] button.main")
        .await;
    book.browser
        .wait_until_text("main", "200 of 200 rows")
        .await;
    let open = "for (const details of document.querySelectorAll('details')) details.open = true;";
    book.browser.evaluate(open, &[]).await;
    book.take("run-done").await;
    book.take_page("runs", RUNS).await;
}
