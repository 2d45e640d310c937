//! The names of our Rust code and its manifests in documents.

use std::collections::BTreeSet;

use toml::Value;

use super::{assert_found, code};
use crate::crate_tree::{self, CrateTree, Target};
use crate::{files, has_ending, manifests, read};

/// First segments of Rust paths, apart from our crates and those in `Cargo.lock`.
const BUILT_IN: [&str; 5] = ["alloc", "clippy", "core", "rustdoc", "std"];

#[test]
fn rust_paths_are_there() {
    let trees = crate_tree::of_members();
    let lock = read("Cargo.lock");
    let others: BTreeSet<String> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .filter(|name| !name.starts_with("refract"))
        .map(|name| name.replace('-', "_"))
        .collect();
    assert_found("a Rust path that leads nowhere", |code| {
        let Some(path) = code::rust_path(code) else {
            return Vec::new();
        };
        let (first, rest) = path.split_first().expect("a path has a first name");
        let of_crate = first.trim_start_matches("refract_").replace('_', "-");
        let tree = trees.get(&format!("crates/{of_crate}/src/lib.rs"));
        let is_there = match tree {
            Some(tree) => is_defined(tree, rest),
            None => others.contains(first) || BUILT_IN.contains(&first.as_str()),
        };
        if is_there {
            Vec::new()
        } else {
            vec![path.join("::")]
        }
    });
}

/// Whether a path from a crate's root leads to a module, an item or a member of a type.
fn is_defined(tree: &CrateTree, path: &[String]) -> bool {
    let last = path.last().map_or("", String::as_str);
    let path = [&["crate".to_owned()], path].concat();
    tree.resolve(0, &path).iter().any(|target| match target {
        Target::Module(_) => true,
        Target::Item { module, name } => {
            let item = tree.item(*module, name);
            name.rsplit("::").next() == Some(last)
                || item.is_some_and(|item| item.members.contains(last))
        }
        Target::Undefined { .. } | Target::Outside => false,
    })
}

#[test]
fn a_rust_path_ends_at_something_that_is_defined() {
    let text = "mod a { pub enum E { One } impl E { fn f() {} } } pub use a::E;";
    let tree = crate_tree::read("lib.rs", &|_| Some(text.to_owned()));
    let is_there = |path: &str| {
        let path: Vec<String> = path.split("::").map(ToOwned::to_owned).collect();
        is_defined(&tree, &path)
    };
    for known in ["a", "E", "a::E", "E::One", "a::E::f"] {
        assert!(is_there(known), "{known}");
    }
    for unknown in ["b", "a::F", "E::Two", "a::E::g"] {
        assert!(!is_there(unknown), "{unknown}");
    }
}

#[test]
fn names_of_types_are_in_the_sources() {
    let sources = files().into_iter().filter(|file| has_ending(file, "rs"));
    let mut known = BTreeSet::new();
    for file in sources {
        known.extend(code::names(&read(&file)).map(ToOwned::to_owned));
    }
    assert_found("a name that no source knows", |code| {
        let is_type = code.starts_with(char::is_uppercase)
            && code.contains(char::is_lowercase)
            && code.chars().all(char::is_alphanumeric);
        let is_missing = is_type && code.len() > 1 && !known.contains(code);
        is_missing.then(|| code.to_owned()).into_iter().collect()
    });
}

#[test]
fn packages_and_their_tests_are_there() {
    let files = files();
    let packages: BTreeSet<String> = manifests::members()
        .iter()
        .filter_map(|(_, manifest)| manifest.get("package")?.get("name"))
        .filter_map(Value::as_str)
        .map(ToOwned::to_owned)
        .collect();
    let has_target = |folder: &str, name: &str| {
        let endings = [
            format!("/{folder}/{name}.rs"),
            format!("/{folder}/{name}/main.rs"),
        ];
        files
            .iter()
            .any(|file| endings.iter().any(|ending| file.ends_with(ending)))
    };
    assert_found("a package, test or bench that is not there", |code| {
        if !code.contains("cargo ") {
            return Vec::new();
        }
        let words: Vec<&str> = code::words(code).collect();
        words
            .windows(2)
            .filter(|pair| match pair[0] {
                "-p" | "--package" => !packages.contains(pair[1]),
                "--test" => !has_target("tests", pair[1]),
                "--bench" => !has_target("benches", pair[1]),
                _ => false,
            })
            .map(|pair| pair.join(" "))
            .collect()
    });
}
