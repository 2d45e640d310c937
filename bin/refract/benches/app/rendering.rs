//! Pages of a small database: their size, the size of their scripts, and the server's time without
//! its queries.

use std::collections::BTreeSet;
use std::time::Instant;

use tokio::runtime::Runtime;

use crate::figures::{Durations, verdict};
use crate::filling::FilledDatabase;
use crate::pages::kinds;
use crate::queries::ask;
use crate::served_app::ServedApp;

/// How often each page is read.
const ROUNDS: usize = 200;
/// The most bytes of a page.
const PAGE_BYTES: usize = 100_000;
/// The most bytes of a page's scripts.
const SCRIPT_BYTES: usize = 30_000;
/// The most milliseconds that the server may take apart from its queries.
const BESIDE_QUERIES: f64 = 10.0;

/// Reads one page of each kind many times and prints the figures.
pub(crate) fn measure(database: &FilledDatabase, app: &mut ServedApp, runtime: &Runtime) {
    let pages = kinds(database);
    let mut whole = vec![Durations::default(); pages.len()];
    let mut queries = vec![None; pages.len()];
    for _ in 0..ROUNDS {
        for (place, page) in pages.iter().enumerate() {
            whole[place].add(app.page(&page.path).took);
            let began = Instant::now();
            if runtime.block_on(ask(database, page.name)) {
                let took = queries[place].get_or_insert_with(Durations::default);
                took.add(began.elapsed());
            }
        }
    }
    let results = database.results;
    println!(
        "\nPages among {results} results, as sent (not compressed). Milliseconds of {ROUNDS} readings over HTTP; queries are the handler's use cases called in the benchmark's own process. Yardsticks: {PAGE_BYTES} bytes, {SCRIPT_BYTES} bytes of script, {BESIDE_QUERIES} ms beside the queries.\n"
    );
    println!("| page | bytes | scripts | whole, median | 99 % | queries, median | the rest | |");
    println!("|---|--:|--:|--:|--:|--:|--:|---|");
    for ((page, whole), queries) in pages.iter().zip(&whole).zip(&queries) {
        let body = app.page(&page.path).body;
        let scripts = script_bytes(app, &body);
        let [median, slow] = [50, 99].map(|percent| whole.percentile(percent));
        let queries = queries.as_ref().map(|took| took.percentile(50));
        let rest = median - queries.unwrap_or_default();
        let is_met = body.len() < PAGE_BYTES && scripts <= SCRIPT_BYTES && rest <= BESIDE_QUERIES;
        let queries = queries.map_or(String::new(), |it| format!("{it:.2}"));
        let (name, bytes, verdict) = (page.name, body.len(), verdict(is_met));
        println!(
            "| {name} | {bytes} | {scripts} | {median:.2} | {slow:.2} | {queries} | {rest:.2} | {verdict} |"
        );
    }
}

/// The bytes of all scripts that a page loads, including imported ones.
fn script_bytes(app: &mut ServedApp, page: &str) -> usize {
    let (mut loaded, mut bytes) = (BTreeSet::new(), 0);
    let mut left = between(page, "<script type=\"module\" src=\"", "\"");
    assert_eq!(left.len(), page.matches("<script").count(), "{page}");
    while let Some(path) = left.pop() {
        if !loaded.insert(path.clone()) {
            continue;
        }
        let script = app.page(&path).body;
        bytes += script.len();
        let (folder, _) = path.rsplit_once('/').unwrap();
        let imported = between(&script, "from \"./", "\"");
        left.extend(imported.iter().map(|name| format!("{folder}/{name}")));
    }
    bytes
}

fn between(text: &str, begin: &str, end: &str) -> Vec<String> {
    let rests = text.split(begin).skip(1);
    let found = rests.filter_map(|rest| rest.split_once(end));
    found.map(|(between, _)| between.to_owned()).collect()
}
