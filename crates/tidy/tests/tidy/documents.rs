//! Whatever documents name exists: paths, make targets, settings. Names of code are in
//! `rust_names`, links in `repository`, budgets and decision records in `pages`.
//!
//! The documents are `README.md`, those of crates, the pages directly under `docs/` and those of
//! `docs/deploy`, except the changelog, which describes the past.

mod code;
mod rust_names;

use std::collections::BTreeSet;
use std::path::Path;

use crate::{assert_none, files, has_ending, read};

/// The page that may mention removed things.
const HISTORY: &str = "docs/CHANGELOG.md";

/// Extensions of file names that must exist in the repository, even if mentioned without a folder.
const ENDINGS: [&str; 4] = ["md", "rs", "sql", "toml"];

/// A placeholder for any module in the rule about modules and folders.
const ANY_MODULE: &str = "name.rs";

/// The checked pages, each with its text.
fn pages() -> Vec<(String, String)> {
    let pages: Vec<(String, String)> = files()
        .into_iter()
        .filter(|file| {
            let folder = Path::new(file).parent();
            let is_ours = ["docs", "docs/deploy"].map(|ours| Some(Path::new(ours)));
            let is_page = is_ours.contains(&folder) && has_ending(file, "md");
            let is_readme = has_name(file, "README.md") && !file.starts_with("docs/");
            (is_page && file != HISTORY) || is_readme
        })
        .map(|file| {
            let text = read(&file);
            (file, text)
        })
        .collect();
    assert!(pages.len() > 5, "the pages are read: {}", pages.len());
    pages
}

/// Whether a path ends in this file name.
fn has_name(file: &str, name: &str) -> bool {
    Path::new(file).file_name() == Some(name.as_ref())
}

/// Fails if `missing` returns any name for a piece of code in the pages, and lists all of them with
/// their pages.
fn assert_found(rule: &str, missing: impl Fn(&str) -> Vec<String>) {
    let mut breaches = Vec::new();
    for (page, text) in pages() {
        for code in code::of(&text) {
            breaches.extend(missing(code).iter().map(|name| format!("{page}: {name}")));
        }
    }
    assert_none(rule, &breaches);
}

#[test]
fn paths_are_there() {
    let files = files();
    let top: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| Some(file.split_once('/')?.0))
        .collect();
    let is_there = |path: &str| {
        let folder = format!("{}/", path.trim_end_matches('/'));
        files
            .iter()
            .any(|file| file == path || file.starts_with(&folder))
    };
    assert_found("a path that is not in the repository", |code| {
        code::words(code)
            .filter(|word| {
                if let Some((first, _)) = word.split_once('/') {
                    top.contains(first) && !is_there(word)
                } else {
                    let is_ours = ENDINGS.iter().any(|it| has_ending(word, it));
                    is_ours && *word != ANY_MODULE && !files.iter().any(|file| has_name(file, word))
                }
            })
            .map(ToOwned::to_owned)
            .collect()
    });
}

#[test]
fn make_targets_are_there() {
    let makefile = read("Makefile");
    let targets: BTreeSet<&str> = makefile
        .lines()
        .filter_map(|line| Some(line.split_once(':')?.0))
        .collect();
    assert_found("a target that the Makefile does not have", |code| {
        let mut words = code::words(code);
        let target = words.next().filter(|word| *word == "make");
        let target = target.and_then(|_| words.next());
        target
            .into_iter()
            .filter(|target| !targets.contains(target))
            .map(ToOwned::to_owned)
            .collect()
    });
}

#[test]
fn settings_are_in_the_sources() {
    let mut known = BTreeSet::new();
    for file in files() {
        if !["md", "png", "gz"]
            .iter()
            .any(|ending| has_ending(&file, ending))
        {
            known.extend(settings(&read(&file)));
        }
    }
    let mut breaches = Vec::new();
    for (page, text) in pages() {
        let unknown = settings(&text);
        let unknown = unknown.difference(&known);
        breaches.extend(unknown.map(|name| format!("{page}: {name}")));
    }
    assert_none("a setting that no source reads", &breaches);
}

/// The names of our environment variables in a text, except `REFRACT_TEST_…`.
fn settings(text: &str) -> BTreeSet<String> {
    code::names(text)
        .filter(|name| name.starts_with("REFRACT_") && !name.ends_with('_'))
        .map(ToOwned::to_owned)
        .collect()
}
