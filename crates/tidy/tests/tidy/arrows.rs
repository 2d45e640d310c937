//! Allowed dependencies between crates.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use crate::{assert_none, root, run};

/// The crates of this workspace, each with the workspace crates that it may depend on.
const ARROWS: [(&str, &[&str]); 20] = [
    (
        "refract",
        &[
            "refract-terminal",
            "refract-app",
            "refract-http-api",
            "refract-http-serving",
            "refract-file-runs",
            "refract-service",
            "refract-persistence",
            "refract-model-gateway",
            "refract-traces",
        ],
    ),
    (
        "refract-terminal",
        &[
            "refract-file-runs",
            "refract-service",
            "refract-evaluation",
            "refract-lens-rendering",
            "refract-authoring",
            "refract-domain",
        ],
    ),
    (
        "refract-app",
        &[
            "refract-http-serving",
            "refract-file-runs",
            "refract-service",
            "refract-lens-rendering",
            "refract-authoring",
            "refract-evaluation",
            "refract-domain",
            "refract-traces",
        ],
    ),
    (
        "refract-http-api",
        &[
            "refract-http-serving",
            "refract-service",
            "refract-lens-rendering",
            "refract-domain",
            "refract-traces",
        ],
    ),
    (
        "refract-file-runs",
        &[
            "refract-service",
            "refract-lens-rendering",
            "refract-authoring",
            "refract-evaluation",
            "refract-domain",
        ],
    ),
    (
        "refract-service",
        &[
            "refract-persistence",
            "refract-model-gateway",
            "refract-sign-on",
            "refract-evaluation",
            "refract-lens-rendering",
            "refract-authoring",
            "refract-domain",
            "refract-traces",
        ],
    ),
    (
        "refract-persistence",
        &["refract-domain", "refract-tls-files", "refract-traces"],
    ),
    (
        "refract-model-gateway",
        &["refract-domain", "refract-tls-files", "refract-traces"],
    ),
    ("refract-sign-on", &["refract-domain"]),
    ("refract-authoring", &["refract-domain"]),
    ("refract-evaluation", &["refract-domain"]),
    ("refract-lens-rendering", &["refract-domain"]),
    (
        "refract-lens-wasm",
        &[
            "refract-evaluation",
            "refract-lens-rendering",
            "refract-authoring",
            "refract-domain",
        ],
    ),
    ("refract-http-serving", &["refract-traces"]),
    ("refract-tls-files", &[]),
    ("refract-traces", &[]),
    ("refract-domain", &[]),
    ("refract-test-support", &["refract-domain"]),
    (
        "refract-test-stack",
        &["refract", "refract-terminal", "refract-test-support"],
    ),
    ("refract-tidy", &[]),
];

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

fn allowed(member: &Package) -> Option<&'static [&'static str]> {
    ARROWS
        .iter()
        .find(|(name, _)| *name == member.name.as_str())
        .map(|(_, arrows)| *arrows)
}

#[test]
fn our_crates_depend_on_each_other_along_the_arrows_only() {
    let metadata = workspace();
    let members = metadata.workspace_packages();
    let mut breaches = Vec::new();
    for member in &members {
        let Some(arrows) = allowed(member) else {
            breaches.push(format!("{} is not on the list of arrows", member.name));
            continue;
        };
        for dependency in &member.dependencies {
            let ours = members.iter().any(|other| *other.name == dependency.name);
            if ours
                && dependency.kind != DependencyKind::Development
                && !arrows.contains(&dependency.name.as_str())
            {
                breaches.push(format!("{} -> {}", member.name, dependency.name));
            }
        }
    }
    assert_none("an arrow that the architecture does not have", &breaches);
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
