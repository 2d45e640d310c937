//! A draft that is tried on stored texts before it is saved, over HTTP: from the wrong answers of
//! Quality to what gets better and worse, and what cannot be tried.

use refract_test_stack::browser::forms::{inputs, post, post_through};
use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::on_both;

use crate::retests::{DONE, mark_topics, stored};
use crate::runs::page_with;

on_both!(
    other_words_are_tried_on_wrong_answers_before_they_are_saved,
    a_filter_of_results_leads_to_its_trial,
    what_cannot_be_tried_is_reported_and_loses_nothing,
);

const EDIT: &str = "/prisms/support-triage/edit";
const TRIAL: &str = "/prisms/support-triage/edit/trial";
const FORM: &str = "action=\"/prisms/support-triage/edit\"";
const START: &str = "id=\"estimate\"";

async fn other_words_are_tried_on_wrong_answers_before_they_are_saved(backend: Backend) {
    let service = Service::start(backend).await;
    let ids = stored(&service, 30).await;
    mark_topics(&service, &ids).await;
    let results = service.results().await;
    let asked = service.asked();
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let quality = format!("/prisms/{PRISM}/quality?question=topic");
    let quality = ada.get(&quality).await;
    let choice = format!("{TRIAL}?choice=wrong%3Atopic");
    assert!(quality.body.contains(&choice), "{}", quality.body);
    // without a draft the choice waits until the words are changed
    let page = ada.get(&choice).await;
    assert!(page.body.contains("You have no draft"), "{}", page.body);
    let action = format!("{choice}&texts=100");
    let words = [("act", "words")];
    let begun = post(&mut ada, &action, &inputs(&page, START), &words).await;
    let location = begun.header("location");
    assert_eq!(location, Some(&*format!("{EDIT}#questions.0")));
    let form = inputs(&ada.get(EDIT).await, FORM);
    let typed = [("act", "trial"), ("context", "Other <words>.")];
    let page = post_through(&mut ada, EDIT, &form, &typed).await;
    for words in [
        "wrongly answered texts</strong>: about ",
        " model requests and ",
        "no price is known",
        "selected>answered wrongly: ",
    ] {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    assert_eq!(service.asked(), asked, "the price is said first");
    let start = [("act", "start")];
    let form = inputs(&page, START);
    let started = post(&mut ada, &action, &form, &start).await;
    assert_eq!(started.status, 303, "{started:?}");
    let trial = started.header("location").unwrap().to_owned();
    let page = page_with(&mut ada, &trial, DONE).await;
    let wrong = service.asked() - asked;
    assert!((10..30).contains(&wrong), "{wrong}");
    let last = service.model.requests().pop().unwrap();
    assert!(last.text().contains("Other <words>."));
    for words in [
        "Other words on stored texts",
        "Your draft, as its words are now.",
        "Only texts that were answered wrongly",
        &format!("{wrong} marked texts; "),
        " better, ",
        "<span class=\"tag\">better</span>",
        "Download all changes as csv",
    ] {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    // others see what it is, and that it is no version
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let theirs = eve.get(&trial).await;
    assert!(
        theirs.body.contains("A draft by <bdi>Ada</bdi>"),
        "{}",
        theirs.body
    );
    assert_eq!(service.results().await, results, "no result is made");
    let second = ada.get(&format!("/prisms/{PRISM}/versions/2")).await;
    assert_eq!(second.status, 404, "nor a version");
    // after a change the outcome belongs to the draft as it was
    let form = inputs(&ada.get(EDIT).await, FORM);
    let typed = [("act", "review"), ("context", "Yet others.")];
    let review = post_through(&mut ada, EDIT, &form, &typed).await;
    assert!(
        review
            .body
            .contains("By your words before the last change.")
    );
    again_on_the_same_texts(&mut ada, &trial, wrong).await;
}

/// The page of a trial whose draft was changed leads to the same texts.
async fn again_on_the_same_texts(ada: &mut PlainBrowser<'_>, trial: &str, wrong: usize) {
    let changed = ada.get(trial).await;
    let (_, id) = trial.rsplit_once('/').unwrap();
    let again = format!("{TRIAL}?choice=again:{id}&amp;texts={wrong}");
    assert!(changed.body.contains("Your draft was changed since"));
    assert!(changed.body.contains(&again), "{}", changed.body);
    let same = ada.get(&again.replace("&amp;", "&")).await;
    let expected = format!("<strong>{wrong} wrongly answered texts</strong>");
    assert!(same.body.contains(&expected), "{}", same.body);
}

async fn a_filter_of_results_leads_to_its_trial(backend: Backend) {
    let service = Service::start(backend).await;
    stored(&service, 30).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let filtered = format!("/prisms/{PRISM}/results?value=topic:billing");
    let filtered = ada.get(&filtered).await;
    let link = format!("{TRIAL}?value=topic%3Abilling&amp;choice=filter");
    assert!(filtered.body.contains(&link), "{}", filtered.body);
    let (_, found) = filtered.body.split_once("<p class=\"soft\">").unwrap();
    let found = found.split_once(" results, newest first").unwrap().0;
    let form = inputs(&ada.get(EDIT).await, FORM);
    let typed = [("act", "refresh"), ("context", "Other words.")];
    post_through(&mut ada, EDIT, &form, &typed).await;
    let page = ada.get(&link.replace("&amp;", "&")).await;
    let expected = format!("<strong>{found} texts</strong>");
    assert!(page.body.contains(&expected), "{expected}: {}", page.body);
}

async fn what_cannot_be_tried_is_reported_and_loses_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    stored(&service, 3).await;
    let asked = service.asked();
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let form = inputs(&ada.get(EDIT).await, FORM);
    let typed = [("act", "refresh"), ("context", "Kept.")];
    post_through(&mut ada, EDIT, &form, &typed).await;
    let number = "A whole number from 1 to 200.";
    let none = "There is no answered result that can be asked about again.";
    for (query, words) in [
        ("choice=random&texts=0", number),
        ("choice=random&texts=201", number),
        ("choice=random&texts=many", number),
        ("choice=nothing&texts=3", "Choose one of the list."),
        (
            "choice=marked&texts=3",
            "No answered result has a random or imported mark.",
        ),
        ("choice=filter&words=unheard", none),
        ("choice=filter&status=failed", none),
        ("choice=filter&version=0", "set it anew on Results."),
        (
            "choice=wrong:topic",
            "No marked answer to this question is wrong.",
        ),
    ] {
        let address = format!("{TRIAL}?{query}");
        let page = ada.get(&address).await;
        assert_eq!(page.status, 422, "{query}");
        assert!(page.body.contains(words), "{query}: {}", page.body);
        let form = inputs(&page, START);
        let refused = post(&mut ada, &address, &form, &[("act", "start")]).await;
        assert_eq!(refused.status, 422, "{query}");
        assert!(refused.body.contains(words), "{query}: {}", refused.body);
    }
    let page = ada.get(TRIAL).await;
    let start = inputs(&page, START);
    // the draft is changed in another tab after the price was said
    let form = inputs(&ada.get(EDIT).await, FORM);
    let invalid = [("act", "refresh"), ("questions.0.text", "")];
    post_through(&mut ada, EDIT, &form, &invalid).await;
    let late = post(&mut ada, TRIAL, &start, &[("act", "start")]).await;
    assert_eq!(late.status, 409);
    for words in [
        "Your draft was changed meanwhile.",
        "1 thing to put right first.",
    ] {
        assert!(late.body.contains(words), "{words}: {}", late.body);
    }
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    assert_eq!(eve.get(TRIAL).await.status, 403);
    assert_eq!(
        post(&mut eve, TRIAL, &start, &[("act", "start")])
            .await
            .status,
        403
    );
    service.run(&["prism", "archive", PRISM]).await.done();
    let archived = ada.get(TRIAL).await;
    assert!(archived.body.contains("so no model is asked"));
    assert_eq!(service.asked(), asked);
    let form = inputs(&ada.get(EDIT).await, FORM);
    let context = form.iter().find(|(name, _)| name == "context").unwrap();
    assert_eq!(context.1, "Kept.");
}
