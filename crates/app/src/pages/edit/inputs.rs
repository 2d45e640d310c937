//! Inputs and buttons of the form, named by the paths of the prism file.

use std::collections::HashMap;

use maud::{Markup, html};

use super::carried_draft::DraftBase;
use super::draft::DraftKey;
use super::editing::CheckedDraft;
use crate::components::field::FormField;

/// What inputs need in addition to their value.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) checked: &'a CheckedDraft,
    /// The id of the element that gets the focus; empty for none.
    pub(crate) focus: &'a str,
    /// The version against which folded questions are compared for their hidden values.
    pub(crate) base: &'a DraftBase,
    /// The keys that new items will get, by path.
    pub(crate) keys: &'a HashMap<String, String>,
}

/// The headings above a list, for those who see its items as lines of a table. Each input has its
/// own label too.
pub(crate) fn headings(kind: &str, words: &[&str]) -> Markup {
    html! {
        div.headings.(kind) aria-hidden="true" { @for word in words { span { (word) } } }
    }
}

impl Inputs<'_> {
    /// A single-line input, or a multi-line one if the value has line breaks, which a single line
    /// would lose.
    pub(crate) fn line(self, name: &str, label: &str, value: &str) -> Markup {
        if value.contains('\n') {
            return self.area(name, label, value, "", 2);
        }
        self.field(name, label, value).line("text", "off")
    }

    /// A multi-line input.
    pub(crate) fn area(
        self,
        name: &str,
        label: &str,
        value: &str,
        hint: &str,
        rows: usize,
    ) -> Markup {
        self.field(name, label, value).hint(hint).area(rows)
    }

    fn field<'a>(self, name: &'a str, label: &'a str, value: &'a str) -> FormField<'a> {
        let field = FormField::new(name, label).value(value);
        let field = field.error(self.checked.error(name));
        field.focus(self.focus == name)
    }

    /// The input of a key; read-only once it is saved. An empty one shows the key that is made.
    pub(crate) fn key(self, path: &str, key: &DraftKey) -> Markup {
        let name = format!("{path}.key");
        match key {
            DraftKey::Saved(key) => {
                let error = self.checked.error(&name);
                html! {
                    div.field.key #(name) tabindex="-1" autofocus[self.focus == name] {
                        span.label { "Key" }
                        input type="hidden" name={ (path) ".saved_key" } value=(key);
                        p { code title="Callers rely on it, so it is fixed" { (key) } span.unseen { ", fixed" } }
                        @if !error.is_empty() { p.fault { (error) } }
                    }
                }
            }
            DraftKey::Typed(key) => {
                let made = self.keys.get(&name).map_or("", String::as_str);
                html! {
                    div.key { (self.field(&name, "Key", key).placeholder(made).line("text", "off")) }
                }
            }
        }
    }

    /// Buttons that move and remove an item. `what` names the item for screen readers.
    pub(crate) fn rearranging(self, path: &str, place: usize, count: usize, what: &str) -> Markup {
        let button = |change: &str, sign: &str, words: &str, off: bool| {
            let value = format!("{path}.{change}");
            html! {
                button #(value) type="submit" name="act" value=(value) disabled[off]
                    autofocus[self.focus == value] aria-label={ (words) " " (what) }
                    title=(words) { (sign) }
            }
        };
        html! {
            span.rearranging {
                (button("up", "↑", "Move up", place == 0))
                (button("down", "↓", "Move down", place + 1 == count))
                (button("remove", "✕", "Remove", false))
            }
        }
    }

    /// A button that adds an item.
    pub(crate) fn adding(self, value: &str, words: &str) -> Markup {
        html! {
            button type="submit" name="act" value=(value) id=(value) autofocus[self.focus == value] { (words) }
        }
    }

    /// The validation error of a whole list.
    pub(crate) fn list_error(self, path: &str) -> Markup {
        let error = self.checked.error(path);
        html! { div.list-fault id=(path) tabindex="-1" autofocus[self.focus == path] { @if !error.is_empty() { p.fault { (error) } } } }
    }
}
