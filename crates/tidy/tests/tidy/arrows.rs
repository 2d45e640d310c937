//! Allowed dependencies between crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use crate::{assert_none, read, root, run};

/// The page with the arrows: a line for each crate, in the first block of code.
const PAGE: &str = "docs/ARCHITECTURE.md";

/// The crates of this workspace by the page, each with the workspace crates that it depends on.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let page = read(PAGE);
    let block = page.split("```").nth(1).expect("the page has a block");
    block
        .lines()
        .filter_map(|line| line.split_once(" -> "))
        .flat_map(|(sources, targets)| {
            let targets: BTreeSet<String> = names(targets).collect();
            names(sources)
                .map(|source| (source, targets.clone()))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The packages that a side of an arrow names.
fn names(side: &str) -> impl Iterator<Item = String> {
    let names = side.split(", ").map(str::trim);
    names
        .filter(|name| *name != "nothing")
        .map(|name| match name {
            "bin/refract" => "refract".to_owned(),
            _ => format!("refract-{name}"),
        })
}

/// External dependencies, each with the only crates that may depend on it. Dev-dependencies count
/// too.
const KEEPERS: [(&str, &[&str]); 18] = [
    ("actix-http", &["refract-http-serving"]),
    ("actix-server", &["refract-http-serving"]),
    (
        "actix-web",
        &[
            "refract",
            "refract-app",
            "refract-http-api",
            "refract-http-serving",
        ],
    ),
    ("deadpool", &["refract-persistence"]),
    ("diesel", &["refract-persistence"]),
    ("diesel-async", &["refract-persistence"]),
    ("diesel_migrations", &["refract-persistence"]),
    ("hyper", &["refract-model-gateway", "refract-traces"]),
    ("libsqlite3-sys", &["refract-persistence"]),
    ("opentelemetry", &["refract-traces"]),
    ("opentelemetry-http", &["refract-traces"]),
    ("opentelemetry-otlp", &["refract-traces"]),
    // the binary's tests receive traces
    ("opentelemetry-proto", &["refract"]),
    ("opentelemetry_sdk", &["refract-traces"]),
    ("reqwest", &["refract-sign-on"]),
    (
        "tokio-postgres",
        &["refract-persistence", "refract-test-support"],
    ),
    ("tokio-postgres-rustls", &["refract-persistence"]),
    ("wasm-bindgen", &["refract-lens-wasm"]),
];

/// Crates that only tests and benches may use.
const FOR_TESTS: [&str; 3] = ["refract-test-stack", "refract-test-support", "refract-tidy"];

/// The crates linked with `refract-lens-rendering`, including itself. It is embedded in other
/// programs and must stay small.
const RENDERING_LINKS: [&str; 17] = [
    "chrono",
    "equivalent",
    "hashbrown",
    "indexmap",
    "ipnet",
    "itoa",
    "memchr",
    "num-traits",
    "refract-domain",
    "refract-lens-rendering",
    "serde",
    "serde_core",
    "serde_json",
    "serde_with",
    "thiserror",
    "uuid",
    "zmij",
];

/// The crates that `refract-lens-rendering` needs only at compile time: macros and their
/// dependencies.
const RENDERING_MACROS: [&str; 6] = [
    "proc-macro2",
    "quote",
    "serde_derive",
    "syn",
    "thiserror-impl",
    "unicode-ident",
];

fn workspace() -> Metadata {
    MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .other_options(vec!["--locked".to_owned()])
        .exec()
        .expect("cargo reads the workspace")
}

#[test]
fn the_page_names_every_arrow_between_our_crates_and_no_other() {
    let metadata = workspace();
    let members = metadata.workspace_packages();
    let is_ours = |name: &str| members.iter().any(|member| *member.name == name);
    let manifests: BTreeMap<String, BTreeSet<String>> = members
        .iter()
        .map(|member| {
            let linked = member.dependencies.iter().filter(|dependency| {
                dependency.kind != DependencyKind::Development && is_ours(&dependency.name)
            });
            let targets = linked.map(|dependency| dependency.name.clone()).collect();
            (member.name.to_string(), targets)
        })
        .collect();
    let page = arrows();
    let crates: BTreeSet<&String> = manifests.keys().chain(page.keys()).collect();
    let breaches: Vec<String> = crates
        .into_iter()
        .filter(|name| manifests.get(*name) != page.get(*name))
        .map(|name| {
            let (linked, listed) = (manifests.get(name), page.get(name));
            format!("{name}: the manifest has {linked:?}, the page {listed:?}")
        })
        .collect();
    assert_none(
        "docs/ARCHITECTURE.md lists other arrows than the manifests",
        &breaches,
    );
}

#[test]
fn what_is_for_tests_stays_in_tests() {
    let mut breaches = Vec::new();
    let is_product = |member: &&Package| !FOR_TESTS.contains(&member.name.as_str());
    let members = workspace();
    for member in members.workspace_packages().into_iter().filter(is_product) {
        for dependency in &member.dependencies {
            if FOR_TESTS.contains(&dependency.name.as_str())
                && dependency.kind != DependencyKind::Development
            {
                breaches.push(format!("{} -> {}", member.name, dependency.name));
            }
        }
    }
    assert_none(
        "only a dev-dependency may name a crate for tests",
        &breaches,
    );
}

#[test]
fn dependencies_from_outside_stay_with_their_crates() {
    let mut breaches = Vec::new();
    for member in workspace().workspace_packages() {
        for dependency in &member.dependencies {
            for (outside, keepers) in KEEPERS {
                if dependency.name == outside && !keepers.contains(&member.name.as_str()) {
                    breaches.push(format!(
                        "{} -> {outside}, which is for {} only",
                        member.name,
                        keepers.join(" and ")
                    ));
                }
            }
        }
    }
    assert_none(
        "a dependency from outside that this crate must not name",
        &breaches,
    );
}

/// Names of the crates that `refract-lens-rendering` depends on along these edges of `cargo tree`.
fn rendering_tree(edges: &str) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = run(Command::new(cargo).args([
        "tree",
        "--locked",
        "--package=refract-lens-rendering",
        "--target=x86_64-unknown-linux-gnu",
        "--prefix=none",
        "--format={p}",
        "--edges",
        edges,
    ]));
    let names = tree.lines().filter_map(|l| l.split_whitespace().next());
    names.map(ToOwned::to_owned).collect()
}

#[test]
fn rendering_can_be_embedded_alone() {
    let linked = rendering_tree("normal,no-proc-macro");
    let all = rendering_tree("normal");
    let macros: Vec<_> = all.difference(&linked).collect();
    assert_eq!(linked.iter().collect::<Vec<_>>(), RENDERING_LINKS);
    assert_eq!(macros, RENDERING_MACROS);
}

/// Whether the toolchain of this test can compile for a target.
fn is_installed(target: &str) -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let library = run(Command::new(rustc).args(["--print=target-libdir", "--target", target]));
    Path::new(library.trim()).is_dir()
}

#[test]
fn what_renders_builds_for_browsers_where_their_target_is_installed() {
    const TARGET: &str = "wasm32-unknown-unknown";
    if !is_installed(TARGET) {
        println!("left out: {TARGET} is not installed");
        return;
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(Command::new(cargo).args([
        "check",
        "--locked",
        "--target",
        TARGET,
        "--target-dir=target/browsers",
        "--package=refract-domain",
        "--package=refract-lens-rendering",
    ]));
}
