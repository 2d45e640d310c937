//! The lens page in a browser: handles by pointer and by keys, what follows them, and phones.

use refract_test_stack::service::{Backend, Service, Setup};
use refract_test_support::browser::{Browser, BrowserSettings, Key};
use refract_test_support::model_server::{Script, ScriptedReply, system_one_answers};
use refract_test_support::on_both;
use serde_json::json;

use super::{joined, open};

on_both!(
    counts_and_changed_results_follow_a_handle,
    a_handle_and_its_save_fit_on_a_phone,
);

const NO: &str = "[data-handle=no_below]";
const YES: &str = "[data-handle=yes_from]";

/// A service with a result at each of these percents, oldest first.
async fn with_results(backend: Backend, percents: &'static [u32]) -> Service {
    let rated = |request: &_| {
        let mut reply = system_one_answers(request);
        let body = request.text();
        let percent = percents
            .iter()
            .find(|it| body.contains(&format!("text {it}.")));
        reply["answers"]["angry"]["noul"] = json!(f64::from(*percent.unwrap()) / 100.0);
        reply
    };
    let setup = Setup {
        script: Script::from(ScriptedReply::with(rated)),
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    for percent in percents {
        let body = json!({"text": format!("text {percent}.")});
        assert_eq!(service.create(&body).await.status, 200);
    }
    service
}

/// The words over the chart that are shown, from left to right in each line.
async fn words_over_chart(browser: &Browser) -> Vec<String> {
    browser.texts(".zones text:not([display=none])").await
}

/// The rows in the list of results, with their texts and labels.
async fn rows(browser: &Browser) -> Vec<String> {
    let texts = browser.texts("#preview tbody tr").await;
    texts
        .into_iter()
        .map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

async fn counts_and_changed_results_follow_a_handle(backend: Backend) {
    if !Browser::available() {
        return;
    }
    let service = with_results(backend, &[10, 42, 48, 52, 55, 58, 61, 90]).await;
    let settings = BrowserSettings::default();
    let browser = joined(&service, settings, "ada@example.com", "editor").await;
    open(&browser, &service, "/lens").await;
    assert_eq!(browser.texts(".shares [data-count]").await, ["3", "0", "5"]);

    // by keys: focus loads the rows, then they follow without a request
    browser.press(YES, &Key::Right.to_string()).await;
    browser
        .wait_until_text("#preview", "No stored result changes")
        .await;
    let ten = Key::Right.to_string().repeat(9);
    browser.press(YES, &ten).await;
    assert_eq!(browser.value("[data-cutoff=yes_from]").await, "60");
    assert_eq!(browser.texts(".shares [data-count]").await, ["6", "0", "2"]);
    assert_eq!(words_over_chart(&browser).await, ["No", "Yes", "60 %"]);
    let heard = browser.attribute(YES, "aria-valuetext").await;
    assert_eq!(heard.as_deref(), Some("60 %: No below, Yes from here up"));
    browser.wait_until_text("#changed-results", "3 of 8").await;
    let expected = [
        "text 58. Yes → No",
        "text 55. Yes → No",
        "text 52. Yes → No",
    ];
    let shown = rows(&browser).await;
    for (row, expected) in shown.iter().zip(expected) {
        assert!(row.contains(expected), "{shown:?}");
    }
    browser.wait_until_text(".drafted", "Draft kept").await;

    // a second cutoff is asked for
    browser.follow_on("Leave some unsure").await;
    assert_eq!(browser.texts(".shares [data-count]").await, ["3", "3", "2"]);

    // by pointer: to the left edge, and no further than 5 %
    browser.drag(NO, ".histogram-axis span").await;
    assert_eq!(browser.value("[data-cutoff=no_below]").await, "5");
    assert_eq!(browser.texts(".shares [data-count]").await, ["0", "6", "2"]);
    let words = ["No", "Unsure", "Yes", "5 %", "60 %"];
    assert_eq!(words_over_chart(&browser).await, words);
    let heard = browser.attribute(NO, "aria-valuetext").await;
    assert_eq!(heard.as_deref(), Some("5 %: No below, Unsure from here up"));
    browser.wait_until_text("#changed-results", "6 of 8").await;
    browser.wait_until_text("#preview", "No → Unsure").await;

    // one handle pushes the other
    browser.fill("[data-cutoff=yes_from]", "45.5").await;
    let moved = "const handle = document.querySelector('[data-handle=no_below]'); handle.value = 70; \
        handle.dispatchEvent(new Event('input', {bubbles: true}));";
    browser.evaluate(moved, &[]).await;
    assert_eq!(browser.value("[data-cutoff=yes_from]").await, "70");

    // a fault stands beside its input, and goes with it
    browser.fill("[data-cutoff=yes_from]", "20").await;
    browser
        .wait_until_text(".numbers", "Yes cannot start below where No ends.")
        .await;
    browser.fill("[data-cutoff=yes_from]", "80").await;
    browser.wait_until_text("#changed-results", "of 8").await;
    browser.wait_until_text("#preview", "→").await;
    assert!(!browser.text(".numbers").await.contains("cannot start"));

    // reload and Back lose nothing, and Save leads to what it changed
    browser.reload().await;
    assert_eq!(browser.value("[data-cutoff=yes_from]").await, "80");
    browser.fill("#note", "fewer alarms").await;
    browser.follow_on("Save the lens").await;
    browser.wait_until_text("main", "The lens is saved").await;
    browser.reload().await;
    browser.wait_until_text("#history", "fewer alarms").await;
    assert_eq!(
        browser.texts("#history tbody tr").await.len(),
        2,
        "saved once"
    );
    browser.follow(".notice a").await;
    browser.wait_until_text("main", "It changed").await;
    browser.follow_on("Undo this change").await;
    browser
        .wait_until_text("main", "is in force again, as revision")
        .await;
    assert_eq!(browser.value("[data-cutoff=yes_from]").await, "50");
    assert_eq!(browser.console_errors().await, [""; 0]);
}

async fn a_handle_and_its_save_fit_on_a_phone(backend: Backend) {
    if !Browser::has_devtools() {
        return;
    }
    let service = with_results(backend, &[10, 55, 90]).await;
    let settings = BrowserSettings {
        width: 390,
        ..BrowserSettings::default()
    };
    let browser = joined(&service, settings, "ada@example.com", "editor").await;
    let screen = json!({"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true});
    browser
        .cdp("Emulation.setDeviceMetricsOverride", screen)
        .await;
    open(&browser, &service, "/lens").await;
    let places = "return ['[data-handle=yes_from]', '.shares', '#changed-results', '.save-bar button.main']\
        .map((it) => document.querySelector(it).getBoundingClientRect())\
        .every((it) => it.top >= 0 && it.bottom <= 844 && it.right <= 390);";
    assert_eq!(browser.evaluate(places, &[]).await, true);
    browser.drag(YES, ".histogram-axis span:last-child").await;
    let percent: f64 = browser
        .value("[data-cutoff=yes_from]")
        .await
        .parse()
        .unwrap();
    assert!(percent > 80.0, "{percent}");
    browser.wait_until_text("#changed-results", "of 3").await;
}
