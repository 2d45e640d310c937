//! The Markdown pages: which may exist, how many words they may have, and what a newcomer must
//! find.

mod records;

use std::collections::BTreeSet;

use crate::manifests::members;
use crate::{assert_none, files, has_ending, read};

/// The most words of a page, or of all pages in a folder. A page that is not here fails
/// [`every_page_has_a_budget`].
const BUDGETS: [(&str, usize); 30] = [
    ("README.md", 540),
    ("docs/API.md", 1_150),
    ("docs/APP.md", 660),
    ("docs/ARCHITECTURE.md", 1_150),
    ("docs/AUTOMATION.md", 440),
    ("docs/CHANGELOG.md", 210),
    ("docs/COMPATIBILITY.md", 1_310),
    ("docs/CONTRIBUTING.md", 790),
    ("docs/DATABASE.md", 650),
    ("docs/DEPLOY.md", 1_190),
    ("docs/FILES.md", 850),
    ("docs/MODELS.md", 1_340),
    ("docs/PERFORMANCE.md", 430),
    ("docs/PRISMS.md", 780),
    ("docs/PROBABILITIES.md", 740),
    ("docs/QUALITY.md", 1_490),
    ("docs/RELEASING.md", 160),
    ("docs/RETENTION.md", 570),
    ("docs/SCALING.md", 640),
    ("docs/SECURITY.md", 1_380),
    ("docs/SETTINGS.md", GENERATED),
    ("docs/SIGN-ON.md", 650),
    ("docs/TOUR.md", 650),
    ("docs/adr/", 3_150),
    ("docs/deploy/README.md", 160),
    ("docs/measurements/", 170),
    (".github/", 50),
    // the READMEs of packages
    (".ci/release/packages/", 90),
    ("clients/", 130),
    ("crates/lens-wasm/npm/", 320),
];

/// The budget of a page that the program writes: it counts towards [`ALL_WORDS`] alone.
const GENERATED: usize = ALL_WORDS;

/// The most words of all Markdown in the repository.
const ALL_WORDS: usize = 24_000;

/// The most words of the README of a crate.
const CRATE_README: usize = 100;

/// The topics that a newcomer looks for, each with the page to which the top README must link.
const ONE_CLICK: [(&str, &str); 6] = [
    ("install it", "docs/DEPLOY.md"),
    ("write a prism file", "docs/PRISMS.md"),
    ("call it from Python", "docs/API.md"),
    ("report a hole", "docs/SECURITY.md"),
    ("see what changed", "docs/CHANGELOG.md"),
    ("run the tests of one crate", "docs/CONTRIBUTING.md"),
];

/// The files from which an update bot reads versions.
const VERSION_LISTS: [&str; 3] = ["Cargo.lock", "package-lock.json", "requirements.txt"];

/// All Markdown with its number of words, as `wc -w` counts them.
fn markdown() -> Vec<(String, usize)> {
    files()
        .into_iter()
        .filter(|file| has_ending(file, "md"))
        .map(|file| {
            let words = read(&file).split_whitespace().count();
            (file, words)
        })
        .collect()
}

/// Whether an entry of [`BUDGETS`] is this page or its folder.
fn covers(entry: &str, page: &str) -> bool {
    entry == page || (entry.ends_with('/') && page.starts_with(entry))
}

fn is_crate_readme(page: &str) -> bool {
    let is_ours = page.starts_with("crates/") || page.starts_with("bin/");
    is_ours && page.ends_with("/README.md")
}

#[test]
fn no_page_is_over_its_budget() {
    let markdown = markdown();
    let mut breaches = Vec::new();
    for (entry, budget) in BUDGETS {
        let pages = markdown.iter().filter(|(page, _)| covers(entry, page));
        let words: usize = pages.map(|(_, words)| words).sum();
        if words > budget {
            breaches.push(format!("{entry}: {words} words, {budget} are allowed"));
        }
    }
    for (page, words) in &markdown {
        if is_crate_readme(page) && *words > CRATE_README {
            breaches.push(format!("{page}: {words} words, {CRATE_README} are allowed"));
        }
    }
    assert_none(
        "too many words: shorten the page, or move text to the page of its reader",
        &breaches,
    );
}

#[test]
fn all_pages_together_stay_readable() {
    let words: usize = markdown().iter().map(|(_, words)| words).sum();
    assert!(
        words <= ALL_WORDS,
        "all Markdown has {words} words, {ALL_WORDS} are allowed: shorten a page before adding one"
    );
}

#[test]
fn every_page_has_a_budget() {
    let has_budget = |page: &str| BUDGETS.iter().any(|(entry, _)| covers(entry, page));
    let breaches: Vec<String> = markdown()
        .into_iter()
        .map(|(page, _)| page)
        .filter(|page| !has_budget(page) && !is_crate_readme(page))
        .collect();
    assert_none(
        "a page without a reader: put its text on an existing page, or give it a budget in BUDGETS",
        &breaches,
    );
}

#[test]
fn the_pages_are_there() {
    let markdown = markdown();
    let missing: Vec<String> = BUDGETS
        .iter()
        .filter(|(entry, _)| !markdown.iter().any(|(page, _)| covers(entry, page)))
        .map(|(entry, _)| (*entry).to_owned())
        .collect();
    assert_none(
        "a page is missing: write it, or remove it from BUDGETS",
        &missing,
    );
}

#[test]
fn a_newcomer_finds_everything_within_one_click() {
    let readme = read("README.md");
    let missing: Vec<String> = ONE_CLICK
        .iter()
        .filter(|(_, page)| {
            let ends = [")", "#"].map(|end| format!("]({page}{end}"));
            !ends.iter().any(|link| readme.contains(link))
        })
        .map(|(task, page)| format!("how to {task}: link to {page}"))
        .collect();
    assert_none("README.md lacks a link for newcomers", &missing);
}

#[test]
fn every_crate_has_a_readme() {
    let mut breaches = Vec::new();
    for (manifest, table) in members() {
        let package = table.get("package");
        let text = |key: &str| package?.get(key)?.as_str();
        let name = text("name").expect("a package has a name");
        if text("readme") != Some("README.md") {
            breaches.push(format!("{manifest}: needs `readme = \"README.md\"`"));
        }
        let readme = manifest.replace("Cargo.toml", "README.md");
        let command = format!("cargo test -p {name}");
        if !files().contains(&readme) {
            breaches.push(format!(
                "{readme}: write what the crate is for and how it is tested"
            ));
        } else if !read(&readme).contains(&command) {
            breaches.push(format!("{readme}: needs the command `{command}`"));
        }
    }
    assert_none("a crate that does not introduce itself", &breaches);
}

#[test]
fn the_update_bot_knows_every_list_of_versions() {
    let settings = read(".github/dependabot.yml");
    let named: BTreeSet<&str> = settings
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("- /"))
        .collect();
    let breaches: Vec<String> = files()
        .iter()
        .filter_map(|file| {
            let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
            let is_unknown = VERSION_LISTS.contains(&name) && !named.contains(folder);
            is_unknown.then(|| format!("/{folder} (it has {name})"))
        })
        .collect();
    assert_none(
        "a folder that .github/dependabot.yml does not list",
        &breaches,
    );
}
