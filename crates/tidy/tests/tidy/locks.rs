//! The lock files of workspaces of their own, such as benches and fuzz targets, which no build of
//! this workspace reads.

use toml::{Table, Value};

use crate::manifests::members;
use crate::{assert_none, files, read};

/// A build with `--locked` refuses a lock file that lacks what one of our crates depends on.
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

/// The crates that a manifest always needs outside of tests.
fn needed(manifest: &Table) -> impl Iterator<Item = &str> {
    let table = manifest.get("dependencies").and_then(Value::as_table);
    let all = table.into_iter().flatten();
    all.filter(|(_, value)| value.get("optional").is_none())
        .map(|(name, _)| name.as_str())
}

/// The names of what a lock file says that a package depends on; `None` where it has no such package.
fn locked_dependencies<'a>(lock: &'a Table, package: &str) -> Option<Vec<&'a str>> {
    let packages = lock.get("package").and_then(Value::as_array)?;
    let found = packages
        .iter()
        .find(|one| one.get("name").and_then(Value::as_str) == Some(package))?;
    let dependencies = found.get("dependencies").and_then(Value::as_array);
    let names = dependencies.into_iter().flatten().filter_map(Value::as_str);
    // a name that several versions share is followed by the version
    Some(names.filter_map(|name| name.split(' ').next()).collect())
}
