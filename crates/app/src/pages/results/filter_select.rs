//! A choice among the values of a filter.

use maud::{Markup, html};

use crate::components::field::FormField;

/// A choice whose options are given as markup.
pub(super) fn select(field: FormField<'_>, options: &Markup) -> Markup {
    field.around(&html! {
        select #(field.name) name=(field.name)
            aria-invalid=[(!field.fault.is_empty()).then_some("true")]
            aria-describedby=[(!field.fault.is_empty()).then(|| format!("{}-fault", field.name))] {
            (options)
        }
    })
}
