//! The form of a prism over HTTP and without scripts: validation errors, edit conflicts, trials,
//! and prisms of the largest size.

use refract_test_stack::browser::forms::{inputs, post};
use refract_test_stack::browser::joined;
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, example_prism, text};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    what_is_wrong_is_reported_when_somebody_asks_and_not_before,
    the_second_of_two_sees_what_each_changed_and_keeps_what_was_typed,
    a_new_name_is_not_taken_back_by_a_form_that_was_open,
    a_trial_shows_what_it_asks_and_saves_nothing,
    a_refused_file_is_reported_error_by_error,
    the_largest_prism_made_in_the_form_is_that_of_the_file,
    the_largest_prism_is_changed_by_its_form,
);

const EDIT: &str = "/prisms/support-triage/edit";
const ACTION: &str = "action=\"/prisms/support-triage/edit\"";

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
    let checked = post(&mut ada, "/prisms/new/edit", &form, &check).await;
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
    let checked = post(&mut ada, "/prisms/new/edit", &form, &remove).await;
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
    // both add an option with a key derived from its label, at the same place
    let add = [("act", "questions.0.options.add")];
    let form = inputs(&post(&mut ada, EDIT, &form, &add).await, ACTION);
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
    let second = post(&mut eve, EDIT, &form, &typed).await;
    assert_eq!(second.status, 409, "{second:?}");
    for words in [
        "Version 2</a>, saved by <bdi>Ada</bdi>, <time",
        "The option 'Spare parts' of 'topic' is new",
        "You call the prism <bdi>Eve &lt;b&gt;sorts&lt;/b&gt;</bdi>",
        "Question 2, text: Fill this in",
    ] {
        assert!(second.body.contains(words), "{words}: {}", second.body);
    }
    let mut corrected: Values = typed.map(|(n, v)| (n.to_owned(), v.to_owned())).into();
    corrected.retain(|(name, _)| name != "questions.1.text");
    let typed: Vec<_> = corrected
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    let second = post(&mut eve, EDIT, &form, &typed).await;
    for words in [
        "The option 'Warranty' of 'topic' is new: readers must expect the value 'warranty'",
        // the change that saving on top would undo
        "The option 'Spare parts' of 'topic' is gone",
    ] {
        assert!(second.body.contains(words), "{words}: {}", second.body);
    }
    let on_top = [("act", "on_top")];
    let carried = inputs(&second, ACTION);
    let form = inputs(&post(&mut eve, EDIT, &carried, &on_top).await, ACTION);
    assert_eq!(value(&form, "based_on"), Some("2"));
    for (name, typed) in &corrected[1..] {
        assert_eq!(value(&form, name), Some(typed.as_str()), "{name}");
    }
    let saved = post(&mut eve, EDIT, &form, &[("act", "save")]).await;
    assert_eq!(saved.status, 303, "{saved:?}");
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    assert_eq!(shown["context"], "Eve wrote that.\n\nAll of it.");
    assert_eq!(shown["questions"][0]["options"][3]["key"], "warranty");
    // a third version, newer than the one the form was rebased on, is a conflict again
    let late = post(&mut eve, EDIT, &carried, &on_top).await;
    let form = inputs(&late, ACTION);
    let third = post(&mut eve, EDIT, &form, &[("act", "save")]).await;
    assert_eq!(third.status, 409, "{third:?}");
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
    let review = post(&mut ada, EDIT, &form, &changed).await;
    for words in [
        "about 2 texts of those answered last",
        "about 2 model requests,",
        "it makes no results",
    ] {
        assert!(review.body.contains(words), "{words}: {}", review.body);
    }
    let asked = service.asked();
    let try_it = [("act", "try")];
    let tried = post(&mut ada, EDIT, &inputs(&review, ACTION), &try_it).await;
    assert_eq!(service.asked() - asked, 2);
    assert_eq!(tried.body.matches("Stored, by version 1</th>").count(), 2);
    let results = ada.get(&format!("/prisms/{PRISM}/results")).await;
    assert_eq!(results.body.matches("href=\"/results/").count(), 2);
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    assert_eq!(shown["context"], "We sell bicycles online.");
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

/// A prism with the most fields, questions and options allowed.
fn largest() -> Value {
    let fields =
        (0..8).map(|n| json!({ "key": format!("field_{n}"), "label": format!("Field {n}") }));
    let option = |question: usize, n: usize| {
        json!({
            "key": format!("o{n}"),
            "label": format!("Option {n} of {question}"),
            "description": format!("\"{n}\" & <{question}>"),
        })
    };
    let questions = (0..100).map(|q| {
        let options = (0..253).map(|n| option(q, n));
        json!({
            "key": format!("question_{q}"),
            "type": "choice",
            "text": format!("Which one of {q}?"),
            "instructions": format!("Judge by {q}."),
            "options": options.collect::<Value>(),
        })
    });
    json!({
        "name": "Largest",
        "context": "c".repeat(8_000),
        "fields": fields.collect::<Value>(),
        "questions": questions.collect::<Value>(),
    })
}

async fn created_from_file(service: &Service, file: &Value) -> (String, Value) {
    let path = service.file("largest.json", file);
    let made = service.run(&["prism", "create", &path]).await.object();
    let slug = text(&made, "slug");
    let shown = service.run(&["prism", "show", &slug]).await.object();
    (slug, shown)
}

async fn the_largest_prism_made_in_the_form_is_that_of_the_file(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let file = largest();
    let (_, by_file) = created_from_file(&service, &file).await;
    let mut values = vec![("act".to_owned(), "save".to_owned())];
    let mut push = |path: &str, object: &Value, keys: &[&str]| {
        for key in keys {
            values.push((format!("{path}{key}"), text(object, key)));
        }
    };
    push("", &file, &["name", "context"]);
    for (n, field) in file["fields"].as_array().unwrap().iter().enumerate() {
        push(&format!("fields.{n}."), field, &["key", "label"]);
    }
    for (n, question) in file["questions"].as_array().unwrap().iter().enumerate() {
        let path = format!("questions.{n}.");
        push(&path, question, &["type", "key", "text", "instructions"]);
        for (n, option) in question["options"].as_array().unwrap().iter().enumerate() {
            let path = format!("{path}options.{n}.");
            push(&path, option, &["key", "label", "description"]);
        }
    }
    let made = post(&mut ada, "/prisms/new/edit", &values, &[]).await;
    assert_eq!(made.status, 303, "{made:?}");
    let address = made.header("location").unwrap().split('?').next().unwrap();
    let shown = ada.get(&format!("{address}/file")).await.value();
    assert_eq!(shown, by_file);
}

async fn the_largest_prism_is_changed_by_its_form(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let (slug, mut expected) = created_from_file(&service, &largest()).await;
    let edit = format!("/prisms/{slug}/edit");
    let action = format!("action=\"{edit}\"");
    let page = ada.get(&edit).await;
    assert!(page.body.len() < 200_000, "{} bytes", page.body.len());
    let form = inputs(&page, &action);
    let open = post(&mut ada, &edit, &form, &[("act", "questions.99.open")]).await;
    let form = inputs(&open, &action);
    let label = "questions.99.options.252.label";
    assert_eq!(value(&form, label), Some("Option 252 of 99"));
    let removed = [("act", "questions.98.remove"), (label, "The last one")];
    let form = inputs(&post(&mut ada, &edit, &form, &removed).await, &action);
    let review = post(&mut ada, &edit, &form, &[("act", "review")]).await;
    assert_eq!(review.status, 200, "{review:?}");
    assert!(review.body.len() < 200_000, "{} bytes", review.body.len());
    assert!(review.body.contains("The question 'question_98' is gone"));
    let form = inputs(&review, &action);
    let saved = post(&mut ada, &edit, &form, &[("act", "save")]).await;
    assert_eq!(saved.status, 303, "{saved:?}");
    expected["questions"][99]["options"][252]["label"] = json!("The last one");
    expected["questions"].as_array_mut().unwrap().remove(98);
    let shown = service.run(&["prism", "show", &slug]).await.object();
    assert_eq!(shown, expected);
}
