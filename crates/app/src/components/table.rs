//! Real tables, which scroll within the page when they are wider than it.

use maud::{Markup, html};

/// A table with a caption for those who do not see it. `rows` are `tr` elements. A heading of no
/// text belongs to a column of actions.
pub(crate) fn table(caption: &str, headings: &[&str], rows: &Markup) -> Markup {
    let headings = html! {
        tr {
            @for heading in headings {
                @if heading.is_empty() { td {} } @else { th scope="col" { (heading) } }
            }
        }
    };
    table_with(caption, &headings, rows)
}

/// A table whose headings are more than words: `headings` is a `tr` element.
pub(crate) fn table_with(caption: &str, headings: &Markup, rows: &Markup) -> Markup {
    html! {
        // it can be scrolled by keyboard
        div.table role="region" aria-label=(caption) tabindex="0" {
            table {
                caption.unseen { (caption) }
                thead { (headings) }
                tbody { (rows) }
            }
        }
    }
}
