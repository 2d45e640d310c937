//! The pages for creating, changing and trying prisms.

use refract_test_support::browser::Key;

use crate::picture_book::PictureBook;

/// A text that no result of the demo has.
const TEXT: &str = "My order should have been here on Monday. Nobody can tell me where the parcel \
                    is, and I need the bike this weekend. Please answer today!";
const TRIAGE: &str = "/prisms/support-triage";

/// Takes the pictures.
pub(crate) async fn take(book: &mut PictureBook) {
    take_new_prisms(book).await;
    take_edit(book).await;
    take_try(book).await;
    take_lens(book).await;
    book.take_page("review", &format!("{TRIAGE}/review")).await;
    book.browser
        .follow("form[action$=\"/review\"] button.main")
        .await;
    book.take("review-text").await;
    book.take_page("examples", &format!("{TRIAGE}/examples"))
        .await;
    book.take_page("example-new", &format!("{TRIAGE}/examples/new"))
        .await;
    book.take_page("quality", &format!("{TRIAGE}/quality"))
        .await;
    book.take_page("prisms", "/").await;
    book.browser.click("main > details > summary").await;
    book.take("prisms-archived").await;
}

async fn take_new_prisms(book: &mut PictureBook) {
    book.take_page("new-prism", "/prisms/new").await;
    let file = r#"{ "name": "Returns", "fields": [], "questions": [{ "key": "why" }] }"#;
    book.browser.fill("#pasted", file).await;
    book.browser.follow("form.wide button").await;
    book.take("new-prism-refused").await;
    book.take_page("new-prism-blank", "/prisms/new/edit?from=blank")
        .await;

    make_example(book, "lead-qualification").await;
    book.take("prism-made").await;
    book.take_page("lens-empty", "/prisms/lead-qualification/lens")
        .await;
    book.take_page("results-empty", "/prisms/lead-qualification/results")
        .await;

    make_example(book, "review-moderation").await;
    book.browser.click("details:has(.danger) summary").await;
    book.browser.follow("button.danger").await;
    book.take("prism-archived").await;
    book.take_page("try-archived", "/prisms/review-moderation/try")
        .await;
}

async fn make_example(book: &PictureBook, slug: &str) {
    book.open_page("/prisms/new").await;
    let button = format!("form:has(input[value={slug}]) button");
    book.browser.follow(&button).await;
}

async fn take_edit(book: &mut PictureBook) {
    book.take_page("edit", &format!("{TRIAGE}/edit")).await;
    book.browser
        .click("button[value=\"questions.0.options.add\"]")
        .await;
    let option = |name| format!("[name=\"questions.0.options.3.{name}\"]");
    book.browser.fill(&option("label"), "Workshop").await;
    let words = "inspections, repairs and appointments";
    book.browser.fill(&option("description"), words).await;
    let question = "[name=\"questions.1.instructions\"]";
    let words = "Judge the tone, not what happened.";
    book.browser.fill(question, words).await;
    book.browser
        .fill("[name=\"questions.2.text\"]", "How soon must we act?")
        .await;
    book.browser.follow("button[value=review]").await;
    book.take("edit-review").await;
    book.take_for_documents("edit-review", 330).await;
    let trial = format!("{TRIAGE}/edit/trial?choice=random&texts=100");
    book.take_page("edit-trial-price", &trial).await;
    book.browser.follow("#estimate button.main").await;
    book.browser
        .wait_until_text("main", "100 of 100 texts")
        .await;
    book.take("edit-trial").await;
    book.open_page(&format!("{TRIAGE}/edit/review")).await;
    book.browser.follow("button[value=save]").await;
    book.take("prism-saved").await;
    book.take_page("prism", TRIAGE).await;
    book.take_for_documents("prism", 620).await;
    book.take_page("version", &format!("{TRIAGE}/versions/2"))
        .await;
    book.open_page(&format!("{TRIAGE}/edit")).await;
    book.browser.fill("[name=\"questions.0.text\"]", "").await;
    book.browser.follow("button[value=review]").await;
    book.take("edit-refused").await;
}

async fn take_try(book: &mut PictureBook) {
    let path = format!("{TRIAGE}/try");
    book.take_page("try", &path).await;
    book.browser.fill("[name=\"fields.text\"]", TEXT).await;
    book.browser.click("button[value=answer]").await;
    book.browser.wait_until_text("#progress", "Answered").await;
    book.take("try-answered").await;
    book.take_for_documents("try", 600).await;
    book.browser.click("#order-check button").await;
    book.browser.wait_until_text("#progress", "Checked").await;
    book.take("try-orders").await;
    book.browser.choose("#against", "1").await;
    book.browser.click("button[value=compare]").await;
    book.browser.wait_until_text("main", "Both versions").await;
    book.take("try-versions").await;
    book.open_page(&path).await;
    book.browser.fill("#ref", &"long ".repeat(60)).await;
    book.browser.click("button[value=answer]").await;
    book.browser.wait_for(".notice.refused").await;
    book.take("try-refused").await;
}

async fn take_lens(book: &mut PictureBook) {
    let path = format!("{TRIAGE}/lens");
    book.take_page("lens", &path).await;
    book.browser.follow_on("Leave some unsure").await;
    for (name, percent) in [("no_below", 35), ("yes_from", 65)] {
        let slide = format!(
            "const handle = document.querySelector('[data-handle={name}]'); \
             handle.value = {percent}; handle.dispatchEvent(new Event('input', {{bubbles: true}}));"
        );
        book.browser.evaluate(&slide, &[]).await;
    }
    book.browser.wait_for(".label-change.changed").await;
    book.take("lens-draft").await;
    book.take_for_documents("lens", 905).await;
    book.browser.follow("button[formaction$=\"/save\"]").await;
    book.take("lens-saved").await;
    book.browser.follow(".notice a").await;
    book.take("lens-change").await;
    book.open_page(&path).await;
    // the bar at the end of the window may cover what a pointer would click
    let unfold = "document.querySelector('details.columns').open = true;";
    book.browser.evaluate(unfold, &[]).await;
    let enter = Key::Enter.to_string();
    let open = "button[value=\"open.0\"]";
    book.browser.follow_keys(open, &enter).await;
    book.browser
        .fill("[name=\"columns.0.name\"]", "angry")
        .await;
    book.browser.follow("button[formaction$=\"/save\"]").await;
    book.take("lens-refused").await;
}
