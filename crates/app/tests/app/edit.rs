//! The form of a prism over HTTP and without scripts: validation errors, edit conflicts, drafts and
//! trials.

use refract_test_stack::browser::forms::{inputs, post, post_through};
use refract_test_stack::browser::joined;
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, example_prism};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    what_is_wrong_is_reported_when_somebody_asks_and_not_before,
    the_second_of_two_sees_what_each_changed_and_keeps_what_was_typed,
    a_new_name_is_not_taken_back_by_a_form_that_was_open,
    a_trial_shows_what_it_asks_and_saves_nothing,
    answers_that_change_come_first_and_are_counted,
    a_draft_is_kept_and_discarded_on_purpose_only,
    two_tabs_never_overwrite_each_other,
    nothing_happens_twice,
    test_texts_are_answered_beside_the_words,
    a_refused_file_is_reported_error_by_error,
);

const EDIT: &str = "/prisms/support-triage/edit";
const DRAFT: &str = "/prisms/support-triage/edit/draft";
const ACTION: &str = "action=\"/prisms/support-triage/edit\"";
const REVIEW: &str = "id=\"before-saving\"";

type Values = Vec<(String, String)>;

fn errors(page: &HttpAnswer) -> usize {
    page.body.matches("class=\"fault\"").count()
}

fn value<'a>(form: &'a Values, name: &str) -> Option<&'a str> {
    let found = form.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

async fn what_is_wrong_is_reported_when_somebody_asks_and_not_before(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let page = ada.get("/prisms/new/edit").await;
    assert_eq!(errors(&page), 0, "{}", page.body);
    let form = inputs(&page, "action=\"/prisms/new/edit\"");
    let check = [("act", "check")];
    let checked = post_through(&mut ada, "/prisms/new/edit", &form, &check).await;
    assert_eq!(
        (checked.status, errors(&checked)),
        (200, 2),
        "{}",
        checked.body
    );
    for place in ["Name: Fill this in", "Question 1, text: Fill this in"] {
        assert!(checked.body.contains(place), "{}", checked.body);
    }
    let focus = checked.body.split_once(" autofocus").unwrap().0;
    assert!(focus.ends_with(
        "id=\"name\" name=\"name\" type=\"text\" value=\"\" dir=\"auto\" autocomplete=\"off\""
    ));
    // errors stay visible after another action, and removing the last question leaves an item with
    // the focus
    let form = inputs(&checked, "action=\"/prisms/new/edit\"");
    let remove = [("act", "questions.0.remove")];
    let checked = post_through(&mut ada, "/prisms/new/edit", &form, &remove).await;
    assert_eq!(errors(&checked), 2, "name and questions: {}", checked.body);
    assert!(
        checked
            .body
            .contains("id=\"questions.add.choice\" autofocus")
    );
    assert!(checked.body.contains(">Question 1 is removed. 0 left.</p>"));
}

async fn the_second_of_two_sees_what_each_changed_and_keeps_what_was_typed(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut eve = joined(&service, "eve@example.com", "editor").await;
    let form = inputs(&ada.get(EDIT).await, ACTION);
    let eves = inputs(&eve.get(EDIT).await, ACTION);
    // both add an option with a key derived from its label, at the same place
    let add = [("act", "questions.0.options.add")];
    let form = inputs(&post_through(&mut ada, EDIT, &form, &add).await, ACTION);
    let eves = inputs(&post_through(&mut eve, EDIT, &eves, &add).await, ACTION);
    let option = "questions.0.options.3.label";
    let save = [("act", "save"), (option, "Spare parts")];
    assert_eq!(post(&mut ada, EDIT, &form, &save).await.status, 303);
    let typed = [
        ("act", "review"),
        ("name", "Eve <b>sorts</b>"),
        ("context", "Eve wrote that.\n\nAll of it."),
        (option, "Warranty"),
        ("questions.1.text", ""),
    ];
    let second = post_through(&mut eve, EDIT, &eves, &typed).await;
    for words in [
        "Version 2</a>, saved by <bdi>Ada</bdi>, <time",
        "The option 'Spare parts' of 'topic' is new",
        "You call the prism <bdi>Eve &lt;b&gt;sorts&lt;/b&gt;</bdi>",
        "Question 2, text: Fill this in",
    ] {
        assert!(second.body.contains(words), "{words}: {}", second.body);
    }
    let eves = inputs(&eve.get(EDIT).await, ACTION);
    let mut typed = typed;
    typed[4].1 = "Is somebody angry?";
    let second = post_through(&mut eve, EDIT, &eves, &typed).await;
    for words in [
        "The option 'Warranty' of 'topic' is new: readers must expect the value 'warranty'",
        // the change that saving on top would undo
        "The option 'Spare parts' of 'topic' is gone",
    ] {
        assert!(second.body.contains(words), "{words}: {}", second.body);
    }
    let on_top = [("act", "on_top")];
    let carried = inputs(&second, &format!("action=\"{DRAFT}\">"));
    let form = post_through(&mut eve, DRAFT, &carried, &on_top).await;
    let form = inputs(&form, ACTION);
    assert_eq!(value(&form, "based_on"), Some("2"));
    for (name, typed) in &typed[1..] {
        assert_eq!(value(&form, name), Some(*typed), "{name}");
    }
    let saved = post(&mut eve, EDIT, &form, &[("act", "save")]).await;
    assert_eq!(saved.status, 303, "{saved:?}");
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    assert_eq!(shown["context"], "Eve wrote that.\n\nAll of it.");
    assert_eq!(shown["questions"][0]["options"][3]["key"], "warranty");
}

async fn a_new_name_is_not_taken_back_by_a_form_that_was_open(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let form = inputs(&ada.get(EDIT).await, ACTION);
    let rename = "/prisms/support-triage/rename";
    assert_eq!(ada.post(rename, &[("name", "Inbox")]).await.status, 303);
    let save = [("act", "save"), ("context", "New.")];
    assert_eq!(post(&mut ada, EDIT, &form, &save).await.status, 303);
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    assert_eq!(
        (&shown["name"], &shown["context"]),
        (&json!("Inbox"), &json!("New."))
    );
}

async fn a_trial_shows_what_it_asks_and_saves_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    for text in ["one", "two"] {
        assert_eq!(service.create(&json!({ "text": text })).await.status, 200);
    }
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let form = inputs(&ada.get(EDIT).await, ACTION);
    let changed = [("act", "review"), ("context", "New.")];
    let review = post_through(&mut ada, EDIT, &form, &changed).await;
    for words in [
        "about 2 texts, and shows",
        "about 2 model requests,",
        "it makes no results",
    ] {
        assert!(review.body.contains(words), "{words}: {}", review.body);
    }
    let asked = service.asked();
    let try_it = [("act", "try"), ("note", "They asked for it.")];
    let tried = post_through(&mut ada, DRAFT, &inputs(&review, REVIEW), &try_it).await;
    assert_eq!(service.asked() - asked, 2);
    assert_eq!(tried.body.matches("Stored, by version 1</th>").count(), 2);
    for words in [
        "<strong>0 of 2 texts</strong> are answered differently.",
        "They asked for it.",
    ] {
        assert!(tried.body.contains(words), "{words}: {}", tried.body);
    }
    // looking again asks nobody again
    let again = ada.get("/prisms/support-triage/edit/review").await;
    assert!(again.body.contains("0 of 2 texts"), "{}", again.body);
    assert_eq!(service.asked() - asked, 2);
    let results = ada.get(&format!("/prisms/{PRISM}/results")).await;
    assert_eq!(results.body.matches("href=\"/results/").count(), 2);
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    assert_eq!(shown["context"], "We sell bicycles online.");
    let save = [("act", "save"), ("note", "They asked for it.")];
    let saved = post(&mut ada, DRAFT, &inputs(&again, REVIEW), &save).await;
    assert_eq!(saved.status, 303, "{saved:?}");
    let history = ada.get(&format!("/prisms/{PRISM}")).await;
    assert!(
        history.body.contains("They asked for it."),
        "{}",
        history.body
    );
}

async fn answers_that_change_come_first_and_are_counted(backend: Backend) {
    let service = Service::start(backend).await;
    for text in ["one", "two"] {
        assert_eq!(service.create(&json!({ "text": text })).await.status, 200);
    }
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let form = inputs(&ada.get(EDIT).await, ACTION);
    let review = [("act", "review"), ("context", "New.")];
    let review = post_through(&mut ada, EDIT, &form, &review).await;
    // the model answers one of the two texts with a No from now on
    let shares = json!({"billing": 0, "delivery": 1, "product": 0, "other": 0, "insufficient_information": 0});
    let no = json!({
        "topic": {"type": "choice", "choice": "delivery", "confidence": 1, "probabilities": shares},
        "angry": {"type": "noul", "noul": 0.05},
        "urgency": {"type": "score", "score": 0, "probabilities": {"0": 1, "1": 0, "2": 0}},
    });
    let reply = json!({"model": "other", "answers": no});
    service
        .model
        .then_once(ScriptedReply::with(move |_| reply.clone()));
    let tried = post_through(&mut ada, DRAFT, &inputs(&review, REVIEW), &[("act", "try")]).await;
    let counted = "<strong>1 of 2 texts</strong> is answered differently.";
    assert!(tried.body.contains(counted), "{}", tried.body);
    let (_, first) = tried.body.split_once("class=\"tried\"").unwrap();
    let (first, second) = first.split_once("class=\"tried\"").unwrap();
    assert!(
        first.contains("<td class=\"changed\"><bdi>No</bdi>"),
        "{first}"
    );
    assert!(!second.contains("class=\"changed\""), "{second}");
}

async fn a_refused_file_is_reported_error_by_error(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut file = example_prism();
    file["name"] = json!("");
    file["questions"][0]["options"][1]["key"] = json!("no key");
    file["questions"][1]["type"] = json!("maybe");
    let body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"pasted\"\r\n\r\n\r\n\
         --x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"<my> triage.json\"\r\n\
         Content-Type: application/json\r\n\r\n{file}\r\n--x--\r\n"
    );
    let request = Request::outside("POST", "/prisms/new")
        .header("Sec-Fetch-Site", "same-origin")
        .header("Content-Type", "multipart/form-data; boundary=x")
        .body(body);
    let refused = ada.send(request).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(refused.body.contains("<bdi>&lt;my&gt; triage.json</bdi>"));
    let (_, list) = refused.body.split_once("id=\"faults\">").unwrap();
    let (list, _) = list.split_once("</ul>").unwrap();
    let places: Vec<_> = list.split("<li><code>").skip(1).collect();
    let places: Vec<_> = places
        .iter()
        .map(|li| li.split('<').next().unwrap())
        .collect();
    let expected = ["name", "questions.0.options.1.key", "questions.1.type"];
    assert_eq!(places, expected, "{list}");
    let kept = inputs(&refused, "enctype=\"multipart/form-data\"");
    let kept: Value = serde_json::from_str(value(&kept, "pasted").unwrap()).unwrap();
    assert_eq!(kept, file);
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
        assert_eq!(location, Some("/prisms/twice?done=saved"), "{answer:?}");
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
    let test = [
        ("act", "test"),
        ("texts.0.0", "My <own> text"),
        ("stored", "random"),
    ];
    let page = post_through(&mut ada, EDIT, &form, &test).await;
    assert_eq!(service.asked() - asked, 2);
    let (_, docked) = page.body.split_once("id=\"texts\"").unwrap();
    for words in [
        "My &lt;own&gt; text",
        "<bdi>Yes</bdi>",
        "<strong>0 of 1 text</strong>",
    ] {
        assert!(docked.contains(words), "{words}: {docked}");
    }
    assert!(!docked.contains("before the last change"));
    let form = inputs(&page, ACTION);
    let changed = [("act", "refresh"), ("context", "New.")];
    let page = post_through(&mut ada, EDIT, &form, &changed).await;
    assert!(page.body.contains("By your words before the last change"));
    assert_eq!(service.asked() - asked, 2, "only on demand");
    let results = ada.get(&format!("/prisms/{PRISM}/results")).await;
    assert_eq!(results.body.matches("href=\"/results/").count(), 1);
}
