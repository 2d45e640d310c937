//! The appearance and behaviour of pages with and without scripts.

use refract_app::route_table;
use refract_test_stack::browser;
use refract_test_stack::marked_texts::marked_texts;
use refract_test_stack::service::{Backend, LENS_FILE, PRISM, Service, example_prism, text};
use refract_test_support::browser::{Browser, BrowserSettings, BrowserTheme};
use refract_test_support::on_both;
use serde_json::{Value, json};

use super::{at, joined, with_scripts};
use crate::runs::checked;

on_both!(
    a_text_is_tried_and_a_cutoff_moved_with_scripts,
    a_text_is_tried_and_a_cutoff_moved_without_scripts,
);

async fn a_text_is_tried_and_a_cutoff_moved_with_scripts(backend: Backend) {
    tried_and_moved(backend, true).await;
}

async fn a_text_is_tried_and_a_cutoff_moved_without_scripts(backend: Backend) {
    tried_and_moved(backend, false).await;
}

async fn tried_and_moved(backend: Backend, scripts: bool) {
    if !Browser::available() {
        return;
    }
    let service = Service::start(backend).await;
    let made = service.create(&json!({"text": "an old text"})).await;
    let id = text(&made.value(), "id");
    let browser = joined(&service, with_scripts(scripts), "ada@example.com", "owner").await;
    browser
        .open(&at(&service, &format!("/prisms/{PRISM}/try")))
        .await;
    browser
        .fill("[name=\"fields.text\"]", "Where is my <b>order</b>? 🦊")
        .await;
    browser.click("button.main").await;
    browser.wait_until_text("main", "70.0 %").await;

    browser
        .open(&at(&service, &format!("/prisms/{PRISM}/lens")))
        .await;
    if scripts {
        let move_handle = "const handle = document.querySelector('[data-handle=yes_from]'); \
            handle.value = '90'; handle.dispatchEvent(new Event('input', {bubbles: true})); \
            return document.querySelector('[data-count=no]').textContent \
                + ' ' + document.querySelector('[data-count=changed]').textContent;";
        let seen = browser.evaluate(move_handle, &[]).await;
        assert_eq!(seen, "2 2", "counts follow at once");
        browser.wait_until_text("#preview", "Yes → No").await;
    } else {
        browser.fill("[data-cutoff=yes_from]", "90").await;
        browser.follow("button[value=preview]:not(.unseen)").await;
        browser
            .wait_until_text("#changed-results", "2 of 2 stored results")
            .await;
    }
    let before = service.read(&id, "").await.value();
    assert_eq!(before["answers"]["angry"], "yes", "nothing is saved yet");
    browser.follow("button[formaction$=\"/lens/save\"]").await;
    browser.wait_until_text("main", "The lens is saved").await;
    let after = service.read(&id, "").await.value();
    assert_eq!(after["answers"]["angry"], "no");
    assert_eq!(browser.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn no_page_has_a_barrier() {
    let backend = Backend::Sqlite;
    let Some(axe) = Browser::axe() else { return };
    let service = Service::start(backend).await;
    let made = service.create(&json!({"text": "a text", "ref": "r"})).await;
    let id = text(&made.value(), "id");
    let mut editor = browser::joined(&service, "editor@example.com", "editor").await;
    let run = checked(&mut editor, "in.csv", b"text\na text\n").await;
    let retests = format!("/prisms/{PRISM}/retests");
    let typed = [("texts", "10"), ("model", ""), ("version", "")];
    let started = editor.post(&retests, &typed).await;
    let retest = started.header("location").unwrap().to_owned();
    // the first change of a lens has a page
    service.run(&["lens", "set", PRISM, LENS_FILE]).await.done();
    for (theme, width) in [(BrowserTheme::Light, 1440), (BrowserTheme::Dark, 360)] {
        let settings = BrowserSettings {
            theme,
            width,
            ..BrowserSettings::default()
        };
        let browser = joined(
            &service,
            settings,
            &format!("ada{width}@example.com"),
            "owner",
        )
        .await;
        let mut defects = Vec::new();
        for route in route_table().filter(|route| !route.is_action) {
            let is_page = ![
                "/assets",
                "/file",
                "/download",
                "/as/",
                "/progress",
                "/refused",
                ".csv",
                // leads to the sign-in provider, which there is none of here
                "/sign-on",
            ]
            .iter()
            .any(|part| route.pattern.contains(part));
            let is_of_visitor = ["{token}", "{sitting}", "{example}"]
                .iter()
                .any(|part| route.pattern.contains(part));
            if !is_page || is_of_visitor {
                continue;
            }
            let path = route.pattern.replace("{slug}", PRISM);
            let path = path.replace("/runs/{id}", &run);
            let path = path.replace(&format!("{retests}/{{id}}"), &retest);
            let path = path.replace("{id}", &id).replace("{n}", "1");
            browser.open(&at(&service, &path)).await;
            let found = browser.accessibility_violations(&axe).await;
            defects.extend(found.into_iter().map(|defect| format!("{path}: {defect}")));
            let wide = "return document.documentElement.scrollWidth > window.innerWidth;";
            if browser.evaluate(wide, &[]).await == true {
                defects.push(format!("{path}: wider than {width} pixels"));
            }
        }
        assert_eq!(defects, [""; 0], "{width}");
        assert_eq!(browser.console_errors().await, [""; 0]);
    }
}

#[tokio::test]
async fn no_page_of_a_large_prism_has_a_barrier() {
    let Some(axe) = Browser::axe() else { return };
    let service = Service::start(Backend::Sqlite).await;
    let options = (0..40).map(|option| json!({"label": format!("Option {option}")}));
    let options: Value = options.collect();
    let questions = (0..100).map(|question| {
        json!({"key": format!("q{question}"), "type": "choice", "text": format!("Question {question}?"), "options": options})
    });
    let prism = json!({
        "name": "Large",
        "fields": [{"key": "text", "label": "Text"}],
        "questions": questions.collect::<Value>(),
    });
    let file = service.file("large.json", &prism);
    service.run(&["prism", "create", &file]).await.done();
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "owner").await;
    let mut defects = Vec::new();
    for page in [
        "", "/edit", "/try", "/lens", "/results", "/review", "/quality",
    ] {
        browser
            .open(&at(&service, &format!("/prisms/large{page}")))
            .await;
        let open = "for (const fold of document.querySelectorAll('details')) fold.open = true;";
        browser.evaluate(open, &[]).await;
        let found = browser.accessibility_violations(&axe).await;
        defects.extend(found.into_iter().map(|defect| format!("{page}: {defect}")));
    }
    assert_eq!(defects, [""; 0]);
}

/// Words without a place to break, in every text that somebody writes.
const LONG_WORD: &str = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk";

#[tokio::test]
async fn no_page_scrolls_sideways_whatever_the_data() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    let mut prism = example_prism();
    prism["fields"][0]["label"] = json!("הטקסט");
    for question in prism["questions"].as_array_mut().unwrap() {
        question["text"] = json!(format!("האם {LONG_WORD}?"));
        for kind in ["options", "levels"] {
            let outcomes = question.get_mut(kind).and_then(Value::as_array_mut);
            for option in outcomes.into_iter().flatten() {
                let label = text(option, "label");
                if option.get("key").is_none() {
                    option["key"] = json!(label.to_lowercase().replace(' ', "_"));
                }
                option["label"] = json!(format!("{LONG_WORD} {label}"));
            }
        }
    }
    let file = service.file("long.json", &prism);
    service.run(&["prism", "save", PRISM, &file]).await.done();
    let rename = ["prism", "rename", PRISM, LONG_WORD];
    service.run(&rename).await.done();
    service.ask_and_mark(&marked_texts(130)).await;
    let body = json!({"text": LONG_WORD.repeat(4), "ref": LONG_WORD});
    let id = text(&service.create(&body).await.value(), "id");
    service.run(&["lens", "set", PRISM, LENS_FILE]).await.done();
    let mut editor = browser::joined(&service, "editor@example.com", "editor").await;
    let file_name = format!("{LONG_WORD}.csv");
    let rows = format!("text,{LONG_WORD}\n{LONG_WORD},{LONG_WORD}\n");
    let run = checked(&mut editor, &file_name, rows.as_bytes()).await;
    let settings = BrowserSettings {
        width: 360,
        ..BrowserSettings::default()
    };
    let browser = joined(&service, settings, "ada@example.com", "owner").await;
    let mut wide = Vec::new();
    let of_prism = [
        "",
        "/edit",
        "/try",
        "/lens",
        "/lens?column=0",
        "/lens?column=1",
        "/lens?column=2",
        "/results",
        "/results?order=least_sure",
        "/results?status=failed",
        "/review",
        "/quality",
        "/quality?question=angry",
        "/quality?question=urgency",
        "/runs",
        "/retests",
        "/examples",
        "/examples/new",
        "/versions/2",
    ];
    let paths = of_prism.iter().map(|path| format!("/prisms/{PRISM}{path}"));
    let others = [
        "/",
        "/prisms/new",
        "/usage",
        "/events",
        "/keys",
        "/people",
        "/me",
    ];
    let others = others.iter().map(|path| (*path).to_owned());
    let found = [format!("/results/{id}"), run];
    for path in paths.chain(others).chain(found) {
        browser.open(&at(&service, &path)).await;
        let script = "for (const fold of document.querySelectorAll('details')) fold.open = true;
            return document.documentElement.scrollWidth > innerWidth;";
        if browser.evaluate(script, &[]).await == true {
            wide.push(path);
        }
    }
    assert_eq!(wide, [""; 0]);
}
