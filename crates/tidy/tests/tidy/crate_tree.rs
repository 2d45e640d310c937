//! The modules of one crate as a parser sees them: definitions, imports and mentions of each file.
//!
//! Macros are not expanded. If a `macro_rules!` in the same module defines a type, the type's name
//! is assumed to be the first identifier of the macro's call (`id! { /// A prism. PrismId }`).

mod imports;
mod items;
mod mentions;
mod module;
mod reading;
mod resolving;
mod syntax;

use std::collections::BTreeMap;

pub(crate) use module::{ItemKind, Module, Segments};
pub(crate) use resolving::{CrateTree, Target};

use crate::{files, manifests};

/// Parses the crate with this root file, except for test modules and test items. `source` returns a
/// file's text; `None` if there is no such file.
pub(crate) fn read(root: &str, source: &dyn Fn(&str) -> Option<String>) -> CrateTree {
    CrateTree::new(reading::modules(root, source))
}

/// The libraries and programs of the workspace's members, by their root file's path.
pub(crate) fn of_members() -> BTreeMap<String, CrateTree> {
    let files = files();
    let source = |file: &str| {
        let is_there = files.iter().any(|known| known == file);
        is_there.then(|| crate::read(file))
    };
    let trees: BTreeMap<String, CrateTree> = manifests::members()
        .iter()
        .filter_map(|(manifest, _)| manifest.strip_suffix("Cargo.toml"))
        .flat_map(|folder| ["lib", "main"].map(|root| format!("{folder}src/{root}.rs")))
        .filter(|root| files.contains(root))
        .map(|root| {
            let tree = read(&root, &source);
            (root, tree)
        })
        .collect();
    assert!(!trees.is_empty(), "the workspace has members");
    trees
}
