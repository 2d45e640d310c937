//! The five tasks of a new user, done only with what the pages show.

use std::process::Stdio;

use refract_test_stack::http::within_patience;
use refract_test_stack::service::{Backend, PRISM, Service, Setup};
use refract_test_support::browser::{Browser, BrowserSettings, Key};
use refract_test_support::model_server::{Script, ScriptedReply, system_one_answers};
use refract_test_support::on_both;
use serde_json::{Value, json};
use tokio::process::Command;

use super::joined;

on_both!(a_new_user_does_the_five_tasks);

/// Old messages, each with a ref. The writer of the first two is certainly angry, that of the next
/// two perhaps, the others are not.
const OLD: [(&str, &str); 6] = [
    ("Outrageous, I was charged twice!", "old-1"),
    ("Outrageous service, \"again\".", "old-2"),
    ("Hm, where is my bike?", "old-3"),
    ("Hm, I am still waiting.", "old-4"),
    ("Thank you for the quick answer.", "old-5"),
    ("Do you sell helmets?", "old-6"),
];

async fn a_new_user_does_the_five_tasks(backend: Backend) {
    if !Browser::available() {
        return;
    }
    let setup = Setup {
        script: Script::from(moods()),
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    for (message, reference) in OLD {
        let body = json!({"text": message, "ref": reference});
        assert_eq!(service.create(&body).await.status, 200);
    }
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "owner").await;
    browser.follow_on("Support triage").await;
    a_text_is_tried(&browser).await;
    a_cutoff_is_moved(&browser).await;
    a_second_version_is_made(&browser).await;
    angry_messages_are_taken_along(&browser, &service).await;
    a_key_is_made_and_the_shown_call_runs(&browser).await;
    assert_eq!(browser.console_errors().await, [""; 0]);
}

/// A model that rates the writer's anger.
fn moods() -> ScriptedReply {
    ScriptedReply::with(|request| {
        let body = request.text();
        let yes = [("Outrageous", 0.9), ("Hm,", 0.6)];
        let yes = yes.iter().find(|(word, _)| body.contains(word));
        let mut reply = system_one_answers(request);
        reply["answers"]["angry"]["noul"] = json!(yes.map_or(0.2, |(_, yes)| *yes));
        reply
    })
}

async fn a_text_is_tried(browser: &Browser) {
    browser.follow_on("Try").await;
    browser
        .fill_in("Message", "Thank you, the bike is here.")
        .await;
    browser.click_on("Answer").await;
    browser.wait_until_text("#answer", "20.0 %").await;
    browser.wait_until_text("main", "Answered.").await;
}

async fn a_cutoff_is_moved(browser: &Browser) {
    browser.follow_on("Results").await;
    assert_eq!(
        answers(browser).await,
        ["No", "No", "No", "Yes", "Yes", "Yes", "Yes"]
    );
    browser.follow_on("Lens").await;
    let twenty_percent = Key::Right.to_string().repeat(20);
    let handle = "Handle: Yes from";
    browser.press_in(handle, &twenty_percent).await;
    assert_eq!(browser.value_in("Yes from").await, "70");
    let counts = browser.texts(".shares [data-count]").await;
    assert_eq!(counts, ["5", "0", "2"]);
    let changed = "2 of 7 stored results would change";
    browser.wait_until_text("main", changed).await;
    browser.wait_until_text("#preview", "Yes → No").await;
    browser.follow_on("Save the lens").await;
    browser.wait_until_text("main", "The lens is saved").await;
    browser.follow_on("Results").await;
    assert_eq!(
        answers(browser).await,
        ["No", "No", "No", "No", "No", "Yes", "Yes"]
    );
}

/// The answers about anger in the table, newest first.
async fn answers(browser: &Browser) -> Vec<String> {
    let headings = browser.texts("thead th").await;
    // the question, and beneath it the name of the column
    let is_angry = |heading: &String| heading.lines().eq(["Is the writer angry?", "angry"]);
    let column = headings.iter().position(is_angry);
    let column = format!("tbody tr > :nth-child({})", column.unwrap() + 1);
    let cells = browser.texts(&column).await;
    let labels = cells.iter().filter_map(|cell| cell.lines().next());
    labels.map(str::to_owned).collect()
}

async fn a_second_version_is_made(browser: &Browser) {
    browser.follow_on("Edit").await;
    browser.click_on("Add an option").await;
    browser
        .wait_for("[name=\"questions.0.options.3.label\"]")
        .await;
    // the new option's empty label has the focus
    browser.press(":focus", "Warranty").await;
    browser.follow_on("Review changes").await;
    let review = browser.text("main").await;
    let for_callers = "for callers The option 'Warranty' of 'topic' is new: readers must expect \
                       the value 'warranty'.";
    assert!(review.contains(for_callers), "{review}");
    browser.follow_on("Save version 2").await;
    browser
        .wait_until_text("main", "The version is saved")
        .await;
    browser.follow_on("Try").await;
    browser.fill_in("Message", "Outrageous warranty!").await;
    browser.click_on("Answer").await;
    browser.wait_until_text("#answer", "Version 2").await;
    browser.wait_until_text("#answer", "Warranty").await;
}

async fn angry_messages_are_taken_along(browser: &Browser, service: &Service) {
    let of_another_month = json!({"text": "Outrageous!", "ref": "old-0", "version": 1});
    service.create_old(&of_another_month).await;
    browser.follow_on("Results").await;
    browser.choose_in("angry", "Yes").await;
    browser.choose_in("Version", "1").await;
    browser.follow_on("Filter").await;
    browser.follow_on("This week").await;
    assert_eq!(answers(browser).await, ["Yes", "Yes"]);
    browser.click_on("csv").await;
    let name = format!("{PRISM}-results.csv");
    let file = browser.wait_for_download(&name).await;
    let all = service.run(&["results", "export", PRISM]).await.done();
    let is_wanted = |line: &&str| line.contains(",old-1,") || line.contains(",old-2,");
    let mut lines = all.split_inclusive('\n');
    let header = lines.next().unwrap();
    let expected = format!("{header}{}", lines.filter(is_wanted).collect::<String>());
    assert_eq!(String::from_utf8(file).unwrap(), expected);
    assert_eq!(expected.lines().count(), 3, "{all}");
}

async fn a_key_is_made_and_the_shown_call_runs(browser: &Browser) {
    browser.follow_on("Keys").await;
    browser
        .fill_in("Name of the new key", "ticket importer")
        .await;
    browser.follow_on("Make a key").await;
    let shown = browser.text("#curl").await;
    let shell = Command::new("sh")
        .args(["-c", &shown])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let ended = within_patience(shell).await.unwrap();
    let seen = format!("{ended:?}");
    let answer: Value = serde_json::from_slice(&ended.stdout).expect(&seen);
    assert_eq!(
        (&answer["status"], &answer["version"]),
        (&json!("ok"), &json!(2)),
        "{answer}"
    );
    browser.follow_on("I have copied it").await;
    let row = browser.text("tbody tr:last-child").await;
    assert!(
        row.contains("ticket importer") && row.contains("Ada"),
        "{row}"
    );
}
