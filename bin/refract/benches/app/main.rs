//! Measures the app's yardsticks: pages of 50 rows, lists among a million results, and the handles of
//! the lens in a real Chromium: `cargo bench -p refract --bench app -- [sqlite] [postgres] [slider]`.
//! A number among the arguments replaces the million.
//!
//! PostgreSQL is the server in `REFRACT_TEST_POSTGRES_URL`, with new databases; Chromium is the one
//! of `.ci/with-browser`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that meets the unexpected ends there, and prints what it measured"
)]

mod figures;
mod filling;
mod growth;
mod made_results;
mod pages;
mod queries;
mod rendering;
mod served_app;
mod slider;
mod trace;

use std::time::Instant;

use refract_test_support::browser::Browser;
use refract_test_support::postgres;
use tokio::runtime::Runtime;

use crate::filling::FilledDatabase;
use crate::served_app::ServedApp;

/// The results of the small database, on which pages are measured and with which lists are
/// compared.
const FEW: u32 = 1_000;
/// The results of the large database.
const MANY: u32 = 1_000_000;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let parts = ["sqlite", "postgres", "slider"];
    let names_none = !asked.iter().any(|it| parts.contains(&it.as_str()));
    let wanted = |name: &str| names_none || asked.iter().any(|it| it == name);
    let many = asked.iter().find_map(|it| it.parse().ok()).unwrap_or(MANY);
    let runtime = Runtime::new().unwrap();
    if wanted("sqlite") {
        let url = |results: u32, folder: &tempfile::TempDir| {
            let file = folder.path().join(format!("{results}.db"));
            format!("sqlite://{}", file.display())
        };
        let folder = tempfile::tempdir().unwrap();
        let databases = [FEW, many].map(|results| {
            let filling = FilledDatabase::fill(url(results, &folder), results);
            runtime.block_on(filling)
        });
        measure("SQLite", &databases, &runtime);
    }
    if wanted("postgres") {
        let servers = [(); 2].map(|()| runtime.block_on(postgres::fresh_database()));
        let databases = [(&servers[0], FEW), (&servers[1], many)].map(|(server, results)| {
            runtime.block_on(async {
                let filled = FilledDatabase::fill(server.url().to_owned(), results).await;
                // as autovacuum does on an idle server
                server.execute("VACUUM ANALYZE").await;
                filled
            })
        });
        measure("PostgreSQL", &databases, &runtime);
    }
    if wanted("slider") {
        if Browser::available() {
            runtime.block_on(slider::measure());
        } else {
            println!("\nThe handles were not measured: there is no Chromium.");
        }
    }
}

/// Measures pages on a small and a large database, in the same rounds.
fn measure(name: &str, databases: &[FilledDatabase; 2], runtime: &Runtime) {
    println!("\n## {name}\n");
    let mut apps = databases.each_ref().map(ServedApp::start);
    for (app, database) in apps.iter_mut().zip(databases) {
        // counts all results once and keeps the counts
        let began = Instant::now();
        app.page("/");
        let seconds = began.elapsed().as_secs_f64();
        let results = database.results;
        println!("The first look at {results} results took {seconds:.2} s.");
    }
    rendering::measure(&databases[0], &mut apps[0], runtime);
    growth::measure(databases, &mut apps);
}
