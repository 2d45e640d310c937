//! The contents of one module.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Ident, Visibility};

/// The segments of a path as written; `$crate` is `crate`.
pub(crate) type Segments = Vec<String>;

/// A module, in a separate file or inline in its parent's.
#[derive(Default)]
pub(crate) struct Module {
    /// The file with the module's text.
    pub(crate) file: String,
    /// The number of the enclosing module; `None` for the crate's root.
    pub(crate) parent: Option<usize>,
    /// The numbers of the child modules, by name.
    pub(crate) children: BTreeMap<String, usize>,
    pub(crate) items: Vec<Item>,
    pub(crate) imports: Vec<Import>,
    pub(crate) impls: Vec<InherentImpl>,
    /// The paths outside `use` items.
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

/// A definition in a module.
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

    /// A macro. Its name ends with `!` here, since a variable may have the plain name.
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

/// One name that a `use` item imports.
pub(crate) struct Import {
    pub(crate) path: Segments,
    /// The name in this module; `None` for an import of everything in the path (`*`).
    pub(crate) name: Option<String>,
    /// Whether other modules may import the name from here (`pub use`, `pub(crate) use`).
    pub(crate) is_reexport: bool,
}

/// The names that an `impl Type` without a trait adds to the type.
pub(crate) struct InherentImpl {
    pub(crate) of: Segments,
    pub(crate) names: BTreeSet<String>,
}
