//! The page of a question's quality: its figures are those of the terminal.

use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::marked_texts::{json_lines, marked_texts, scripted_side};
use refract_test_stack::service::{Backend, PRISM, Service, example_prism, text};
use refract_test_support::on_both;
use serde_json::{Map, Value, json};

on_both!(
    every_figure_is_that_of_the_terminal,
    pictures_have_the_terminals_numbers_in_a_table,
    advice_is_that_of_the_terminal_and_opens_a_draft,
    two_versions_are_compared_as_in_the_terminal,
    groups_are_those_of_the_terminal,
    too_few_marks_lead_to_the_random_queue,
    marks_of_chosen_results_count_only_on_request,
    wrong_answers_stand_beside_the_words_of_their_option,
    a_filter_that_cannot_be_read_measures_nothing,
    a_page_of_many_questions_and_options_is_small,
);

const QUALITY: &str = "/prisms/support-triage/quality";

async fn page(browser: &mut PlainBrowser<'_>, query: &str) -> String {
    let page = browser.get(&format!("{QUALITY}{query}")).await;
    assert_eq!(page.status, 200, "{page:?}");
    page.body
}

/// The exact value of a figure on the page; `None` if it is undefined.
#[track_caller]
fn figure(page: &str, name: &str) -> Option<f64> {
    let (_, rest) = page
        .split_once(&format!("data-figure=\"{name}\""))
        .unwrap_or_else(|| panic!("no {name}: {page}"));
    let (attributes, _) = rest.split_once('>').unwrap();
    let value = attributes.trim().strip_prefix("value=\"")?;
    Some(value.trim_end_matches('"').parse().unwrap())
}

/// A share with three decimals, the point moved to make it a percentage.
fn percent(share: &Value) -> String {
    let Some(share) = share.as_f64() else {
        return "–".to_owned();
    };
    let thousandths: u32 = format!("{share:.3}").replace('.', "").parse().unwrap();
    format!("{}.{}", thousandths / 10, thousandths % 10)
}

fn number(value: &Value) -> String {
    value
        .as_f64()
        .map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

/// The text of each cell of the page's tables, without markup.
fn cells(page: &str) -> String {
    let mut plain = String::new();
    for part in page.split('<') {
        let (tag, words) = part.split_once('>').unwrap_or(("", part));
        if tag.starts_with("td") || tag.starts_with("th") || tag.starts_with("tr") {
            plain.push('|');
        }
        plain.push_str(words);
    }
    plain
}

async fn every_figure_is_that_of_the_terminal(backend: Backend) {
    let service = Service::start(backend).await;
    service.ask_and_mark(&marked_texts(130)).await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    for line in service.evaluated(&[]).await {
        let key = text(&line, "question");
        let page = page(&mut eve, &format!("?question={key}")).await;
        let mut names = vec![
            "accuracy",
            "accuracy_low",
            "accuracy_high",
            "brier",
            "log_loss",
            "ece",
            "macro_precision",
            "macro_recall",
            "macro_f1",
            "majority_accuracy",
            "auc",
            "coverage_area",
        ];
        if key == "urgency" {
            names.extend(["mean_absolute_error", "within_one", "quadratic_kappa"]);
        }
        for name in names {
            let shown = figure(&page, name).map_or(Value::Null, |it| json!(it));
            assert_eq!(shown, line[name], "{key} {name}");
        }
        let accuracy = format!(">{} %</data>", percent(&line["accuracy"]));
        assert!(page.contains(&accuracy), "{key} {accuracy}");
        let marks = format!("{} random or imported marks", line["marks"]);
        assert!(page.contains(&marks), "{key} {marks}");
        for cell in line["confusion"].as_array().unwrap() {
            let linked = format!(
                "results?answer={key}%3A{}&amp;marks={key}%3A{}\">{}</a>",
                text(cell, "predicted"),
                text(cell, "marked"),
                cell["count"],
            );
            assert!(page.contains(&linked), "{linked} {page}");
        }
        for outcome in line["outcomes"].as_array().unwrap() {
            let row = format!(
                "|{}|{}|{}|{}|{}",
                outcome["marked"],
                outcome["predicted"],
                percent(&outcome["precision"]),
                percent(&outcome["recall"]),
                number(&outcome["f1"]),
            );
            assert!(cells(&page).contains(&row), "{key} {row} {}", cells(&page));
        }
    }
}

async fn pictures_have_the_terminals_numbers_in_a_table(backend: Backend) {
    let service = Service::start(backend).await;
    service.ask_and_mark(&marked_texts(60)).await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    for line in service.evaluated(&[]).await {
        let key = text(&line, "question");
        let page = page(&mut eve, &format!("?question={key}")).await;
        let shown = cells(&page);
        for bin in line["reliability"].as_array().unwrap() {
            let (mean, right) = (
                percent(&bin["mean_probability"]),
                percent(&bin["share_right"]),
            );
            let row = format!("|{mean}|{right}|{}", bin["count"]);
            assert!(shown.contains(&row), "{key} {row}");
        }
        for point in line["coverage"].as_array().unwrap() {
            let from = point["confidence"].as_f64().unwrap();
            let (coverage, right) = (percent(&point["coverage"]), percent(&point["accuracy"]));
            let row = format!("|{from:.2}|{coverage}|{right}");
            assert!(shown.contains(&row), "{key} {row}");
        }
        assert_eq!(page.matches("<svg class=\"plot\"").count(), 3, "{key}");
        assert!(!page.contains("style="), "the policy forbids inline styles");
    }
}

async fn advice_is_that_of_the_terminal_and_opens_a_draft(backend: Backend) {
    let service = Service::start(backend).await;
    service.ask_and_mark(&marked_texts(130)).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    for (goal, wanted, arguments) in [
        ("precision", "80", ["--precision", "0.8"]),
        ("recall", "75", ["--recall", "0.75"]),
        ("cost", "5", ["--cost-of-wrong-yes", "5"]),
    ] {
        let advised = service
            .evaluated(&[&["--advise", "angry"], &arguments[..]].concat())
            .await;
        let query = format!("?question=angry&goal={goal}&wanted={wanted}");
        let page = page(&mut ada, &query).await;
        let (_, own) = page.split_once("<tr class=\"chosen\">").unwrap();
        let (own, _) = own.split_once("</tr>").unwrap();
        let (no_below, yes_from) = (&advised[0]["no_below"], &advised[0]["yes_from"]);
        let held_out = &advised[0]["held_out"];
        let range = |name: &str| {
            let of = |end: &str| percent(&held_out[format!("{name}{end}")]);
            format!("|{} % ({} to {})", of(""), of("_low"), of("_high"))
        };
        for shown in [range("precision"), range("recall"), range("no_precision")] {
            assert!(cells(own).contains(&shown), "{goal} {shown} {}", cells(own));
        }
        let cutoffs = if no_below == yes_from {
            format!("no_below={no_below}\"")
        } else {
            format!("no_below={no_below}&amp;yes_from={yes_from}\"")
        };
        let link = format!("/prisms/{PRISM}/lens?question=angry&amp;{cutoffs}");
        assert!(own.contains(&link), "{link} {own}");
        let lens = link.replace("&amp;", "&").trim_end_matches('"').to_owned();
        assert_eq!(ada.get(&lens).await.status, 200);
    }
    let refused = page(&mut ada, "?question=angry&goal=recall&wanted=200").await;
    assert!(refused.contains("id=\"wanted-fault\""), "{refused}");
}

/// Saves a second version and asks it the same texts, which it answers with `b`.
async fn ask_second_version(service: &Service, rows: &[Value]) {
    let mut prism = example_prism();
    prism["context"] = json!("Another context.");
    let file = service.file("second.json", &prism);
    service.run(&["prism", "save", PRISM, &file]).await.done();
    service.model.then_always(scripted_side("m2", "b"));
    service.ask_rows("second", rows).await;
}

/// Rows whose texts have the answers of both versions.
fn rows_of_two(count: usize) -> Vec<Value> {
    let both = marked_texts(2 * count);
    let (first, second) = both.split_at(count);
    let rows = first.iter().zip(second).enumerate();
    rows.map(|(number, (a, b))| {
        let mut row = a.row(&format!("t{number}"));
        row["text"] = json!(json!({"a": a.answers(), "b": b.answers()}).to_string());
        row
    })
    .collect()
}

/// Asks two versions the same texts, and marks the results of the first.
async fn two_versions(service: &Service) {
    let rows = rows_of_two(60);
    service.model.then_always(scripted_side("m1", "a"));
    service.ask_rows("first", &rows).await;
    std::fs::write(service.folder.path().join("marks.jsonl"), json_lines(&rows)).unwrap();
    service
        .run(&["marks", "import", PRISM, "marks.jsonl"])
        .await
        .done();
    ask_second_version(service, &rows).await;
}

async fn two_versions_are_compared_as_in_the_terminal(backend: Backend) {
    let service = Service::start(backend).await;
    two_versions(&service).await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let sides = ["--a", "version=1", "--b", "version=2", "--json"];
    let compared = service
        .run(&[&["compare", PRISM], &sides[..]].concat())
        .await
        .lines();
    for line in compared {
        let key = text(&line, "question");
        let query = format!("?question={key}&a=version%3A1&b=version%3A2&marks=all");
        let page = page(&mut eve, &query).await;
        for name in ["difference", "mcnemar_p"] {
            assert_eq!(json!(figure(&page, name)), line[name], "{key} {name}");
        }
        for (side, only) in [("a", "only_a_right"), ("b", "only_b_right")] {
            let right = format!("|{} % (", percent(&line[side]["accuracy"]));
            assert!(cells(&page).contains(&right), "{key} {right}");
            assert!(
                cells(&page).contains(&format!("||{}", line[only])),
                "{key} {only}"
            );
        }
        assert!(page.contains("Texts answered differently"), "{page}");
    }
    let same = page(&mut eve, "?question=topic&a=version%3A1&b=version%3A1").await;
    assert!(same.contains("Both are the same"), "{same}");
}

async fn groups_are_those_of_the_terminal(backend: Backend) {
    let service = Service::start(backend).await;
    two_versions(&service).await;
    // by ref, an import marks the newest result: here those of the second version
    service
        .run(&["marks", "import", PRISM, "marks.jsonl"])
        .await
        .done();
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let page = page(&mut eve, "?question=topic").await;
    for (name, of, arguments) in [
        ("Version 1", "version=1", ["--version", "1"]),
        ("m1", "model=m1", ["--model", "m1"]),
    ] {
        let line = &service
            .evaluated(&[&["--question", "topic"], &arguments[..]].concat())
            .await[0];
        let range = |name: &str| percent(&line[name]);
        let row = format!(
            "|{name}|{}|{}|{} % ({} to {})",
            line["marks"],
            line["answered"],
            range("accuracy"),
            range("accuracy_low"),
            range("accuracy_high"),
        );
        assert!(cells(&page).contains(&row), "{row} {}", cells(&page));
        assert!(
            page.contains(&format!("{QUALITY}?question=topic&amp;{of}")),
            "{page}"
        );
    }
}

async fn too_few_marks_lead_to_the_random_queue(backend: Backend) {
    let service = Service::start(backend).await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let queue = format!("/prisms/{PRISM}/review?queue=random&amp;question=angry");
    let none = page(&mut eve, "?question=angry").await;
    assert!(
        none.contains(&queue) && none.contains("30 marks would give ± "),
        "{none}"
    );
    assert!(!none.contains("data-figure"), "{none}");
    service.ask_and_mark(&marked_texts(12)).await;
    let few = page(&mut eve, "?question=angry").await;
    assert!(
        few.contains(&queue) && few.contains("Only 12 marks"),
        "{few}"
    );
    assert!(few.contains(" more would give ± "), "{few}");
    assert!(few.contains("No advice from 12 marks: mark more."), "{few}");
    let none = page(&mut eve, "?question=angry&version=2").await;
    assert!(none.contains("No mark of this question matches."), "{none}");
}

async fn marks_of_chosen_results_count_only_on_request(backend: Backend) {
    let service = Service::start(backend).await;
    let id = text(
        &service.create(&json!({"text": "a text"})).await.value(),
        "id",
    );
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let marked = eve
        .post(&format!("/results/{id}/marks"), &[("mark.angry", "no")])
        .await;
    assert_eq!(marked.status, 303, "{marked:?}");
    let left_out = page(&mut eve, "?question=angry").await;
    if left_out.contains("data-figure") {
        panic!("a mark of a chosen result counts: {left_out}");
    }
    assert!(
        left_out.contains("There is 1 mark of results that somebody chose"),
        "{left_out}"
    );
    let all = page(&mut eve, "?question=angry&marks=all").await;
    assert!(all.contains("no fair sample"), "{all}");
    let line = &service
        .evaluated(&["--question", "angry", "--marks", "all"])
        .await[0];
    assert_eq!(json!(figure(&all, "accuracy")), line["accuracy"]);
}

async fn wrong_answers_stand_beside_the_words_of_their_option(backend: Backend) {
    let service = Service::start(backend).await;
    let mut texts = marked_texts(25);
    for text in &mut texts {
        (text.topic, text.marked_topic) = (1, 0);
    }
    service.ask_and_mark(&texts).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let first = page(&mut ada, "?question=topic&option=billing").await;
    let (_, wrong) = first.split_once("id=\"wrong\"").unwrap();
    assert!(
        wrong.contains("charges"),
        "the option's description: {wrong}"
    );
    let edit = format!("/prisms/{PRISM}/edit#questions.0.options.0");
    assert!(wrong.contains(&edit), "{wrong}");
    let form = ada.get(&format!("/prisms/{PRISM}/edit")).await.body;
    assert!(form.contains("id=\"questions.0.options.0"), "{form}");
    assert_eq!(wrong.matches("href=\"/results/").count(), 20, "{wrong}");
    assert!(
        wrong.contains("{&quot;a&quot;"),
        "texts are escaped: {wrong}"
    );
    let (_, older) = wrong.split_once("rel=\"next\" href=\"").unwrap();
    let (older, _) = older.split_once('"').unwrap();
    let older = ada
        .get(&older.replace("&amp;", "&").replace("#wrong", ""))
        .await
        .body;
    let (_, wrong) = older.split_once("id=\"wrong\"").unwrap();
    assert_eq!(wrong.matches("href=\"/results/").count(), 5, "{wrong}");
}

async fn a_filter_that_cannot_be_read_measures_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    for (query, status) in [
        ("?version=x", 422),
        ("?marks=some", 422),
        ("?from=yesterday", 422),
        ("?question=nothing", 404),
    ] {
        let answer = eve.get(&format!("{QUALITY}{query}")).await;
        assert_eq!(answer.status, status, "{query}");
    }
    let file = eve.get(&format!("{QUALITY}/download?question=topic")).await;
    assert_eq!(file.body, "marked,predicted,count\r\n");
}

/// A prism of 99 Yes / No questions and one choice of 253 options.
fn large_prism() -> Value {
    let options: Vec<_> = (0..253)
        .map(|number| json!({"key": format!("option_{number}"), "label": format!("The option number {number}")}))
        .collect();
    let choice =
        json!({"key": "choice", "type": "choice", "text": "Which one?", "options": options});
    let others = (0..99).map(|number| {
        json!({"key": format!("question_{number}"), "type": "yes_no", "text": format!("Is it so, in case {number}?")})
    });
    let questions: Vec<_> = std::iter::once(choice).chain(others).collect();
    json!({"name": "Large", "fields": [{"key": "text", "label": "Text"}], "questions": questions})
}

async fn a_page_of_many_questions_and_options_is_small(backend: Backend) {
    let service = Service::start(backend).await;
    let file = service.file("large.json", &large_prism());
    service.run(&["prism", "create", &file]).await.done();
    service.model.then_always(scripted_side("m1", "a"));
    let rows = (0..60_usize).map(|number| {
        let mut answers = Map::new();
        let chosen = format!("option_{}", number * 4);
        let confidence = 0.3 + 0.01 * f64::from(u32::try_from(number).unwrap());
        answers.insert("choice".to_owned(), json!({"type": "choice", "choice": chosen,
            "confidence": confidence, "probabilities": {&chosen: confidence, "option_1": 0.1}}));
        for question in 0..99 {
            answers.insert(format!("question_{question}"), json!({"type": "noul", "noul": 0.3}));
        }
        json!({"ref": format!("t{number}"), "expected_choice": format!("option_{}", number * 4 % 25),
            "text": json!({"a": answers, "words": "Words. ".repeat(300)}).to_string()})
    });
    let rows: Vec<_> = rows.collect();
    std::fs::write(service.folder.path().join("rows.jsonl"), json_lines(&rows)).unwrap();
    let asked = [
        "run",
        "large",
        "rows.jsonl",
        "--output",
        "out.jsonl",
        "--concurrency",
        "4",
    ];
    service.run(&asked).await.done();
    service
        .run(&["marks", "import", "large", "rows.jsonl"])
        .await
        .done();
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let page = eve.get("/prisms/large/quality").await;
    assert!(figure(&page.body, "accuracy").is_some());
    assert!(page.body.len() < 100_000, "{} bytes", page.body.len());
}
