//! Which crates may depend on which.

use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use crate::{assert_none, root, run};

/// The crates of this workspace and those of them that each may depend on.
const ARROWS: [(&str, &[&str]); 15] = [
    (
        "refract",
        &[
            "refract-app",
            "refract-http-api",
            "refract-http-serving",
            "refract-file-runs",
            "refract-service",
            "refract-persistence",
            "refract-model-gateway",
            "refract-evaluation",
            "refract-lens-rendering",
            "refract-authoring",
            "refract-domain",
            "refract-traces",
        ],
    ),
    (
        "refract-app",
        &[
            "refract-http-serving",
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
            "refract-evaluation",
            "refract-lens-rendering",
            "refract-authoring",
            "refract-domain",
            "refract-traces",
        ],
    ),
    ("refract-persistence", &["refract-domain", "refract-traces"]),
    (
        "refract-model-gateway",
        &["refract-domain", "refract-traces"],
    ),
    ("refract-authoring", &["refract-domain"]),
    ("refract-evaluation", &["refract-domain"]),
    ("refract-lens-rendering", &["refract-domain"]),
    ("refract-http-serving", &["refract-traces"]),
    ("refract-traces", &[]),
    ("refract-domain", &[]),
    ("refract-test-support", &["refract-domain"]),
    ("refract-tidy", &[]),
];

/// Dependencies from outside that only these crates may name, in their tests too.
const KEEPERS: [(&str, &[&str]); 16] = [
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
    (
        "hyper",
        &["refract", "refract-model-gateway", "refract-traces"],
    ),
    ("libsqlite3-sys", &["refract-persistence"]),
    ("opentelemetry", &["refract-traces"]),
    ("opentelemetry-http", &["refract-traces"]),
    ("opentelemetry-otlp", &["refract-traces"]),
    // the binary's tests receive spans
    ("opentelemetry-proto", &["refract"]),
    ("opentelemetry_sdk", &["refract-traces"]),
    (
        "tokio-postgres",
        &["refract-persistence", "refract-test-support"],
    ),
    ("tokio-postgres-rustls", &["refract-persistence"]),
];

/// Crates that only tests and benches may use.
const FOR_TESTS: [&str; 2] = ["refract-test-support", "refract-tidy"];

/// The whole dependency tree of `refract-lens-rendering`, which is embedded in other programs and
/// must stay small.
const RENDERING_TREE: [&str; 38] = [
    "block-buffer",
    "cfg-if",
    "chrono",
    "cpufeatures",
    "crypto-common",
    "csv",
    "csv-core",
    "digest",
    "equivalent",
    "getrandom",
    "hashbrown",
    "hybrid-array",
    "iana-time-zone",
    "indexmap",
    "itoa",
    "libc",
    "memchr",
    "num-traits",
    "proc-macro2",
    "quote",
    "refract-domain",
    "refract-lens-rendering",
    "ryu",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "serde_with",
    "sha2",
    "syn",
    "thiserror",
    "thiserror-impl",
    "tinyvec",
    "typenum",
    "unicode-ident",
    "unicode-normalization",
    "uuid",
    "zmij",
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
    for member in workspace().workspace_packages() {
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

#[test]
fn rendering_can_be_embedded_alone() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = run(Command::new(cargo).args([
        "tree",
        "--locked",
        "--package=refract-lens-rendering",
        "--edges=normal",
        "--target=x86_64-unknown-linux-gnu",
        "--prefix=none",
        "--format={p}",
    ]));
    let mut breaches: Vec<String> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| !RENDERING_TREE.contains(name))
        .map(ToOwned::to_owned)
        .collect();
    breaches.sort();
    breaches.dedup();
    assert_none(
        "not on the list of what refract-lens-rendering may depend on",
        &breaches,
    );
}
