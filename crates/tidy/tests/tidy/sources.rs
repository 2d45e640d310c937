//! What a Rust file may look like.

use std::path::Path;

use crate::{assert_none, files, has_ending, read};

/// A longer file holds more than one thing: it is split. Tests and benches too.
const LONGEST: usize = 400;

/// The most lines of the median file under `src`.
const LONGEST_MEDIAN: usize = 115;

/// `main` reads the command line and hands over: it has fewer lines than this.
const MAIN: (&str, usize) = ("bin/refract/src/main.rs", 60);

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 8] = [
    "common", "core", "data", "helpers", "info", "manager", "misc", "utils",
];

/// Text that no source may hold, in pieces so that this file does not.
const REFUSED: [(&str, &str); 6] = [
    (concat!("allow", "(clippy"), "use `expect` with a reason"),
    (concat!("todo", "!("), "finish it"),
    (concat!("unimplemented", "!("), "finish it"),
    (concat!("dbg", "!("), "remove it"),
    (concat!("#[", "ignore"), "a test runs or does not exist"),
    (concat!("FIX", "ME"), "mend it"),
];

fn sources() -> Vec<String> {
    files()
        .into_iter()
        .filter(|file| has_ending(file, "rs"))
        .collect()
}

fn is_module(file: &str) -> bool {
    file.contains("/src/")
}

#[test]
fn no_file_is_too_long() {
    let breaches: Vec<String> = sources()
        .into_iter()
        .map(|file| (read(&file).lines().count(), file))
        .filter(|(lines, _)| *lines > LONGEST)
        .map(|(lines, file)| format!("{file}: {lines} lines"))
        .collect();
    assert_none(&format!("over {LONGEST} lines"), &breaches);
}

#[test]
fn half_of_the_files_are_short() {
    let mut lengths: Vec<usize> = sources()
        .iter()
        .filter(|file| is_module(file))
        .map(|file| read(file).lines().count())
        .collect();
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(
        median <= LONGEST_MEDIAN,
        "the median file under src has {median} lines, the limit is {LONGEST_MEDIAN}"
    );
}

#[test]
fn a_module_with_children_stands_beside_their_folder() {
    let breaches: Vec<String> = sources()
        .into_iter()
        .filter(|file| file.ends_with("/mod.rs"))
        .collect();
    assert_none("name.rs beside name/, not name/mod.rs", &breaches);
}

#[test]
fn main_only_hands_over() {
    let (file, limit) = MAIN;
    let lines = read(file).lines().count();
    assert!(
        lines < limit,
        "{file}: {lines} lines, must be under {limit}"
    );
}

#[test]
fn every_module_says_what_it_is_for() {
    let breaches: Vec<String> = sources()
        .into_iter()
        .filter(|file| is_module(file) && !file.ends_with("/tests.rs"))
        .filter(|file| !read(file).starts_with("//!"))
        .collect();
    assert_none("does not begin with `//!`", &breaches);
}

#[test]
fn names_say_what_is_inside() {
    let breaches: Vec<String> = sources()
        .into_iter()
        .filter(|file| {
            Path::new(file).with_extension("").iter().any(|part| {
                EMPTY_NAMES
                    .iter()
                    .any(|name| part.eq_ignore_ascii_case(name))
            })
        })
        .collect();
    assert_none("a name that says nothing", &breaches);
}

#[test]
fn nothing_is_left_unfinished() {
    let mut breaches = Vec::new();
    for file in sources() {
        for (number, line) in read(&file).lines().enumerate() {
            for (text, advice) in REFUSED {
                if line.contains(text) {
                    breaches.push(format!("{file}:{}: `{text}`: {advice}", number + 1));
                }
            }
        }
    }
    assert_none("refused in a source", &breaches);
}
