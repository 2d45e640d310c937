//! The definitions in items.

use proc_macro2::TokenTree;
use syn::{ImplItem, TraitItem, Visibility};

use super::module::ItemKind::{Type, Value};
use super::module::{InherentImpl, Item};
use super::syntax::type_path;

/// The name that an item defines, if any.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other kinds of items define no name of their own"
)]
pub(super) fn defined(item: &syn::Item) -> Option<Item> {
    Some(match item {
        syn::Item::Const(item) => Item::new(&item.ident, Value, &item.vis),
        syn::Item::Static(item) => Item::new(&item.ident, Value, &item.vis),
        syn::Item::Fn(item) => Item::new(&item.sig.ident, Value, &item.vis),
        syn::Item::Type(item) => Item::new(&item.ident, Type, &item.vis),
        syn::Item::Union(item) => Item::new(&item.ident, Type, &item.vis),
        syn::Item::Struct(item) => {
            let fields = item.fields.iter().filter_map(|field| field.ident.as_ref());
            Item::new(&item.ident, Type, &item.vis).with_members(fields)
        }
        syn::Item::Enum(item) => {
            let variants = item.variants.iter().map(|variant| &variant.ident);
            Item::new(&item.ident, Type, &item.vis).with_members(variants)
        }
        syn::Item::Trait(item) => {
            let functions = item.items.iter().filter_map(|item| {
                if let TraitItem::Fn(function) = item {
                    Some(&function.sig.ident)
                } else {
                    None
                }
            });
            Item::new(&item.ident, Type, &item.vis).with_members(functions)
        }
        syn::Item::Macro(item) => Item::of_macro(item.ident.as_ref()?),
        _ => return None,
    })
}

/// The names of those macros among these items that define a type named by their argument.
pub(super) fn macros_for_types(items: &[syn::Item]) -> Vec<String> {
    items
        .iter()
        .filter_map(|item| {
            if let syn::Item::Macro(item) = item {
                Some((item.ident.as_ref()?, item.mac.tokens.to_string()))
            } else {
                None
            }
        })
        .filter(|(_, tokens)| tokens.contains("struct $") || tokens.contains("enum $"))
        .map(|(name, _)| name.to_string())
        .collect()
}

/// The type that a call of one of these macros defines: the call's first identifier.
pub(super) fn from_macro(item: &syn::Item, macros: &[String]) -> Option<Item> {
    let syn::Item::Macro(item) = item else {
        return None;
    };
    let called = item.mac.path.get_ident()?;
    if !macros.iter().any(|name| called == name) {
        return None;
    }
    let name = item.mac.tokens.clone().into_iter().find_map(|tree| {
        if let TokenTree::Ident(name) = tree {
            Some(name)
        } else {
            None
        }
    })?;
    let public = Visibility::Public(syn::Token![pub](name.span()));
    Some(Item::new(&name, Type, &public))
}

/// The functions and constants of an impl without a trait.
pub(super) fn inherent_impl(item: &syn::Item) -> Option<InherentImpl> {
    let syn::Item::Impl(item) = item else {
        return None;
    };
    if item.trait_.is_some() {
        return None;
    }
    let names = item.items.iter().filter_map(|item| {
        if let ImplItem::Fn(function) = item {
            Some(function.sig.ident.to_string())
        } else if let ImplItem::Const(constant) = item {
            Some(constant.ident.to_string())
        } else {
            None
        }
    });
    Some(InherentImpl {
        of: type_path(&item.self_ty)?,
        names: names.collect(),
    })
}
