//! The form of a prism over HTTP and without scripts: validation errors, edit conflicts and trials.

use refract_test_stack::browser::forms::{inputs, post, post_through};
use refract_test_stack::browser::joined;
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, example_prism};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    what_is_wrong_is_reported_when_somebody_asks_and_not_before,
    the_second_of_two_sees_what_each_changed_and_keeps_what_was_typed,
    a_new_name_is_not_taken_back_by_a_form_that_was_open,
    a_note_is_kept_while_the_words_are_tried,
    a_refused_file_is_reported_error_by_error,
    keys_of_words_in_other_scripts_are_looked_at_before_they_are_saved,
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

async fn a_note_is_kept_while_the_words_are_tried(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let form = inputs(&ada.get(EDIT).await, ACTION);
    let changed = [("act", "review"), ("context", "New.")];
    let review = post_through(&mut ada, EDIT, &form, &changed).await;
    let try_it = [("act", "trial"), ("note", "They asked for it.")];
    let tried = post_through(&mut ada, DRAFT, &inputs(&review, REVIEW), &try_it).await;
    assert!(tried.body.contains("Which texts"), "{}", tried.body);
    let again = ada.get("/prisms/support-triage/edit/review").await;
    let form = inputs(&again, REVIEW);
    assert_eq!(value(&form, "note"), Some("They asked for it."));
    let saved = post(&mut ada, DRAFT, &form, &[("act", "save")]).await;
    assert_eq!(saved.status, 303, "{saved:?}");
    let history = ada.get(&format!("/prisms/{PRISM}")).await;
    assert!(
        history.body.contains("They asked for it."),
        "{}",
        history.body
    );
}

async fn keys_of_words_in_other_scripts_are_looked_at_before_they_are_saved(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let (new, at) = ("/prisms/new/edit", "action=\"/prisms/new/edit\"");
    let form = inputs(&ada.get(new).await, at);
    let typed = [
        ("act", "save"),
        ("name", "怒り"),
        ("questions.0.text", "これは苦情ですか"),
    ];
    let held = post_through(&mut ada, new, &form, &typed).await;
    assert!(held.body.contains("Nothing is saved yet."), "{}", held.body);
    assert_eq!(
        held.body.matches("Proposed; for ever once saved.").count(),
        2
    );
    let form = inputs(&held, at);
    assert_eq!(value(&form, "slug"), Some("nuri"));
    assert_eq!(value(&form, "questions.0.key"), Some("korehakuqingdesuka"));
    let taken = [("act", "save"), ("slug", PRISM)];
    let refused = post_through(&mut ada, new, &form, &taken).await;
    let words = "Another prism has this slug";
    assert!(refused.body.contains(words), "{}", refused.body);
    let chosen = [
        ("act", "save"),
        ("slug", "anger"),
        ("questions.0.key", "complaint"),
    ];
    let made = post(&mut ada, new, &inputs(&refused, at), &chosen).await;
    let location = made.header("location");
    assert_eq!(location, Some("/prisms/anger?done=created"), "{made:?}");
    let shown = service.run(&["prism", "show", "anger"]).await.object();
    assert_eq!(shown["questions"][0]["key"], "complaint");

    // a saved prism keeps its slug, and is asked about what is new
    let edit = "/prisms/anger/edit";
    let at = "action=\"/prisms/anger/edit\"";
    let form = inputs(&ada.get(edit).await, at);
    let form = inputs(
        &post_through(&mut ada, edit, &form, &[("act", "questions.add.choice")]).await,
        at,
    );
    let typed = [
        ("act", "review"),
        ("questions.1.text", "Tone"),
        ("questions.1.options.0.label", "כועס"),
        ("questions.1.options.1.label", "Calm"),
    ];
    let held = post_through(&mut ada, edit, &form, &typed).await;
    assert!(held.body.contains("Nothing is saved yet."), "{}", held.body);
    let form = inputs(&held, at);
    assert_eq!(value(&form, "questions.1.options.0.key"), Some("khvs"));
    let review = post_through(&mut ada, edit, &form, &[("act", "review")]).await;
    assert!(review.body.contains("Save version 2"), "{}", review.body);
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
