//! Lengths, names and contents of Rust files.

use std::collections::BTreeSet;
use std::path::Path;

use crate::crate_tree::{self, CrateTree};
use crate::{assert_none, files, has_ending, read};

/// Upper bound on the lines of a file, including tests and benches.
const LONGEST: usize = 450;

/// Upper bound on the lines of a product file, without tests.
const LONGEST_OF_PRODUCT: usize = 400;

/// Upper bound on the modules at a crate's root.
const ROOT_MODULES: usize = 12;

/// Upper bound on the lines in the binary's `src`, without tests: it joins the crates and contains
/// no rule.
const LONGEST_BINARY: usize = 840;

/// Upper bound on the lines of the median file in `src`.
const LONGEST_MEDIAN: usize = 200;

/// The file of the program's `main`, and the number of lines that it must stay below: `main` only
/// reads the command line and calls a command.
const MAIN: (&str, usize) = ("bin/refract/src/main.rs", 60);

/// File names that do not describe the content.
const EMPTY_NAMES: [&str; 8] = [
    "common", "core", "data", "helpers", "info", "manager", "misc", "utils",
];

/// Forbidden text in sources, written in pieces so that this file does not contain it.
const REFUSED: [(&str, &str); 6] = [
    (concat!("allow", "(clippy"), "use `expect` with a reason"),
    (concat!("todo", "!("), "finish the work"),
    (concat!("unimplemented", "!("), "finish the work"),
    (concat!("dbg", "!("), "remove it"),
    (concat!("#[", "ignore"), "a test runs or does not exist"),
    (concat!("FIX", "ME"), "make the change"),
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

/// Whether a file belongs to a crate in the program and is not a test.
fn is_product(file: &str) -> bool {
    let is_test = file.ends_with("/tests.rs") || file.contains("/tests/");
    let is_for_tests = file.contains("crates/test-support/") || file.contains("crates/test-stack/");
    is_module(file) && !is_test && !file.contains("/benches/") && !is_for_tests
}

#[test]
fn no_file_of_the_product_is_too_long() {
    let breaches: Vec<String> = sources()
        .into_iter()
        .filter(|file| is_product(file))
        .map(|file| (read(&file).lines().count(), file))
        .filter(|(lines, _)| *lines > LONGEST_OF_PRODUCT)
        .map(|(lines, file)| format!("{file}: {lines} lines"))
        .collect();
    assert_none(&format!("over {LONGEST_OF_PRODUCT} lines"), &breaches);
}

#[test]
fn the_binary_is_thin() {
    let files = sources();
    let files = files
        .iter()
        .filter(|file| file.starts_with("bin/refract/src/"));
    let lines: usize = files
        .filter(|file| is_product(file))
        .map(|file| read(file).lines().count())
        .sum();
    assert!(
        lines < LONGEST_BINARY,
        "bin/refract/src has {lines} lines, must be under {LONGEST_BINARY}"
    );
}

#[test]
fn a_crate_has_few_modules_at_its_root() {
    let roots = sources().into_iter().filter(|file| {
        let is_root = file.ends_with("/src/lib.rs") || file.ends_with("/src/main.rs");
        is_root && is_product(file)
    });
    let breaches: Vec<String> = roots
        .map(|file| {
            let text = read(&file);
            let modules = text.lines().filter(|line| {
                let line = line.trim_start_matches("pub ");
                line.starts_with("mod ") && line.ends_with(';')
            });
            (modules.count(), file)
        })
        .filter(|(modules, _)| *modules > ROOT_MODULES)
        .map(|(modules, file)| format!("{file}: {modules} modules"))
        .collect();
    assert_none(&format!("over {ROOT_MODULES} modules"), &breaches);
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
fn every_module_begins_with_its_purpose() {
    let breaches: Vec<String> = sources()
        .into_iter()
        .filter(|file| is_module(file) && !file.ends_with("/tests.rs"))
        .filter(|file| !read(file).starts_with("//!"))
        .collect();
    assert_none("does not begin with `//!`", &breaches);
}

/// A file without a `mod` declaration is not compiled, and `circles` and `names` ignore it.
#[test]
fn every_file_is_declared_as_a_module() {
    let trees = crate_tree::of_members();
    let declared: BTreeSet<&str> = trees
        .values()
        .flat_map(CrateTree::modules)
        .map(|module| module.file.as_str())
        .collect();
    let is_for_tests = |file: &str| file.ends_with("/tests.rs") || file.contains("/tests/");
    let breaches: Vec<String> = sources()
        .into_iter()
        .filter(|file| {
            let is_of_member = trees.keys().any(|root| {
                let folder = Path::new(root).parent();
                folder.is_some_and(|folder| Path::new(file).starts_with(folder))
            });
            is_of_member && !is_for_tests(file) && !declared.contains(file.as_str())
        })
        .collect();
    assert_none("a file that no `mod` declares", &breaches);
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

/// Where `persistence` may define macros: what picks the database of a statement, the columns of the
/// schema, and the one list of a result's columns. What transactions share is a function of a
/// `Transaction`.
const MACROS_OF_PERSISTENCE: [&str; 3] = [
    "crates/persistence/src/connections/connection.rs",
    "crates/persistence/src/queries/results/insert/",
    "crates/persistence/src/schema/",
];

#[test]
fn what_transactions_share_is_no_macro() {
    let is_allowed = |file: &str| {
        MACROS_OF_PERSISTENCE
            .iter()
            .any(|place| file.starts_with(place))
    };
    let breaches: Vec<String> = sources()
        .into_iter()
        .filter(|file| file.starts_with("crates/persistence/src/") && !is_allowed(file))
        .filter(|file| read(file).contains("macro_rules!"))
        .collect();
    assert_none("define a macro in persistence", &breaches);
}
