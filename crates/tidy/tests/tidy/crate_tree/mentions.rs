//! The paths in an item: in types, expressions, patterns, macros and attributes.
//!
//! The arguments and definitions of macros are searched for identifiers joined by `::`. An
//! attribute's strings are searched too (`#[serde(with = "path")]`), documentation is not.

use std::collections::BTreeSet;
use std::mem;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::imports;
use super::module::{Import, Segments};
use super::syntax::{attributes, is_for_tests, segments, type_path};

#[derive(Default)]
pub(super) struct Mentions {
    pub(super) paths: BTreeSet<Segments>,
    /// The imports of `use` items inside functions.
    pub(super) imports: Vec<Import>,
}

/// The mentions in an item, except for test items inside it.
pub(super) fn of(item: &syn::Item) -> Mentions {
    let mut visitor = Visitor::default();
    visitor.visit_item(item);
    visitor.mentions
}

#[derive(Default)]
struct Visitor {
    mentions: Mentions,
    /// The type of the visited impl; `Self` and `self` refer to it.
    impl_of: Option<Segments>,
}

impl Visitor {
    fn mention(&mut self, path: Segments) {
        let path = match (path.split_first(), &self.impl_of) {
            (Some((first, rest)), Some(of)) if first == "Self" => [of.as_slice(), rest].concat(),
            _ => path,
        };
        if !path.is_empty() {
            self.mentions.paths.insert(path);
        }
    }

    /// Adds the paths among tokens, including those of groups.
    fn search(&mut self, tokens: TokenStream) {
        let mut path = Segments::new();
        // the punctuation after the previous identifier
        let mut before = String::new();
        for tree in tokens {
            match tree {
                TokenTree::Punct(punct) => before.push(punct.as_char()),
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    if before == "::" && !path.is_empty() {
                        path.push(name);
                    } else if before == "." && path == ["self"] {
                        path = vec!["Self".to_owned(), name];
                    } else {
                        self.mention(mem::take(&mut path));
                        let is_member = before.ends_with('.') && !before.ends_with("..");
                        let is_variable = before.ends_with('$') && name != "crate";
                        if !is_member && !is_variable && !before.ends_with("::") {
                            path.push(name);
                        }
                    }
                    before.clear();
                }
                TokenTree::Group(group) => {
                    if before == "!" {
                        path = as_macro(path);
                    }
                    self.mention(mem::take(&mut path));
                    self.search(group.stream());
                    before.clear();
                }
                TokenTree::Literal(_) => {
                    self.mention(mem::take(&mut path));
                    before.clear();
                }
            }
        }
        self.mention(path);
    }

    /// Adds the paths in an attribute's strings, and the functions that serde takes from a module
    /// named there.
    fn search_strings(&mut self, tokens: TokenStream) {
        let mut key = String::new();
        for tree in tokens {
            match tree {
                TokenTree::Punct(_) => {}
                TokenTree::Ident(ident) => key = ident.to_string(),
                TokenTree::Group(group) => self.search_strings(group.stream()),
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    let Ok(path) = syn::parse_str::<syn::Path>(text.trim_matches('"')) else {
                        continue;
                    };
                    if path.segments.len() > 1 || key == "with" {
                        let path = segments(&path);
                        self.mention([path.as_slice(), &["deserialize".to_owned()]].concat());
                    }
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Visitor {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.mentions.imports.extend(imports::of(item));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let around = mem::replace(&mut self.impl_of, type_path(&item.self_ty));
        visit::visit_item_impl(self, item);
        self.impl_of = around;
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if let syn::Expr::Path(receiver) = &*call.receiver
            && receiver.path.is_ident("self")
        {
            self.mention(vec!["Self".to_owned(), call.method.to_string()]);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.mention(segments(path));
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.mention(as_macro(segments(&call.path)));
        self.search(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.search(list.tokens.clone());
            self.search_strings(list.tokens.clone());
        }
    }
}

/// The path of a macro. Here, a macro's name in a module ends with `!`.
fn as_macro(mut path: Segments) -> Segments {
    if let Some(name) = path.last_mut() {
        name.push('!');
    }
    path
}
