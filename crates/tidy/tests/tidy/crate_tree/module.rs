//! What is known of one module.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Ident, Visibility};

/// The segments of a path as written; `$crate` is `crate`.
pub(crate) type Segments = Vec<String>;

/// A module, with a file of its own or written out in its parent's.
#[derive(Default)]
pub(crate) struct Module {
    /// The file that the module's text is in.
    pub(crate) file: String,
    /// The number of the module around this one; `None` for the crate's root.
    pub(crate) parent: Option<usize>,
    /// The numbers of the modules inside, by name.
    pub(crate) children: BTreeMap<String, usize>,
    pub(crate) items: Vec<Item>,
    pub(crate) imports: Vec<Import>,
    pub(crate) impls: Vec<InherentImpl>,
    /// The paths in everything but `use` items.
    pub(crate) mentions: BTreeSet<Segments>,
}

impl Module {
    pub(super) fn new(file: &str, parent: Option<usize>) -> Self {
        Self {
            file: file.to_owned(),
            parent,
            ..Self::default()
        }
    }
}

/// Something that a module defines.
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) kind: ItemKind,
    /// Whether it is `pub`, `pub(crate)`, `pub(super)` or `pub(in …)`.
    pub(crate) is_visible: bool,
    /// An enum's variants, a struct's fields, a trait's functions.
    pub(crate) members: BTreeSet<String>,
}

impl Item {
    pub(super) fn new(name: &Ident, kind: ItemKind, visibility: &Visibility) -> Self {
        Self {
            name: name.to_string(),
            kind,
            is_visible: !matches!(visibility, Visibility::Inherited),
            members: BTreeSet::new(),
        }
    }

    /// A macro, whose name is written with `!`, since a variable may have the name without.
    pub(super) fn of_macro(name: &Ident) -> Self {
        Self {
            name: format!("{name}!"),
            kind: ItemKind::Macro,
            is_visible: false,
            members: BTreeSet::new(),
        }
    }

    pub(super) fn with_members<'a>(self, members: impl Iterator<Item = &'a Ident>) -> Self {
        Self {
            members: members.map(Ident::to_string).collect(),
            ..self
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// A struct, enum, union, trait or type alias.
    Type,
    /// A function, constant or static.
    Value,
    Macro,
}

/// One name that a `use` item brings in.
pub(crate) struct Import {
    pub(crate) path: Segments,
    /// The name in this module; `None` where it brings in everything in the path (`*`).
    pub(crate) name: Option<String>,
    /// Whether other modules may take the name from here (`pub use`, `pub(crate) use`).
    pub(crate) is_reexport: bool,
}

/// The names that an `impl Type` without a trait gives to the type.
pub(crate) struct InherentImpl {
    pub(crate) of: Segments,
    pub(crate) names: BTreeSet<String>,
}
