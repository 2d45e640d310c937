//! The draft of an edited prism over HTTP: kept, discarded on purpose, never saved twice.

use refract_test_stack::browser::forms::{inputs, post, post_through};
use refract_test_stack::browser::joined;
use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    a_draft_is_kept_and_discarded_on_purpose_only,
    two_tabs_never_overwrite_each_other,
    nothing_happens_twice,
    test_texts_are_answered_beside_the_words,
);

const EDIT: &str = "/prisms/support-triage/edit";
const DRAFT: &str = "/prisms/support-triage/edit/draft";
const ACTION: &str = "action=\"/prisms/support-triage/edit\"";
const REVIEW: &str = "id=\"before-saving\"";

fn value<'a>(form: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = form.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

async fn a_draft_is_kept_and_discarded_on_purpose_only(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut eve = joined(&service, "eve@example.com", "editor").await;
    let form = inputs(&ada.get(EDIT).await, ACTION);
    let typed = [("act", "refresh"), ("context", "Typed.")];
    let kept = post_through(&mut ada, EDIT, &form, &typed).await;
    assert!(kept.body.contains("Your draft of <time"), "{}", kept.body);
    // another tab, a reload, another browser
    let mut elsewhere = refract_test_stack::browser::PlainBrowser::new(&service);
    elsewhere
        .sign_in("ada@example.com", refract_test_stack::browser::PASSWORD)
        .await;
    let again = elsewhere.get(EDIT).await;
    let form = inputs(&again, ACTION);
    assert_eq!(value(&form, "context"), Some("Typed."));
    let eves = inputs(&eve.get(EDIT).await, ACTION);
    assert_eq!(value(&eves, "context"), Some("We sell bicycles online."));
    let discard = inputs(&again, &format!("action=\"{DRAFT}\""));
    let gone = post_through(&mut ada, DRAFT, &discard, &[("act", "discard")]).await;
    assert!(
        gone.body.contains("Your draft is discarded."),
        "{}",
        gone.body
    );
    let after = inputs(&gone, ACTION);
    assert_eq!(value(&after, "context"), Some("We sell bicycles online."));
    // a tab that was open all the while does not bring it back unasked
    let late = post(&mut elsewhere, EDIT, &form, &[("act", "refresh")]).await;
    assert_eq!(late.status, 409, "{late:?}");
    assert!(
        late.body.contains("saved or discarded since"),
        "{}",
        late.body
    );
    let late = inputs(&late, ACTION);
    assert_eq!(value(&late, "context"), Some("Typed."), "and loses nothing");
    let mine = post_through(&mut elsewhere, EDIT, &late, &[("act", "mine")]).await;
    assert_eq!(value(&inputs(&mine, ACTION), "context"), Some("Typed."));
    let kept = inputs(&ada.get(EDIT).await, ACTION);
    assert_eq!(value(&kept, "context"), Some("Typed."));
}

async fn two_tabs_never_overwrite_each_other(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let first = inputs(&ada.get(EDIT).await, ACTION);
    let second = inputs(&ada.get(EDIT).await, ACTION);
    let typed = [("act", "refresh"), ("context", "In the first tab.")];
    assert_eq!(post(&mut ada, EDIT, &first, &typed).await.status, 303);
    // the first tab may store again without having seen the reply
    let typed = [("act", "refresh"), ("context", "In the first tab, again.")];
    assert_eq!(post(&mut ada, EDIT, &first, &typed).await.status, 303);
    let typed = [("act", "review"), ("context", "In the second tab.")];
    let refused = post(&mut ada, EDIT, &second, &typed).await;
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(
        refused.body.contains("changed in another tab at"),
        "{}",
        refused.body
    );
    let second = inputs(&refused, ACTION);
    assert_eq!(value(&second, "context"), Some("In the second tab."));
    let stored = inputs(&ada.get(EDIT).await, ACTION);
    assert_eq!(value(&stored, "context"), Some("In the first tab, again."));
}

async fn nothing_happens_twice(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut again = joined(&service, "ben@example.com", "editor").await;
    again.keep("refract", ada.value_of("refract"));
    // a double click on Create, and the same form once more after Back
    let new = "/prisms/new/edit";
    let form = inputs(&ada.get(new).await, "action=\"/prisms/new/edit\"");
    let create = [
        ("act", "save"),
        ("name", "Twice"),
        ("questions.0.text", "Angry?"),
    ];
    let (one, two) = tokio::join!(
        post(&mut ada, new, &form, &create),
        post(&mut again, new, &form, &create)
    );
    let three = post(&mut ada, new, &form, &create).await;
    for answer in [&one, &two, &three] {
        let location = answer.header("location");
        assert_eq!(location, Some("/prisms/twice?done=created"), "{answer:?}");
    }
    // a double click on Add, and on Save
    let form = inputs(&ada.get(EDIT).await, ACTION);
    let add = [("act", "questions.0.options.add")];
    let (one, two) = tokio::join!(
        post(&mut ada, EDIT, &form, &add),
        post(&mut again, EDIT, &form, &add)
    );
    assert_eq!((one.status, two.status), (303, 303), "{two:?}");
    let form = inputs(&ada.get(EDIT).await, ACTION);
    assert!(value(&form, "questions.0.options.3.label").is_some());
    assert_eq!(value(&form, "questions.0.options.4.label"), None);
    let review = [
        ("act", "review"),
        ("questions.0.options.3.label", "Warranty"),
    ];
    let review = post_through(&mut ada, EDIT, &form, &review).await;
    let form = inputs(&review, REVIEW);
    let save = [("act", "save")];
    tokio::join!(
        post_through(&mut ada, DRAFT, &form, &save),
        post_through(&mut again, DRAFT, &form, &save)
    );
    let late = post_through(&mut ada, DRAFT, &form, &save).await;
    assert!(
        late.body
            .contains("That draft was saved or discarded before."),
        "{}",
        late.body
    );
    let prisms = service.run(&["prism", "list", "--json"]).await.lines();
    assert_eq!(prisms.len(), 2, "{prisms:?}");
    let versions = format!("/prisms/{PRISM}/versions");
    let (second, third) = (format!("{versions}/2"), format!("{versions}/3"));
    assert_eq!(ada.get(&second).await.status, 200);
    assert_eq!(ada.get(&third).await.status, 404);
}

async fn test_texts_are_answered_beside_the_words(backend: Backend) {
    let service = Service::start(backend).await;
    assert_eq!(
        service.create(&json!({ "text": "stored" })).await.status,
        200
    );
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let form = inputs(&ada.get(EDIT).await, ACTION);
    let asked = service.asked();
    let test = [("act", "test"), ("texts.0.0", "My <own> text")];
    let page = post_through(&mut ada, EDIT, &form, &test).await;
    assert_eq!(service.asked() - asked, 1);
    let (_, docked) = page.body.split_once("id=\"texts\"").unwrap();
    for words in ["My &lt;own&gt; text", "<bdi>Yes</bdi>"] {
        assert!(docked.contains(words), "{words}: {docked}");
    }
    assert!(!docked.contains("before the last change"));
    let form = inputs(&page, ACTION);
    let changed = [("act", "refresh"), ("context", "New.")];
    let page = post_through(&mut ada, EDIT, &form, &changed).await;
    assert!(page.body.contains("By your words before the last change"));
    assert_eq!(service.asked() - asked, 1, "only on demand");
    let results = ada.get(&format!("/prisms/{PRISM}/results")).await;
    assert_eq!(results.body.matches("href=\"/results/").count(), 1);
}
