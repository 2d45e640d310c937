//! The rules of this repository that no compiler checks. A failure names the rule and every file
//! that breaks it. The reasons are in `docs/CONTRIBUTING.md` and `docs/ARCHITECTURE.md`.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a repository that cannot be read fails these tests"
)]

mod arrows;
mod circles;
mod crate_tree;
mod documents;
mod locks;
mod manifests;
mod names;
mod pages;
mod repository;
mod sources;
mod words;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository stands above this crate")
}

/// The committed and new files, without ignored ones, as paths from the root of the repository.
fn files() -> Vec<String> {
    // another user may own the checkout; that is safe, since git only lists names
    let listing = run(Command::new("git").args([
        "-c",
        "safe.directory=*",
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "-z",
    ]));
    let root = root();
    let mut files: Vec<String> = listing
        .split_terminator('\0')
        .filter(|file| root.join(file).exists())
        .map(ToOwned::to_owned)
        .collect();
    files.sort();
    files.dedup();
    files
}

/// Whether a file has this extension.
fn has_ending(file: &str, ending: &str) -> bool {
    Path::new(file).extension() == Some(ending.as_ref())
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).expect(file)
}

/// Runs a command in the root folder and returns its output.
fn run(command: &mut Command) -> String {
    let output = command
        .current_dir(root())
        .output()
        .expect("the command starts");
    assert!(
        output.status.success(),
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("the command prints UTF-8")
}

/// Fails with all violations of a rule, so that one run shows everything to change.
fn assert_none(rule: &str, breaches: &[String]) {
    assert!(breaches.is_empty(), "{rule}:\n  {}", breaches.join("\n  "));
}
