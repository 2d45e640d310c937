//! The names that a `use` item imports.

use syn::{ItemUse, UseTree, Visibility};

use super::module::{Import, Segments};

pub(super) fn of(item: &ItemUse) -> Vec<Import> {
    let mut named = Vec::new();
    add_names(&item.tree, &[], &mut named);
    let is_reexport = !matches!(item.vis, Visibility::Inherited);
    named
        .into_iter()
        .map(|(path, name)| Import {
            path,
            name,
            is_reexport,
        })
        .collect()
}

/// Adds each imported name with its path; a `*` import has no name.
fn add_names(tree: &UseTree, before: &[String], named: &mut Vec<(Segments, Option<String>)>) {
    let path_to = |ident: &syn::Ident| -> Segments {
        if ident == "self" {
            before.to_vec()
        } else {
            [before, &[ident.to_string()]].concat()
        }
    };
    match tree {
        UseTree::Path(step) => add_names(&step.tree, &path_to(&step.ident), named),
        UseTree::Group(group) => {
            for tree in &group.items {
                add_names(tree, before, named);
            }
        }
        UseTree::Glob(_) => named.push((before.to_vec(), None)),
        UseTree::Name(last) => {
            let path = path_to(&last.ident);
            let name = path.last().cloned();
            named.push((path, name));
        }
        UseTree::Rename(last) => {
            named.push((path_to(&last.ident), Some(last.rename.to_string())));
        }
    }
}
