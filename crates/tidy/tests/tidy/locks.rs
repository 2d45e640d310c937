//! The lock files of separate workspaces, such as benches and fuzz targets. No build of this
//! workspace reads them.

use toml::{Table, Value};

use crate::manifests::members;
use crate::{assert_none, files, read};

/// A build with `--locked` refuses a lock file that lacks a dependency of one of our crates.
#[test]
fn every_lock_file_knows_what_our_crates_depend_on() {
    let members = members();
    let locks = files();
    let locks = locks.iter().filter(|file| file.ends_with("/Cargo.lock"));
    let mut breaches = Vec::new();
    let mut compared = 0;
    for lock in locks {
        let packages: Table = read(lock).parse().expect(lock);
        for (_, member) in &members {
            let Some(locked) = locked_dependencies(&packages, name(member)) else {
                continue;
            };
            compared += 1;
            let missing = needed(member).filter(|needed| !locked.contains(needed));
            let named = |missing| format!("{lock}: {} lacks {missing}", name(member));
            breaches.extend(missing.map(named));
        }
    }
    assert!(compared > 0, "no lock file names a crate of ours");
    assert_none(
        "a lock file that is behind (`cargo metadata --manifest-path …` mends it)",
        &breaches,
    );
}

fn name(manifest: &Table) -> &str {
    let package = manifest
        .get("package")
        .and_then(|package| package.get("name"));
    package
        .and_then(Value::as_str)
        .expect("a package has a name")
}

/// The crates that a manifest always needs, except in tests.
fn needed(manifest: &Table) -> impl Iterator<Item = &str> {
    let table = manifest.get("dependencies").and_then(Value::as_table);
    let all = table.into_iter().flatten();
    all.filter(|(_, value)| value.get("optional").is_none())
        .map(|(name, _)| name.as_str())
}

/// The names of a package's dependencies in a lock file; `None` if the file lacks the package.
fn locked_dependencies<'a>(lock: &'a Table, package: &str) -> Option<Vec<&'a str>> {
    let packages = lock.get("package").and_then(Value::as_array)?;
    let found = packages
        .iter()
        .find(|one| one.get("name").and_then(Value::as_str) == Some(package))?;
    let dependencies = found.get("dependencies").and_then(Value::as_array);
    let names = dependencies.into_iter().flatten().filter_map(Value::as_str);
    // if a lock file has several versions of a crate, the version follows the name
    Some(names.filter_map(|name| name.split(' ').next()).collect())
}
