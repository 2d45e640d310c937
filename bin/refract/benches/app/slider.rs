//! The handles of the lens over ten thousand results, moved by keys in a real Chromium.

use std::time::Duration;

use refract_test_support::browser::{Browser, BrowserSettings};
use serde_json::json;

use crate::figures::{Durations, verdict};
use crate::filling::FilledDatabase;
use crate::served_app::ServedApp;
use crate::trace::{InputWork, input_work};

/// The results of both prisms: the measured page's prism has nine tenths of them, and the page
/// counts the newest 10,000.
const RESULTS: u32 = 12_000;
/// The number of consecutive positions of the handle.
const POSITIONS: usize = 60;
/// The positions at which the handle rests, so that the page requests a preview.
const RESTS: usize = 10;
/// The time between two positions: longer than a frame, shorter than the page's debounce.
const QUICK: Duration = Duration::from_millis(50);
/// Longer than the page's debounce and the server's reply together.
const SLOW: Duration = Duration::from_millis(900);
/// Milliseconds of a frame.
const FRAME: f64 = 16.0;

/// Fills a database, moves a handle in Chromium, and prints the figures of the trace.
pub(crate) async fn measure() {
    println!("\n## Handles of the lens\n");
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("slider.db").display());
    let database = FilledDatabase::fill(url, RESULTS).await;
    let app = ServedApp::start(&database);
    let browser = Browser::start(BrowserSettings {
        is_traced: true,
        ..BrowserSettings::default()
    })
    .await;
    let cookie = json!({ "name": "refract", "value": database.token.reveal(), "url": app.at("/") });
    browser.cdp("Network.setCookie", cookie).await;
    browser.open(&app.at("/prisms/support-triage/lens")).await;
    browser.wait_until_text("#changed-results", "10,000").await;
    let focus = "document.querySelector('[data-handle=yes_from]').focus();";
    browser.evaluate(focus, &[]).await;
    // the rows that follow the handle are there
    tokio::time::sleep(SLOW).await;
    for position in 0..POSITIONS {
        move_by_key(&browser, position).await;
        tokio::time::sleep(QUICK).await;
    }
    for position in 0..RESTS {
        move_by_key(&browser, position).await;
        tokio::time::sleep(SLOW).await;
    }
    assert_eq!(browser.console_errors().await, [""; 0]);
    let work = input_work(&browser.end_trace().await);
    assert_eq!(work.len(), POSITIONS + RESTS, "each key is one input");
    print(&work);
}

/// Moves the handle up for the first half of the positions, then down.
async fn move_by_key(browser: &Browser, position: usize) {
    let (key, code) = if position < POSITIONS / 2 {
        ("ArrowRight", 39)
    } else {
        ("ArrowLeft", 37)
    };
    for kind in ["rawKeyDown", "keyUp"] {
        let event = json!({
            "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
        });
        browser.cdp("Input.dispatchKeyEvent", event).await;
    }
}

fn print(work: &[InputWork]) {
    println!(
        "\nMilliseconds on the page's main thread for each of {POSITIONS} positions over 10,000 stored results, of Chromium's own trace. Yardstick: all the work of a position within {FRAME} ms.\n"
    );
    println!("| work | median | 95 % | most | |");
    println!("|---|--:|--:|--:|---|");
    let (moves, rests) = work.split_at(POSITIONS);
    line("the input's listeners", moves, |it| it.script, None);
    let all = "script, style, layout and paint";
    line(all, moves, |it| it.all, Some(FRAME));
    let waited = "until the frame is committed, with the wait for it";
    line(waited, moves, |it| it.until_commit, None);
    let later = "at rest: the longest task of the preview";
    line(later, rests, |it| it.longest_later, None);
}

fn line(name: &str, work: &[InputWork], part: fn(&InputWork) -> Duration, most: Option<f64>) {
    let mut took = Durations::default();
    for work in work {
        took.add(part(work));
    }
    let [median, slow, longest] = [50, 95, 100].map(|percent| took.percentile(percent));
    let verdict = most.map_or("", |most| verdict(longest <= most));
    println!("| {name} | {median:.2} | {slow:.2} | {longest:.2} | {verdict} |");
}
