//! Which files must exist: the top of the repository, targets of links, migrations, tests that a
//! page names.

use std::collections::BTreeSet;
use std::path::Path;

use crate::{assert_none, files, has_ending, read, root};

/// The files and folders at the top of the repository, besides names that begin with a dot.
const TOP: [&str; 12] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "Makefile",
    "README.md",
    "bin",
    "clients",
    "crates",
    "docs",
    "findings",
    "migrations",
    "rust-toolchain.toml",
];

#[test]
fn the_top_stays_small() {
    let breaches: BTreeSet<String> = files()
        .iter()
        .filter_map(|file| file.split('/').next())
        .filter(|entry| !entry.starts_with('.') && !TOP.contains(entry))
        .map(ToOwned::to_owned)
        .collect();
    let breaches: Vec<String> = breaches.into_iter().collect();
    assert_none("does not belong at the top of the repository", &breaches);
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut breaches = Vec::new();
    for file in files() {
        if !has_ending(&file, "md") {
            continue;
        }
        let folder = root().join(&file);
        let folder = folder.parent().expect("a file stands in a folder");
        for link in read(&file).split("](").skip(1) {
            let target = link.split([')', '#', ' ']).next().unwrap_or_default();
            let elsewhere = target.contains("://") || target.starts_with("mailto:");
            if !target.is_empty() && !elsewhere && !folder.join(target).exists() {
                breaches.push(format!("{file}: {target}"));
            }
        }
    }
    assert_none("a link that leads nowhere", &breaches);
}

/// The migrations of one database, as paths below its folder.
fn migrations(database: &str) -> BTreeSet<String> {
    let folder = format!("migrations/{database}/");
    files()
        .iter()
        .filter_map(|file| file.strip_prefix(&folder))
        .map(ToOwned::to_owned)
        .collect()
}

#[test]
fn both_databases_have_the_same_migrations() {
    let (postgres, sqlite) = (migrations("postgres"), migrations("sqlite"));
    assert!(!postgres.is_empty(), "migrations/postgres is empty");
    let breaches: Vec<String> = postgres
        .symmetric_difference(&sqlite)
        .map(|name| format!("{name} is not in both"))
        .collect();
    assert_none(
        "migrations/postgres and migrations/sqlite differ",
        &breaches,
    );
}

/// The page that names a test for each defence that it describes.
const SECURITY: &str = "docs/SECURITY.md";

/// Every test that a table of the page names in its last column, under the heading `tests`, exists.
#[test]
fn the_tests_that_the_page_on_security_names_are_there() {
    let sources: Vec<String> = files()
        .iter()
        .filter(|file| Path::new(file).extension().is_some_and(|end| end == "rs"))
        .map(|file| read(file))
        .collect();
    let page = read(SECURITY);
    let named = tests_named_by(&page);
    assert!(named.len() > 20, "the tables are read: {}", named.len());
    let missing: Vec<String> = named
        .into_iter()
        .filter_map(|name| {
            let function = format!("fn {name}(");
            let is_there = sources.iter().any(|source| source.contains(&function));
            (!is_there).then(|| format!("{SECURITY}: {name}"))
        })
        .collect();
    assert_none("a test that a page names is not there", &missing);
}

/// The code in the last cells of the tables whose last heading is `tests`.
fn tests_named_by(page: &str) -> BTreeSet<&str> {
    let mut named = BTreeSet::new();
    let mut is_of_tests = None;
    for line in page.lines() {
        let row = line.strip_prefix('|').and_then(|row| row.strip_suffix('|'));
        let Some(row) = row else {
            is_of_tests = None;
            continue;
        };
        let last = row.rsplit('|').next().unwrap_or_default();
        if *is_of_tests.get_or_insert(last.trim() == "tests") {
            named.extend(last.split('`').skip(1).step_by(2));
        }
    }
    named
}

#[test]
fn only_the_last_column_of_a_table_of_tests_names_tests() {
    let page =
        "| a | b |\n|---|---|\n| x | `no` |\n\n| a | tests |\n|---|---|\n| `no` | `one`, `two` |\n";
    assert_eq!(tests_named_by(page), BTreeSet::from(["one", "two"]));
}
