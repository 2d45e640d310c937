//! One walk over every form of every page: nothing typed is lost, and nothing happens twice.
//!
//! The pages come from the route table and the forms from the pages, so that a form that is added
//! later is walked too. What needs no browser is tried over HTTP: a session that ended, and 10 MiB
//! of text. Back, a reload, a server that is away and a double click need a browser.

use std::collections::BTreeMap;

use refract_app::route_table;
use refract_test_stack::browser::forms::inputs;
use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, events, text};
use refract_test_support::browser::{Browser, BrowserSettings};
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::chromium::{at, joined as joined_in_browser};
use crate::examples::kept;
use crate::retests::started;
use crate::runs::checked;

on_both!(
    a_form_is_carried_along_when_the_session_has_ended,
    a_form_of_10_mib_is_given_back_kept_or_refused_with_a_way_out,
    a_form_that_is_sent_twice_acts_once,
    a_form_makes_one_run_of_a_file_and_another_of_another,
);

const MARKER: &str = "typed-by-a-person";

/// A form of a page that is sent with POST.
#[derive(Debug)]
struct PageForm {
    page: String,
    action: String,
    values: Vec<(String, String)>,
    /// The names of the inputs that somebody types text into.
    texts: Vec<String>,
}

/// The addresses of all pages for people, with a prism, a result and whatever else they show.
async fn pages(service: &Service) -> Vec<String> {
    let made = service.create(&json!({"text": "a text", "ref": "r"})).await;
    let id = text(&made.value(), "id");
    let mut editor = joined(service, "editor@example.com", "editor").await;
    let example = kept(&mut editor, PRISM, "an example").await;
    let (_, example) = example.rsplit_once('/').unwrap();
    let run = checked(&mut editor, "in.csv", b"text\na text\n").await;
    let (_, run) = run.rsplit_once('/').unwrap();
    let retest = started(&mut editor, "").await;
    let (_, retest) = retest.rsplit_once('/').unwrap();
    let pages = route_table().filter(|route| !route.is_action && route.least_role.is_some());
    let addresses = pages.map(|route| {
        let is_run = route.pattern.starts_with("/runs/");
        let is_retest = route.pattern.contains("/retests/");
        let id = match (is_run, is_retest) {
            (true, _) => run,
            (_, true) => retest,
            _ => &id,
        };
        let pattern = route.pattern.replace("{slug}", PRISM).replace("{id}", id);
        let pattern = pattern.replace("{n}", "1").replace("{format}", "csv");
        pattern.replace("{example}", example)
    });
    let is_file = |address: &String| {
        let parts = ["/download", "/as/"];
        parts.iter().any(|part| address.contains(part))
            || [".csv", "/file", "/refused"]
                .iter()
                .any(|end| address.ends_with(end))
    };
    addresses.filter(|address| !is_file(address)).collect()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    Some(value.split_once('"')?.0.to_owned())
}

/// Every form of a page that is sent with POST.
fn forms(page: &str, answer: &HttpAnswer) -> Vec<PageForm> {
    let forms = answer.body.split("<form").skip(1).filter_map(|form| {
        let (tag, rest) = form.split_once('>')?;
        let (inside, _) = rest.split_once("</form>")?;
        let action = attribute(tag, "action")?;
        (attribute(tag, "method")? == "post").then_some(())?;
        let texts = inside.split('<').filter_map(|tag| {
            let is_line = tag.starts_with("input ") && tag.contains(" type=\"text\"");
            let is_area = tag.starts_with("textarea ") && !tag.contains(" hidden");
            (is_line || is_area)
                .then(|| attribute(tag, "name"))
                .flatten()
        });
        let alone = HttpAnswer::new("HTTP/1.1 200 OK", format!("<form{tag}>{inside}</form>"));
        Some(PageForm {
            page: page.to_owned(),
            action,
            values: inputs(&alone, tag),
            texts: texts.collect(),
        })
    });
    forms.collect()
}

async fn every_form(service: &Service, ada: &mut PlainBrowser<'_>) -> Vec<PageForm> {
    let mut found: Vec<PageForm> = Vec::new();
    for page in pages(service).await {
        let answer = ada.get(&page).await;
        for form in forms(&page, &answer) {
            if !found
                .iter()
                .any(|known| known.action == form.action && known.texts == form.texts)
            {
                found.push(form);
            }
        }
    }
    assert!(found.len() > 8, "{found:?}");
    found
}

/// The form with a text typed into every input, as a browser encodes it.
fn body(form: &PageForm, typed: &str) -> String {
    let mut pairs = form_urlencoded::Serializer::new(String::new());
    for (name, value) in &form.values {
        let value = if form.texts.contains(name) {
            typed
        } else {
            value
        };
        pairs.append_pair(name, value);
    }
    pairs.finish()
}

async fn a_form_is_carried_along_when_the_session_has_ended(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let mut walked = 0;
    for form in every_form(&service, &mut ada).await {
        if form.texts.is_empty() || form.action == "/sign-out" {
            continue;
        }
        walked += 1;
        let request = Request::outside("POST", &form.action)
            .header("Sec-Fetch-Site", "same-origin")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(body(&form, MARKER));
        let answer = request.send(service.nodes[0].app).await;
        assert_eq!(answer.status, 401, "{form:?}");
        let carried = answer.body.matches(MARKER).count();
        assert!(carried >= form.texts.len(), "{form:?}: {}", answer.body);
    }
    assert!(walked > 4, "{walked}");
}

async fn a_form_of_10_mib_is_given_back_kept_or_refused_with_a_way_out(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let large = "a".repeat(10 * 1024 * 1024);
    for form in every_form(&service, &mut ada).await {
        let Some(first) = form.texts.first().cloned() else {
            continue;
        };
        let alone = PageForm {
            texts: vec![first],
            ..form
        };
        let request = Request::outside("POST", &alone.action)
            .header("Sec-Fetch-Site", "same-origin")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(body(&alone, &large));
        let answer = ada.send(request).await;
        let (page, action) = (&alone.page, &alone.action);
        match answer.status {
            200 | 409 | 422 => assert!(answer.body.contains(&large), "{page} {action}: lost"),
            // the draft of an edited prism or lens is kept
            303 => assert!(is_of_draft(action), "{page} {action}: taken"),
            status => assert_eq!(status, 200, "{page} {action}"),
        }
        if answer.status == 303 {
            let again = ada.get(page).await;
            assert!(again.body.contains(&large), "{page} {action}: lost");
        }
    }
}

async fn a_form_that_is_sent_twice_acts_once(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let mut again = PlainBrowser::new(&service);
    again.keep("refract", ada.value_of("refract"));
    let mut forms = every_form(&service, &mut ada).await;
    // what ends other forms comes last
    let ends = [
        "/archive",
        "/cancel",
        "/delete-file",
        "/remove",
        "/sign-out",
    ];
    forms.sort_by_key(|form| ends.iter().any(|end| form.action.ends_with(end)));
    let mut acted = Vec::new();
    for form in &forms {
        let shown = ada.get(&form.page).await;
        let mut now = self::forms(&form.page, &shown);
        now.retain(|now| now.action == form.action && now.texts == form.texts);
        let Some(form) = now.first_mut() else {
            continue;
        };
        form.texts.truncate(1);
        let before = acts(&service, &mut ada).await;
        let request = || {
            Request::outside("POST", &form.action)
                .header("Sec-Fetch-Site", "same-origin")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .body(body(form, "Once"))
        };
        tokio::join!(ada.send(request()), again.send(request()));
        ada.send(request()).await;
        for (act, count) in acts(&service, &mut ada).await {
            let made = count.saturating_sub(before.get(&act).copied().unwrap_or(0));
            // a link takes the place of the one before, and the last page shows the last one; a preview
            // that has ended meanwhile can be asked for again
            let may_repeat = act == "link_renewed" || form.action.ends_with("/preview");
            assert!(made <= 1 || may_repeat, "{form:?}: {act} {made} times");
            if made == 1 {
                acted.push(form.action.clone());
            }
        }
    }
    for action in ["/keys", "/prisms/new", "/try", "/review"] {
        let has_acted = acted.iter().any(|acted| acted.ends_with(action));
        assert!(has_acted, "{action}: {acted:?}");
    }
}

async fn a_form_makes_one_run_of_a_file_and_another_of_another(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let runs = format!("/prisms/{PRISM}/runs");
    let form = inputs(&ada.get(&runs).await, &format!("action=\"{runs}\""));
    let form: Vec<_> = form
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let upload = |bytes| Request::upload_with(&runs, &form, "in.csv", bytes);
    let mut again = PlainBrowser::new(&service);
    again.keep("refract", ada.value_of("refract"));
    let (one, two) = tokio::join!(
        ada.send(upload(b"text\na\n")),
        again.send(upload(b"text\na\n"))
    );
    assert_eq!(one.status, 303, "{one:?}");
    assert_eq!(one.header("location"), two.header("location"));
    let other = ada.send(upload(b"text\nb\n")).await;
    assert_ne!(one.header("location"), other.header("location"));
    let listed = ada
        .get(&runs)
        .await
        .body
        .matches("<a href=\"/runs/")
        .count();
    assert_eq!(listed, 2);
}

/// Whether a page keeps a draft on the server.
fn is_of_draft(page: &str) -> bool {
    page.ends_with("/edit") || page.ends_with("/lens")
}

/// Marks an input and a button of every form of the page that has one to fill in, and returns the
/// names of these forms.
const TEXTS: &str = "
    return [...document.forms].flatMap((form) => {
        const texts = [...form.elements].filter((one) =>
            (one.type === 'text' || one.type === 'textarea') && one.name && one.checkVisibility());
        const button = [...form.elements].find((one) => one.type === 'submit' && !one.disabled && one.checkVisibility());
        if (form.method !== 'post' || !texts.length || !button) return [];
        const name = `${form.getAttribute('action')} ${texts[0].name}`;
        texts[0].dataset.walked = name;
        button.dataset.pressed = name;
        return [name];
    });";

const TYPE: &str = "
    const input = [...document.querySelectorAll('[data-walked]')].find((one) => one.dataset.walked === arguments[0]);
    input.focus();
    input.value = arguments[1];
    input.dispatchEvent(new InputEvent('input', { bubbles: true }));";

const VALUE: &str = "
    const inputs = [...document.querySelectorAll('[data-walked]')];
    return inputs.find((one) => one.dataset.walked === arguments[0])?.value ?? null;";

const PRESS_TWICE: &str = "
    const buttons = [...document.querySelectorAll('[data-pressed]')];
    const button = buttons.find((one) => one.dataset.pressed === arguments[0]);
    button.click();
    button.click();";

const WARNED: &str = "
    return [...document.querySelectorAll('[role=alert], [role=status]')]
        .some((one) => one.checkVisibility() && one.textContent.includes('could not be reached'));";

async fn offline(browser: &Browser, is_offline: bool) {
    let conditions = json!({"offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
    browser.cdp("Network.enable", json!({})).await;
    browser
        .cdp("Network.emulateNetworkConditions", conditions)
        .await;
}

/// The names of the page's forms with something to type, marked anew after each load.
async fn marked(browser: &Browser) -> Vec<Value> {
    let marked = browser.evaluate(TEXTS, &[]).await;
    marked.as_array().cloned().unwrap_or_default()
}

/// Waits until a function in the page returns this value.
async fn until(browser: &Browser, script: &str, arguments: &[Value], expected: &Value, what: &str) {
    let mut seen = Value::Null;
    for _ in 0..400 {
        seen = browser.evaluate(script, arguments).await;
        if seen == *expected {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    assert_eq!(seen, *expected, "{what}");
}

#[tokio::test]
async fn nothing_typed_is_lost_by_a_reload_back_or_a_server_that_is_away() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    let settings = BrowserSettings::default();
    let browser = joined_in_browser(&service, settings, "ada@example.com", "owner").await;
    let mut walked = 0;
    for page in pages(&service).await {
        let address = at(&service, &page);
        browser.open(&address).await;
        for form in marked(&browser).await {
            walked += 1;
            let typed = json!(format!("{MARKER}-{walked}"));
            let arguments = [form.clone(), typed.clone()];
            browser.open(&address).await;
            marked(&browser).await;
            browser.evaluate(TYPE, &arguments).await;
            if Browser::has_devtools() {
                offline(&browser, true).await;
                browser
                    .evaluate(PRESS_TWICE, std::slice::from_ref(&form))
                    .await;
                let warned = format!("{page}, {form}: the server is away");
                until(&browser, WARNED, &[], &json!(true), &warned).await;
                until(
                    &browser,
                    VALUE,
                    std::slice::from_ref(&form),
                    &typed,
                    &warned,
                )
                .await;
                offline(&browser, false).await;
            }
            // the draft of an edited prism is kept a moment after typing
            browser.evaluate(TYPE, &arguments).await;
            if page.ends_with("/edit") {
                browser.wait_for("#kept").await;
            }
            browser.reload().await;
            marked(&browser).await;
            let reloaded = format!("{page}, {form}: a reload");
            until(
                &browser,
                VALUE,
                std::slice::from_ref(&form),
                &typed,
                &reloaded,
            )
            .await;
            let elsewhere = if page == "/me" { "/" } else { "/me" };
            browser.open(&at(&service, elsewhere)).await;
            browser.back().await;
            marked(&browser).await;
            let back = format!("{page}, {form}: Back");
            until(&browser, VALUE, std::slice::from_ref(&form), &typed, &back).await;
        }
    }
    assert!(walked > 6, "{walked}");
}

#[tokio::test]
async fn a_double_click_does_nothing_twice() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    let settings = BrowserSettings::default();
    let browser = joined_in_browser(&service, settings, "ada@example.com", "owner").await;
    for page in pages(&service).await {
        let address = at(&service, &page);
        browser.open(&address).await;
        for form in marked(&browser).await {
            browser.open(&address).await;
            marked(&browser).await;
            let before = changes(&service).await;
            browser.evaluate(TYPE, &[form.clone(), json!("Once")]).await;
            browser
                .evaluate(PRESS_TWICE, std::slice::from_ref(&form))
                .await;
            tokio::time::sleep(std::time::Duration::from_millis(400)).await;
            browser.open(&at(&service, "/me")).await;
            let made = changes(&service).await - before;
            assert!(made <= 1, "{page}, {form}: {made} events or results");
        }
    }
}

/// Number of events of each action, of results, and of the person's sittings.
async fn acts(service: &Service, person: &mut PlainBrowser<'_>) -> BTreeMap<String, usize> {
    let mut acts = BTreeMap::new();
    for event in events(service).await {
        *acts.entry(text(&event, "action")).or_default() += 1;
    }
    let results = service.run(&["results", "list", PRISM, "--json"]).await;
    acts.insert("result".to_owned(), results.lines().len());
    let page = person.get(&format!("/prisms/{PRISM}/review")).await;
    let sittings = format!("href=\"/prisms/{PRISM}/review/");
    acts.insert("sitting".to_owned(), page.body.matches(&sittings).count());
    acts
}

/// Number of events and of results of the account.
async fn changes(service: &Service) -> usize {
    let events = service.run(&["events", "--json"]).await.lines();
    let results = service
        .run(&["results", "list", PRISM, "--json"])
        .await
        .lines();
    events.len() + results.len()
}
