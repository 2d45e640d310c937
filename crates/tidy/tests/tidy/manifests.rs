//! One table of versions, one set of lints, one edition.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::{assert_none, files, read};

/// The keys that a member inherits from `[workspace.package]`.
const INHERITED: [&str; 4] = ["version", "edition", "rust-version", "license"];

/// The members that other programs may take from a registry; the others inherit `publish`.
const PUBLISHED: [&str; 4] = [
    "refract-authoring",
    "refract-domain",
    "refract-evaluation",
    "refract-lens-rendering",
];

/// The tables of a manifest with dependencies.
const DEPENDENCY_TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

fn manifest(file: &str) -> Table {
    read(file).parse().expect(file)
}

/// The manifests of the members, without those of separate workspaces such as fuzz targets.
pub(crate) fn members() -> Vec<(String, Table)> {
    files()
        .into_iter()
        .filter(|file| file.ends_with("/Cargo.toml"))
        .map(|file| {
            let table = manifest(&file);
            (file, table)
        })
        .filter(|(_, table)| !table.contains_key("workspace"))
        .collect()
}

fn is_inherited(value: Option<&Value>) -> bool {
    value
        .and_then(|value| value.get("workspace"))
        .and_then(Value::as_bool)
        .unwrap_or(false)
}

/// The dependencies of a manifest, including platform-specific ones.
fn dependencies(manifest: &Table) -> Vec<(&String, &Value)> {
    let platforms = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(Table::values)
        .filter_map(Value::as_table);
    std::iter::once(manifest)
        .chain(platforms)
        .flat_map(|table| DEPENDENCY_TABLES.iter().filter_map(|name| table.get(*name)))
        .filter_map(Value::as_table)
        .flatten()
        .collect()
}

#[test]
fn members_inherit_lints_edition_version_and_licence() {
    let mut breaches = Vec::new();
    for (file, manifest) in members() {
        if !is_inherited(manifest.get("lints")) {
            breaches.push(format!("{file}: needs `[lints] workspace = true`"));
        }
        let package = manifest.get("package");
        for key in INHERITED {
            if !is_inherited(package.and_then(|package| package.get(key))) {
                breaches.push(format!("{file}: needs `{key}.workspace = true`"));
            }
        }
        let publish = package.and_then(|package| package.get("publish"));
        let is_published = publish.and_then(Value::as_bool) == Some(true);
        let name = package.and_then(|package| package.get("name"));
        let may_be = name
            .and_then(Value::as_str)
            .is_some_and(|name| PUBLISHED.contains(&name));
        if is_published != may_be || !(is_published || is_inherited(publish)) {
            breaches.push(format!(
                "{file}: only {} have `publish = true`",
                PUBLISHED.join(", ")
            ));
        }
    }
    assert_none(
        "a manifest that does not inherit from the workspace",
        &breaches,
    );
}

#[test]
fn every_version_stands_in_the_one_table() {
    let mut breaches = Vec::new();
    for (file, manifest) in members() {
        for (name, value) in dependencies(&manifest) {
            if !is_inherited(Some(value)) {
                breaches.push(format!("{file}: {name}"));
            }
        }
    }
    assert_none(
        "a dependency that is not from [workspace.dependencies]",
        &breaches,
    );
}

#[test]
fn every_version_in_the_table_is_used() {
    let members = members();
    let used: BTreeSet<&String> = members
        .iter()
        .flat_map(|(_, manifest)| dependencies(manifest))
        .map(|(name, _)| name)
        .collect();
    let workspace = manifest("Cargo.toml");
    let unused: Vec<String> = workspace
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Value::as_table)
        .expect("Cargo.toml has [workspace.dependencies]")
        .keys()
        .filter(|name| !used.contains(name))
        .cloned()
        .collect();
    assert_none(
        "Cargo.toml: in [workspace.dependencies], used by no member",
        &unused,
    );
}
