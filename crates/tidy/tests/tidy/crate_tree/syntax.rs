//! Small queries on parsed items.

use syn::{Attribute, Ident, Item, Type};

use super::module::Segments;

/// The segments of a path, without their generic arguments.
pub(super) fn segments(path: &syn::Path) -> Segments {
    let segments = path.segments.iter();
    segments.map(|segment| segment.ident.to_string()).collect()
}

/// The path of a type; `None` for types that are not paths, such as tuples.
pub(super) fn type_path(named: &Type) -> Option<Segments> {
    if let Type::Path(named) = named {
        Some(segments(&named.path))
    } else {
        None
    }
}

/// Whether an item with these attributes is `#[cfg(test)]`.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<Ident>()
                .is_ok_and(|option| option == "test")
    })
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of items that stand in no crate of ours"
)]
pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
