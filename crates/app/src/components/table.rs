//! Real tables, which scroll within the page when they are wider than it.

use maud::{Markup, html};

/// A table with a caption for those who do not see it. `rows` are `tr` elements. A heading of no
/// text belongs to a column of actions.
pub(crate) fn table(caption: &str, headings: &[&str], rows: &Markup) -> Markup {
    table_with(caption, &words(headings), rows)
}

/// A table whose headings are more than words: `headings` is a `tr` element.
pub(crate) fn table_with(caption: &str, headings: &Markup, rows: &Markup) -> Markup {
    draw(caption, headings, rows, false)
}

/// A table of things that have more to say than fits beside each other on a telephone: there, each
/// row becomes a paragraph. A cell says in its attribute `data-label` what stands in front of it then.
pub(crate) fn stacked_table(caption: &str, headings: &[&str], rows: &Markup) -> Markup {
    stacked_table_with(caption, &words(headings), rows)
}

/// A stacked table whose headings are more than words: `headings` is a `tr` element.
pub(crate) fn stacked_table_with(caption: &str, headings: &Markup, rows: &Markup) -> Markup {
    draw(caption, headings, rows, true)
}

fn words(headings: &[&str]) -> Markup {
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
        // it can be scrolled by keyboard
        div.table role="group" aria-label=(caption) tabindex="0" {
            table.stacks[stacks] {
                caption.unseen { (caption) }
                thead { (headings) }
                tbody { (rows) }
            }
        }
    }
}
