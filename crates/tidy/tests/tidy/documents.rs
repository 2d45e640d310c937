//! What documents name is there: paths, make targets, Rust paths, types, settings, packages.
//!
//! Read are `README.md` and the pages directly under `docs/`. The changelog and the folders below
//! are left out, since they say what was. Links are followed in `repository`.

mod code;

use std::collections::BTreeSet;
use std::path::Path;

use toml::Value;

use crate::crate_tree::{self, CrateTree, Target};
use crate::{assert_none, files, has_ending, manifests, read};

/// The page that says what was.
const HISTORY: &str = "docs/CHANGELOG.md";

/// Endings of files that are ours wherever a document names one without a folder.
const ENDINGS: [&str; 4] = ["md", "rs", "sql", "toml"];

/// The file that stands for any module in the rule about modules and folders.
const ANY_MODULE: &str = "name.rs";

/// What paths in Rust may begin with besides our crates and those in `Cargo.lock`.
const BUILT_IN: [&str; 5] = ["alloc", "clippy", "core", "rustdoc", "std"];

/// The pages that are read, each with its text.
fn pages() -> Vec<(String, String)> {
    let pages: Vec<(String, String)> = files()
        .into_iter()
        .filter(|file| {
            let folder = Path::new(file).parent();
            let is_page = folder == Some(Path::new("docs")) && has_ending(file, "md");
            (is_page && file != HISTORY) || file == "README.md"
        })
        .map(|file| {
            let text = read(&file);
            (file, text)
        })
        .collect();
    assert!(pages.len() > 5, "the pages are read: {}", pages.len());
    pages
}

/// Fails with every piece of code in the pages in which `missing` finds something.
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
    let has_name = |name: &str| {
        let ending = format!("/{name}");
        files
            .iter()
            .any(|file| file == name || file.ends_with(&ending))
    };
    assert_found("a path that is not in the repository", |code| {
        code::words(code)
            .filter(|word| {
                if let Some((first, _)) = word.split_once('/') {
                    top.contains(first) && !is_there(word)
                } else {
                    let is_ours = ENDINGS.iter().any(|it| has_ending(word, it));
                    is_ours && *word != ANY_MODULE && !has_name(word)
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

/// Whether a path from the root of a crate ends at a module, an item or a member of a type.
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
    let tree = CrateTree::read("lib.rs", &|_| Some(text.to_owned()));
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
fn settings_are_in_the_sources() {
    let mut known = BTreeSet::new();
    for file in files() {
        if !has_ending(&file, "md") {
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

/// The names of our environment variables in a text; `REFRACT_TEST_…` is none.
fn settings(text: &str) -> BTreeSet<String> {
    code::names(text)
        .filter(|name| name.starts_with("REFRACT_") && !name.ends_with('_'))
        .map(ToOwned::to_owned)
        .collect()
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

#[test]
fn decision_records_are_numbered_without_gaps() {
    let files = files();
    let records = files
        .iter()
        .filter_map(|file| Some((file, file.strip_prefix("docs/adr/")?)));
    let mut breaches = Vec::new();
    for (number, (file, name)) in (1..).zip(records) {
        if !name.starts_with(&format!("{number:04}-")) {
            breaches.push(format!("{file}: number {number} is expected"));
        }
        if !read(file).starts_with(&format!("# {number}. ")) {
            breaches.push(format!("{file}: its title begins with another number"));
        }
    }
    assert_none("the records of decisions", &breaches);
}
