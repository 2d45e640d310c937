//! `/components` of debug builds: every component, with ordinary and with extreme values.

use chrono::DateTime;
use maud::{Markup, html};
use refract_domain::cutoffs::Cutoffs;
use refract_domain::probability::Probability;

use crate::components::bar::{bar, yes_no_bar};
use crate::components::day_chart::day_chart;
use crate::components::empty_state::empty_state;
use crate::components::field::FormField;
use crate::components::histogram::histogram;
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};
use crate::components::table::table;
use crate::page::Page;
use crate::page_reply::PageReply;
use crate::visit::OpenVisit;

/// A text that breaks what is not escaped, bounded or isolated.
const HOSTILE: &str = "<script>alert(1)</script> \u{202e}right to left\u{202c} 🦊 =1+1 aVeryLongWordWithoutAnySpaceInItThatMustNotPushTheTableOutOfThePage";

/// Shows the page.
pub(crate) fn show(visit: &OpenVisit) -> PageReply {
    let main = html! {
        h1 { "Components" }
        h2 { "Bars" }
        (bars())
        h2 { "Histogram and days" }
        (histogram(&bell(), 40.0, 60.0))
        (day_chart(&[0, 3, 12, 7, 0, 1, 40], "0 to 40 results on each of the last seven days"))
        h2 { "Table" }
        (rows())
        h2 { "Form" }
        (form())
        h2 { "Notices and what is empty" }
        (notice(NoticeKind::Done, &html! { "Version 3 is saved." }))
        (notice(NoticeKind::Warning, &html! { "Two columns go." }))
        (notice(NoticeKind::Refused, &html! { "The name is taken: " bdi { (HOSTILE) } }))
        (empty_state("A prism is a set of questions that texts are asked.", &html! {
            a.button.main href="/" { "Make the first prism" }
        }))
    };
    Page::new(&visit.site, visit.visitor.as_ref(), "Components", main).reply()
}

fn probability(millionths: u32) -> Probability {
    Probability::from_millionths(millionths).unwrap_or_default()
}

fn bars() -> Markup {
    html! {
        p { (bar(probability(0), false)) }
        p { (bar(probability(372_000), false)) }
        p { (bar(probability(940_000), true)) }
        p { (bar(Probability::CERTAIN, true)) }
        p { (yes_no_bar(probability(520_000), Cutoffs::new(Some(0.4), Some(0.6)).unwrap_or_default())) }
    }
}

/// A bell around 30 percent.
fn bell() -> Vec<u64> {
    (0_u64..101)
        .map(|percent| 900 / (1 + percent.abs_diff(30).pow(2) / 20))
        .collect()
}

fn rows() -> Markup {
    let cells = html! {
        tr { th scope="row" { "Where is my order?" } td { (bar(probability(812_000), true)) } td.number { "1,204" } td { (moment(DateTime::UNIX_EPOCH)) } }
        tr { th scope="row" { span.text dir="auto" { (HOSTILE) } } td { (bar(probability(1_000), false)) } td.number { "7" } td { (moment(DateTime::UNIX_EPOCH)) } }
    };
    table(
        "Texts and how likely they are angry",
        &["Text", "Angry", "Results", "Made"],
        &cells,
    )
}

fn form() -> Markup {
    let name = FormField {
        name: "name",
        label: "Name",
        value: HOSTILE,
        hint: "What people call the prism.",
        fault: "must be at most 200 characters",
        is_required: true,
    };
    let role = FormField {
        name: "role",
        label: "Role",
        value: "editor",
        ..FormField::default()
    };
    html! {
        form {
            (name.line("text", "off"))
            (FormField { name: "text", label: "Text", fault: "", ..name }.area(3))
            (role.choice(&[("reviewer", "Reviewer"), ("editor", "Editor")]))
            button.main type="button" { "The main thing" }
            button type="button" { "Another" }
            button.quiet type="button" { "A quiet one" }
        }
    }
}
