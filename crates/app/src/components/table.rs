//! HTML tables, which scroll within the page when they are too wide.

use maud::{Markup, html};

/// A table with a caption for screen readers. `rows` are `tr` elements. An empty heading belongs to
/// a column of actions.
pub(crate) fn table(caption: &str, headings: &[&str], rows: &Markup) -> Markup {
    table_with(caption, &heading_cells(headings), rows)
}

/// A table whose headings contain markup: `headings` is a `tr` element.
pub(crate) fn table_with(caption: &str, headings: &Markup, rows: &Markup) -> Markup {
    draw(caption, headings, rows, false)
}

/// A table too wide for a phone, where each row becomes a paragraph. The attribute `data-label` of
/// a cell is then shown in front of it.
pub(crate) fn stacked_table(caption: &str, headings: &[&str], rows: &Markup) -> Markup {
    stacked_table_with(caption, &heading_cells(headings), rows)
}

/// A stacked table whose headings contain markup: `headings` is a `tr` element.
pub(crate) fn stacked_table_with(caption: &str, headings: &Markup, rows: &Markup) -> Markup {
    draw(caption, headings, rows, true)
}

fn heading_cells(headings: &[&str]) -> Markup {
    html! {
        tr {
            @for heading in headings {
                @if heading.is_empty() { td {} } @else { th scope="col" { (heading) } }
            }
        }
    }
}

fn draw(caption: &str, headings: &Markup, rows: &Markup, stacks: bool) -> Markup {
    html! {
        // the keyboard can scroll it
        div.table role="group" aria-label=(caption) tabindex="0" {
            table.stacks[stacks] {
                caption.unseen { (caption) }
                thead { (headings) }
                tbody { (rows) }
            }
        }
    }
}
