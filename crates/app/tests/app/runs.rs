//! File runs in the app, from an upload to a download.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use refract_service::jobs::LEASE_RENEWAL;
use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, text};
use refract_test_support::model_server::{Script, ScriptedReply, ServerCounts};
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    a_file_is_run_from_its_upload_to_its_download,
    a_file_that_cannot_be_used_is_refused_in_a_sentence,
    refused_rows_are_a_file_of_their_own,
    a_limit_pauses_a_run_and_a_person_lets_it_go_on,
    a_pause_after_the_last_row_leaves_nothing_to_go_on_with,
    a_used_up_budget_pauses_runs_until_it_is_raised,
    rows_that_failed_are_retried,
    another_version_is_compared_row_by_row,
    a_deleted_file_leaves_its_results,
);

/// The upload of a file for a run.
pub(crate) fn upload(name: &str, bytes: &[u8]) -> Request {
    Request::upload(&format!("/prisms/{PRISM}/runs"), name, bytes)
}

/// Uploads a file and returns the address of its run.
async fn uploaded(person: &mut PlainBrowser<'_>, name: &str, bytes: &[u8]) -> String {
    let answer = person.send(upload(name, bytes)).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    let location = answer.header("location").unwrap();
    assert!(location.starts_with("/runs/"), "{location}");
    location.to_owned()
}

/// Waits until the page of a run has these words.
pub(crate) async fn page_with(person: &mut PlainBrowser<'_>, run: &str, words: &str) -> HttpAnswer {
    let begun = Instant::now();
    loop {
        let page = person.get(run).await;
        if page.body.contains(words) {
            return page;
        }
        assert!(begun.elapsed() < PATIENCE, "{words}: {}", page.body);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// How long a run may take to get into a state.
const PATIENCE: Duration = Duration::from_mins(1);
/// The state of a run beside the name of its file.
pub(crate) const READY: &str = "</bdi> <span class=\"tag\">ready to start<";
pub(crate) const DONE: &str = "</bdi> <span class=\"tag\">done<";
const PAUSED: &str = "</bdi> <span class=\"tag strong\">paused<";

/// Does something with a run.
pub(crate) async fn act(
    person: &mut PlainBrowser<'_>,
    run: &str,
    action: &str,
    values: &[(&str, &str)],
) {
    let answer = person.post(&format!("{run}/{action}"), values).await;
    assert_eq!(answer.status, 303, "{action}: {answer:?}");
}

/// Uploads a file, lets it be read, and returns the address of its run.
pub(crate) async fn checked(person: &mut PlainBrowser<'_>, name: &str, bytes: &[u8]) -> String {
    let run = uploaded(person, name, bytes).await;
    act(person, &run, "check", &[]).await;
    page_with(person, &run, READY).await;
    run
}

fn rows(count: usize) -> String {
    let rows = (1..=count).map(|row| format!("r{row},text {row}\n"));
    format!("ref,text\n{}", rows.collect::<String>())
}

/// What a spreadsheet of a German Windows writes: nine rows.
fn german_file() -> Vec<u8> {
    let rows = (1..=9).map(|row| format!("{row};\"text; {row}\";M\u{fc}ller\r\n"));
    let file = format!("Nummer;Nachricht;Kunde\r\n{}", rows.collect::<String>());
    let letters = file.chars().map(|letter| u8::try_from(letter).unwrap());
    letters.collect()
}

/// The terminal finds the rows answered, and writes the bytes that are downloaded.
async fn assert_downloads_are_those_of_the_terminal(
    service: &Service,
    person: &PlainBrowser<'_>,
    run: &str,
    file: &[u8],
) {
    service.write("Nachrichten.csv", file);
    let maps = ["--map", "Nachricht=text", "--map", "Nummer=ref"];
    for format in ["csv", "tsv", "jsonl"] {
        let output = format!("out.{format}");
        let arguments = [&maps[..], &["--output", &output]].concat();
        let ended = service.run_file("Nachrichten.csv", &arguments).await;
        ended.done();
        let address = format!("{run}/download?format={format}");
        let downloaded = person.download(&address).await;
        assert_eq!(downloaded.body, service.written(&output), "{format}");
    }
}

async fn a_file_is_run_from_its_upload_to_its_download(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let file = german_file();
    let run = uploaded(&mut ada, "Nachrichten.csv", &file).await;
    let page = ada.get(&run).await;
    for words in [
        "CSV with semicolons",
        "Windows-1252",
        "M\u{fc}ller",
        "Nachrichten.csv",
    ] {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    act(
        &mut ada,
        &run,
        "check",
        &[("column.text", "Nachricht"), ("column.ref", "Nummer")],
    )
    .await;
    let page = page_with(&mut ada, &run, READY).await;
    assert!(page.body.contains("9 rows"), "{}", page.body);
    assert_eq!(service.asked(), 0);
    act(&mut ada, &run, "preview", &[]).await;
    page_with(&mut ada, &run, "Five rows, answered").await;
    assert_eq!(service.asked(), 5);
    act(&mut ada, &run, "start", &[]).await;
    let page = page_with(&mut ada, &run, DONE).await;
    assert!(page.body.contains(">5 of them before<"), "{}", page.body);
    assert_eq!(
        service.asked(),
        9,
        "the rows of the preview are not asked about again"
    );

    assert_downloads_are_those_of_the_terminal(&service, &ada, &run, &file).await;
    assert_eq!(service.asked(), 9);
    let beside = ada
        .download(&format!("{run}/download?format=csv&columns=keep&mark=bom"))
        .await;
    assert!(
        beside
            .body
            .starts_with("\u{feff}Nummer,Nachricht,Kunde,result_id,"),
        "{}",
        beside.body
    );
    let id = run.rsplit('/').next().unwrap();
    let results = ada.get(&format!("/prisms/{PRISM}/results?run={id}")).await;
    assert!(results.body.contains("9 results"), "{}", results.body);
    // the columns are remembered
    let again = uploaded(&mut ada, "next.csv", &file).await;
    let page = ada.get(&again).await;
    assert!(
        page.body.contains("<option value=\"Nachricht\" selected>"),
        "{}",
        page.body
    );
}

async fn a_file_that_cannot_be_used_is_refused_in_a_sentence(backend: Backend) {
    let setup = Setup {
        settings: &[("REFRACT_APP_UPLOAD_MIB", "1")],
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    for (name, bytes, words) in [
        ("a.csv", &b""[..], "The file is empty"),
        ("a.csv", b" \n \n", "it is empty"),
        ("a.pdf", b"%PDF-1.7\n", "PDF"),
        ("a.csv", b"\x1f\x8b\x08\0\0\0\0\0", "gzip"),
        ("a.xlsx", b"PK\x03\x04broken", "cannot be used"),
    ] {
        let answer = ada.send(upload(name, bytes)).await;
        assert_eq!(answer.status, 422, "{name}: {answer:?}");
        assert!(answer.body.contains(words), "{words}: {}", answer.body);
    }
    let answer = ada.send(upload("", b"")).await;
    assert_eq!(answer.status, 422);
    assert!(answer.body.contains("Choose a file"), "{}", answer.body);
    let large = vec![b'a'; 1024 * 1024 + 1];
    let answer = ada.send(upload("a.csv", &large)).await;
    assert_eq!(answer.status, 413, "{answer:?}");
    assert!(answer.body.contains("1 MiB"), "{}", answer.body);
    let plain = Request::outside("POST", &format!("/prisms/{PRISM}/runs"))
        .header("Sec-Fetch-Site", "same-origin")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body("file=a");
    assert_eq!(ada.send(plain).await.status, 400);
    let list = ada.get(&format!("/prisms/{PRISM}/runs")).await;
    assert!(
        list.body.contains("No file was run here yet"),
        "{}",
        list.body
    );
}

async fn refused_rows_are_a_file_of_their_own(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let long = "r".repeat(300);
    let file = format!("ref,text,own\nr1,=1+1,+a\n{long},b,c\nr3,d,e\n");
    let run = checked(&mut ada, "in.csv", file.as_bytes()).await;
    let page = ada.get(&run).await;
    assert!(
        page.body
            .contains("<strong>1 row cannot be asked about</strong>"),
        "{}",
        page.body
    );
    assert!(page.body.contains("Line 3: "), "{}", page.body);
    let refused = ada.download(&format!("{run}/refused")).await;
    let lines: Vec<_> = refused.body.lines().collect();
    assert_eq!(lines[0], "line,reason,ref,text,own");
    assert!(
        lines[1].starts_with("3,") && lines[1].ends_with(",b,c"),
        "{lines:?}"
    );
    act(&mut ada, &run, "start", &[]).await;
    page_with(&mut ada, &run, DONE).await;
    assert_eq!(service.asked(), 2);
    let rows = ada
        .download(&format!("{run}/download?format=csv&columns=keep"))
        .await;
    assert!(
        rows.body.contains("r1,'=1+1,'+a,"),
        "no cell is a formula: {}",
        rows.body
    );
    assert!(!rows.body.contains(",refused,"), "{}", rows.body);
    let page = ada.get(&run).await;
    assert!(page.body.contains("name=\"refused\""), "{}", page.body);
    let rows = ada
        .download(&format!("{run}/download?format=csv&refused=with"))
        .await;
    let refused = rows.body.lines().nth(2).unwrap();
    assert!(
        refused.starts_with(&format!(",{long},1,refused,")) && refused.contains(",b,"),
        "{}",
        rows.body
    );
}

async fn a_limit_pauses_a_run_and_a_person_lets_it_go_on(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let run = checked(&mut ada, "in.csv", rows(40).as_bytes()).await;
    let wrong = ada
        .post(&format!("{run}/start"), &[("tokens", "many")])
        .await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("whole number") && wrong.body.contains("value=\"many\""));
    act(&mut ada, &run, "start", &[("model_requests", "10")]).await;
    let page = page_with(&mut ada, &run, PAUSED).await;
    assert!(
        page.body.contains("limit of 10 model requests"),
        "{}",
        page.body
    );
    let asked = service.asked();
    assert_eq!(asked, 10);
    let held = ada.download(&format!("{run}/download?format=csv")).await;
    assert_eq!(held.body.lines().count(), asked + 1);
    act(&mut ada, &run, "resume", &[("model_requests", "")]).await;
    let page = page_with(&mut ada, &run, DONE).await;
    let (_, history) = page.body.split_once("What was done, by whom").unwrap();
    let places =
        ["→ done", "→ paused", "→ reading", "matched the columns"].map(|state| history.find(state));
    assert!(places.iter().all(Option::is_some), "{history}");
    assert!(places.is_sorted(), "newest first: {history}");
    assert_eq!(service.asked(), 40, "no row is asked about twice");
    // nothing can be done with a run in another state
    let late = ada.post(&format!("{run}/pause"), &[]).await;
    assert_eq!(late.status, 409, "{late:?}");
    assert!(late.body.contains("changed meanwhile"), "{}", late.body);
}

async fn a_pause_after_the_last_row_leaves_nothing_to_go_on_with(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    for noticed in [false, true] {
        let file = rows(6).replace("text ", if noticed { "late " } else { "soon " });
        let run = checked(&mut ada, "in.csv", file.as_bytes()).await;
        let asked = service.asked();
        service.model.then_always(ScriptedReply::answers().held());
        act(&mut ada, &run, "start", &[]).await;
        let all = |counts: &ServerCounts| counts.requests >= asked + 6;
        service.model.wait_until(all).await;
        act(&mut ada, &run, "pause", &[]).await;
        if noticed {
            // until the node has renewed its lease
            tokio::time::sleep(LEASE_RENEWAL + Duration::from_secs(1)).await;
        }
        service.model.release(6);
        let page = page_with(&mut ada, &run, DONE).await;
        assert!(page.body.contains("6 of 6 rows"), "{}", page.body);
        assert_eq!(service.asked(), asked + 6);
    }
}

async fn a_used_up_budget_pauses_runs_until_it_is_raised(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let costing = ScriptedReply::with(|request| {
        let mut reply = refract_test_support::model_server::system_one_answers(request);
        reply["usage"] = json!({"cost": 0.5});
        reply
    });
    service.model.then_always(costing);
    service.create(&json!({"text": "one"})).await;
    let set = ["account", "set", "--budget", "0.5"];
    service.run(&set).await.done();
    let run = checked(&mut ada, "in.csv", rows(3).as_bytes()).await;
    act(&mut ada, &run, "start", &[]).await;
    let page = page_with(&mut ada, &run, PAUSED).await;
    let words = "budget of 0.5 is used up";
    assert!(page.body.contains(words), "{}", page.body);
    // resumed meanwhile, it pauses again
    act(&mut ada, &run, "resume", &[]).await;
    page_with(&mut ada, &run, PAUSED).await;
    service.write("in.csv", rows(3));
    let ended = service.run_file("in.csv", &["--output", "out.csv"]).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert_eq!(service.asked(), 1);
    let raise = ["account", "set", "--budget", "500"];
    service.run(&raise).await.done();
    act(&mut ada, &run, "resume", &[]).await;
    page_with(&mut ada, &run, DONE).await;
    assert_eq!(service.asked(), 4);
}

async fn rows_that_failed_are_retried(backend: Backend) {
    let failures = AtomicUsize::new(0);
    let failing = ScriptedReply::with(move |request| {
        let is_bad = request.json()["state"]["text"] == json!("text 3");
        if is_bad && failures.fetch_add(1, Ordering::SeqCst) == 0 {
            json!({"answers": {}})
        } else {
            refract_test_support::model_server::system_one_answers(request)
        }
    });
    let setup = Setup {
        script: Script::from(failing),
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let run = checked(&mut ada, "in.csv", rows(10).as_bytes()).await;
    act(&mut ada, &run, "start", &[]).await;
    let page = page_with(&mut ada, &run, DONE).await;
    assert!(page.body.contains("Why rows failed"), "{}", page.body);
    assert!(
        page.body.contains("Retry the 1 failed row"),
        "{}",
        page.body
    );
    // its rows are no tries
    let tries = ada.get(&format!("/prisms/{PRISM}/try")).await;
    assert!(!tries.body.contains("Your last tries"), "{}", tries.body);
    ada.post(&format!("/prisms/{PRISM}/archive"), &[]).await;
    let file = ada.get(&format!("{run}/download?format=csv")).await;
    assert_eq!(file.status, 200, "an archived prism keeps its files");
    ada.post(&format!("/prisms/{PRISM}/restore"), &[]).await;
    act(&mut ada, &run, "retry", &[]).await;
    let page = page_with(&mut ada, &run, ">9 of them before<").await;
    assert!(!page.body.contains("Why rows failed"), "{}", page.body);
    assert_eq!(service.asked(), 11);
}

async fn another_version_is_compared_row_by_row(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let run = checked(&mut ada, "in.csv", rows(4).as_bytes()).await;
    act(&mut ada, &run, "start", &[]).await;
    page_with(&mut ada, &run, DONE).await;
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    let mut second = shown.clone();
    second["context"] = json!("Another context.");
    second.as_object_mut().unwrap().remove("slug");
    service.write("second.json", second.to_string());
    let saved = service.run(&["prism", "save", PRISM, "second.json"]).await;
    assert_eq!(saved.object()["version"], json!(2));
    let again = ada.post(&format!("{run}/again"), &[("version", "2")]).await;
    assert_eq!(again.status, 303, "{again:?}");
    let second = again.header("location").unwrap().to_owned();
    act(&mut ada, &second, "check", &[]).await;
    let page = page_with(&mut ada, &second, READY).await;
    for words in [
        "Version 1 answered 4 rows of ",
        "Version 2 answers anew, at the price above.",
    ] {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    act(&mut ada, &second, "start", &[]).await;
    let page = page_with(&mut ada, &second, DONE).await;
    assert_eq!(service.asked(), 8);
    let first = run.rsplit('/').next().unwrap();
    assert!(
        page.body.contains(&format!("?with={first}#compare")),
        "{}",
        page.body
    );
    let compared = ada.get(&format!("{second}?with={first}")).await;
    assert!(
        compared
            .body
            .contains("4 rows answered by version 2 and by version 1"),
        "{}",
        compared.body
    );
}

async fn a_deleted_file_leaves_its_results(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let run = checked(&mut ada, "in.csv", rows(3).as_bytes()).await;
    act(&mut ada, &run, "start", &[]).await;
    page_with(&mut ada, &run, DONE).await;
    act(&mut ada, &run, "delete-file", &[]).await;
    let page = ada.get(&run).await;
    assert!(page.body.contains("The file is deleted"), "{}", page.body);
    let download = ada.get(&format!("{run}/download?format=csv")).await;
    assert_eq!(download.status, 404);
    let id = run.rsplit('/').next().unwrap();
    let results = ada.get(&format!("/prisms/{PRISM}/results?run={id}")).await;
    assert!(results.body.contains("3 results"), "{}", results.body);
    let listed = service.run(&["runs", "list", "--json"]).await.lines();
    assert_eq!(text(&listed[0], "state"), "done");
    assert_eq!(listed[0]["answered"], json!(3));
    // a run that never began waits for nothing once its file is deleted
    let waiting = uploaded(&mut ada, "waiting.csv", rows(3).as_bytes()).await;
    act(&mut ada, &waiting, "delete-file", &[]).await;
    let list = ada.get(&format!("/prisms/{PRISM}/runs")).await;
    assert!(list.body.contains("file deleted"), "{}", list.body);
}
