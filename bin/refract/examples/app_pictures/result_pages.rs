//! The pages for finding, reading and marking results.

use crate::picture_book::PictureBook;

const RESULTS: &str = "/prisms/support-triage/results";

/// Takes the pictures. `failed` is the id of the failed result.
pub(crate) async fn take(book: &mut PictureBook, failed: &str) {
    book.take_page("results", RESULTS).await;
    book.take_for_documents("results", 560).await;
    for (name, query) in [
        ("results-filtered", "value=topic%3Abilling&status=ok"),
        ("results-failed", "status=failed"),
        ("results-none", "ref=nothing-has-this"),
        ("results-refused", "from=yesterday"),
    ] {
        book.take_page(name, &format!("{RESULTS}?{query}")).await;
    }
    book.take_page("result-failed", &format!("/results/{failed}"))
        .await;

    book.open_page(&format!("{RESULTS}?value=topic%3Adelivery"))
        .await;
    book.browser.follow("tbody tr:nth-child(2) a").await;
    book.take("result").await;
    book.browser
        .choose("[name=\"mark.topic\"]", "delivery")
        .await;
    book.browser.follow("#marks button").await;
    let open = "for (const details of document.querySelectorAll('details')) details.open = true;";
    book.browser.evaluate(open, &[]).await;
    book.take("result-marked").await;
}
