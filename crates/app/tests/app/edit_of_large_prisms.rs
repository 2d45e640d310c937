//! The form of a prism of the largest size over HTTP.

use refract_test_stack::browser::forms::{inputs, post, post_through};
use refract_test_stack::browser::joined;
use refract_test_stack::service::{Backend, Service, text};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    the_largest_prism_made_in_the_form_is_that_of_the_file,
    the_largest_prism_is_changed_by_its_form,
    a_hundred_questions_are_light,
);

const REVIEW: &str = "id=\"before-saving\"";

fn value<'a>(form: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = form.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
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
    let open = [("act", "questions.99.open")];
    let open = post_through(&mut ada, &edit, &form, &open).await;
    let form = inputs(&open, &action);
    let label = "questions.99.options.252.label";
    assert_eq!(value(&form, label), Some("Option 252 of 99"));
    let removed = [("act", "questions.98.remove"), (label, "The last one")];
    let form = inputs(
        &post_through(&mut ada, &edit, &form, &removed).await,
        &action,
    );
    let review = post_through(&mut ada, &edit, &form, &[("act", "review")]).await;
    assert_eq!(review.status, 200, "{review:?}");
    assert!(review.body.len() < 200_000, "{} bytes", review.body.len());
    assert!(review.body.contains("The question 'question_98' is gone"));
    let form = inputs(&review, REVIEW);
    let saved = post(
        &mut ada,
        &format!("{edit}/draft"),
        &form,
        &[("act", "save")],
    )
    .await;
    assert_eq!(saved.status, 303, "{saved:?}");
    expected["questions"][99]["options"][252]["label"] = json!("The last one");
    expected["questions"].as_array_mut().unwrap().remove(98);
    let shown = service.run(&["prism", "show", &slug]).await.object();
    assert_eq!(shown, expected);
}

async fn a_hundred_questions_are_light(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let (slug, _) = created_from_file(&service, &largest()).await;
    let edit = format!("/prisms/{slug}/edit");
    let page = ada.get(&edit).await;
    // about 50 KB, and the 8,000 characters of the context
    assert!(page.body.len() < 59_000, "{} bytes", page.body.len());
    for link in ["href=\"#questions.99.open\"", "id=\"questions.99.open\""] {
        assert!(page.body.contains(link), "{link}");
    }
    let form = inputs(&page, &format!("action=\"{edit}\""));
    let open = [("act", "questions.99.open")];
    let open = post_through(&mut ada, &edit, &form, &open).await;
    assert!(open.body.contains("href=\"#questions.99\""));
    assert!(open.body.len() < 300_000, "{} bytes", open.body.len());
}
