//! One type name means one thing in the whole workspace.

use std::collections::BTreeMap;

use crate::assert_none;
use crate::crate_tree::{self, ItemKind};

#[test]
fn no_two_types_share_a_name() {
    let breaches: Vec<String> = files_of_types()
        .into_iter()
        .filter(|(_, files)| files.len() > 1)
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    assert_none("a name that several types have", &breaches);
}

/// The files that define types of each name, as far as other files can name the types. Modules named
/// `not_built` stand in for others where a feature is off.
fn files_of_types() -> BTreeMap<String, Vec<String>> {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for tree in crate_tree::of_members().values() {
        let modules = tree.modules().iter();
        for module in modules.filter(|module| !module.file.ends_with("/not_built.rs")) {
            for item in &module.items {
                if item.is_visible && item.kind == ItemKind::Type {
                    let of_name = files.entry(item.name.clone()).or_default();
                    of_name.push(module.file.clone());
                }
            }
        }
    }
    files
}
