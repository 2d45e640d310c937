//! Which files exist: the top of the repository, documents, links, migrations.

use std::collections::BTreeSet;
use std::path::Path;

use crate::{assert_none, files, has_ending, read, root};

/// The files and folders in the root of the repository, except names that begin with a dot.
const TOP: [&str; 10] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "Makefile",
    "README.md",
    "bin",
    "crates",
    "docs",
    "migrations",
    "rust-toolchain.toml",
];

/// Documents that must exist.
const DOCUMENTS: [&str; 7] = [
    "README.md",
    "docs/ARCHITECTURE.md",
    "docs/CONTRIBUTING.md",
    "docs/API.md",
    "docs/DEPLOY.md",
    "docs/CHANGELOG.md",
    "docs/examples/support-triage.json",
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
fn the_documents_are_there() {
    let files = files();
    let mut missing: Vec<String> = DOCUMENTS
        .iter()
        .filter(|document| !files.iter().any(|file| file == *document))
        .map(ToString::to_string)
        .collect();
    if !files.iter().any(|file| file.starts_with("docs/adr/0001-")) {
        missing.push("docs/adr/0001-*.md".to_owned());
    }
    assert_none("a document is missing", &missing);
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

/// The migrations of one database, as paths in its folder.
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

/// Pages with tables that name a test for each statement: one page for the specification and
/// `docs/MODELS.md`, one for the threat model.
const PROOFS: [&str; 2] = ["docs/proof.md", "docs/SECURITY.md"];

#[test]
fn the_tests_that_documents_name_are_there() {
    let sources: Vec<String> = files()
        .iter()
        .filter(|file| Path::new(file).extension().is_some_and(|end| end == "rs"))
        .map(|file| read(file))
        .collect();
    let pages = PROOFS.map(read).join("\n");
    let named: BTreeSet<&str> = pages
        .lines()
        .filter_map(|line| line.split('|').nth(2))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|name| !name.contains(' '))
        .collect();
    assert!(named.len() > 100, "the tables are read: {}", named.len());
    let missing: Vec<String> = named
        .into_iter()
        .filter_map(|name| {
            let function = format!("fn {name}(");
            let is_there = sources.iter().any(|source| source.contains(&function));
            (!is_there).then(|| name.to_owned())
        })
        .collect();
    assert_none("a test that a document names is not there", &missing);
}
