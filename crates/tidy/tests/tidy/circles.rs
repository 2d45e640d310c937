//! No dependency cycles between the files of a crate: no file uses itself through others.
//!
//! A file uses another file when it names something that the other defines: in `use` items and in
//! paths of all kinds, through imports and re-exports. `mod child;` and `pub use child::Name` alone
//! use nothing. An `impl Type` uses the file of the type; `self.name()` and `Type::name` use the
//! file of the `impl Type` with the function. Other method calls (`value.name()`) are not found: a
//! parser knows no types. Test modules are ignored.

mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::assert_none;
use crate::crate_tree::{self, CrateTree, Module, Segments, Target};

/// For each file, the files that it uses, each with the names that it takes from there.
type Uses = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

#[test]
fn no_file_uses_itself_through_others() {
    let mut breaches = Vec::new();
    for tree in crate_tree::of_members().values() {
        breaches.extend(circles(&uses(tree)));
    }
    assert_none("a circle between files", &breaches);
}

/// Describes each cycle, with its arrows.
fn circles(uses: &Uses) -> Vec<String> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = uses
        .keys()
        .map(|file| (file.as_str(), reached_from(file, uses)))
        .collect();
    let mut circles = BTreeSet::new();
    for (file, files) in &reached {
        let leads_back = |other: &&&str| reached.get(**other).is_some_and(|it| it.contains(file));
        let circle: BTreeSet<&str> = files.iter().filter(leads_back).copied().collect();
        if !circle.is_empty() {
            circles.insert(circle);
        }
    }
    circles
        .iter()
        .map(|circle| described(circle, uses))
        .collect()
}

/// All files that a file uses, directly or indirectly.
fn reached_from<'a>(file: &str, uses: &'a Uses) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for used in uses.get(file).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(used.as_str()) {
                open.push(used);
            }
        }
    }
    reached
}

/// Describes a cycle: its files, and each arrow with its names.
fn described(circle: &BTreeSet<&str>, uses: &Uses) -> String {
    let mut lines = vec![format!("a circle of {} files:", circle.len())];
    for from in circle {
        for (to, names) in uses.get(*from).into_iter().flatten() {
            if circle.contains(to.as_str()) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                lines.push(format!("  {from} -> {to}: {}", names.join(", ")));
            }
        }
    }
    lines.join("\n  ")
}

/// The uses between the files of a crate.
fn uses(tree: &CrateTree) -> Uses {
    let mut uses = Uses::new();
    for (number, module) in tree.modules().iter().enumerate() {
        let of_file = uses.entry(module.file.clone()).or_default();
        for path in used_paths(module) {
            for target in tree.resolve(number, path) {
                let (Target::Item { module: of, name } | Target::Undefined { module: of, name }) =
                    target
                else {
                    continue;
                };
                let defining = &tree.modules()[of].file;
                if *defining != module.file {
                    of_file.entry(defining.clone()).or_default().insert(name);
                }
            }
        }
    }
    uses
}

/// The paths of a module that count as uses; a re-export does not count.
fn used_paths(module: &Module) -> impl Iterator<Item = &Segments> {
    let imported = module
        .imports
        .iter()
        .filter(|import| import.name.is_some() && !import.is_reexport)
        .map(|import| &import.path);
    let implemented = module.impls.iter().map(|inherent| &inherent.of);
    imported.chain(implemented).chain(&module.mentions)
}
