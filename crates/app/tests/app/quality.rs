//! The page of a question's quality: its figures are those of the terminal.

mod states;

use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::marked_texts::{json_lines, marked_texts, scripted_side};
use refract_test_stack::service::{Backend, PRISM, Service, example_prism, text};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    every_figure_is_that_of_the_terminal,
    pictures_have_the_terminals_numbers_in_a_table,
    advice_is_that_of_the_terminal_and_opens_a_draft,
    a_guarantee_is_that_of_the_terminal,
    two_versions_are_compared_as_in_the_terminal,
    groups_are_those_of_the_terminal,
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
        .expect(name);
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

/// A percentage with its sign, as in the cells of tables.
fn with_sign(share: &Value) -> String {
    let percent = percent(share);
    let sign = if share.is_null() { "" } else { " %" };
    format!("{percent}{sign}")
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
                with_sign(&outcome["precision"]),
                with_sign(&outcome["recall"]),
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
            let from = percent(&point["confidence"]);
            let (coverage, right) = (percent(&point["coverage"]), percent(&point["accuracy"]));
            let row = format!("|{from}|{coverage}|{right}");
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
        ("wrong", "200", ["--precision", "0.8"]),
        ("yes", "80", ["--yes-precision", "0.8"]),
        ("recall", "75", ["--recall", "0.75"]),
        ("cost", "5", ["--cost-of-wrong-yes", "5"]),
    ] {
        let advised = service
            .evaluated(&[&["--advise", "angry"], &arguments[..]].concat())
            .await;
        let query = format!("?question=angry&goal={goal}&wanted={wanted}");
        let page = page(&mut ada, &query).await;
        let (_, own) = page.split_once("id=\"cutoffs\"").unwrap();
        let (own, _) = own.split_once("</section>").unwrap();
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

async fn a_guarantee_is_that_of_the_terminal(backend: Backend) {
    let service = Service::start(backend).await;
    let mut texts = marked_texts(130);
    for text in &mut texts {
        text.is_angry = text.angry_percent >= 50;
    }
    service.ask_and_mark(&texts).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let arguments = ["--advise", "angry", "--error", "0.04", "--sure", "0.9"];
    let terminal = service.evaluated(&arguments).await;
    assert_eq!(terminal[0]["certified"]["answered"], 130);
    let shown = page(&mut ada, "?question=angry&wanted=40&sure=90").await;
    let (_, section) = shown.split_once("id=\"cutoffs\"").unwrap();
    // 0.5 is in force, and these marks guarantee it
    assert!(
        section.contains("Keep the cutoffs as they are now."),
        "{section}"
    );
    let bound = terminal[0]["certified"]["error_at_most"].as_f64().unwrap();
    let outlook = format!(
        "All new texts are answered automatically. Of 1,000 such answers at most {:.0} are wrong. You \
         can be 90 % sure of that: of 10 such samples of marks, one promises too much.",
        (bound * 1000.0).ceil()
    );
    assert!(section.contains(&outlook), "{outlook} {section}");
    let (_, row) = section
        .split_once("Guarantee<div class=\"hint\">90 % sure</div></th>")
        .unwrap();
    let (row, _) = row.split_once("</tr>").unwrap();
    let row = cells(row);
    assert!(row.contains("50 %|50 %|100.0 %"), "{row}");
    assert!(row.contains("|0 of 130|at most "), "{row}");
    assert!(
        section.contains("For a stricter guarantee, at most "),
        "{section}"
    );
    // another goal is asked for with the same probability
    assert!(section.contains("&amp;sure=90#cutoffs\""), "{section}");
    let refused = page(&mut ada, "?question=angry&wanted=2000").await;
    assert!(refused.contains("id=\"wanted-fault\""), "{refused}");
    let of_all = page(&mut ada, "?question=angry&marks=all").await;
    assert!(of_all.contains("guarantee nothing"), "{of_all}");
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
