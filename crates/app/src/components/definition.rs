//! The definition of a version, read-only: fields, context and questions.

use maud::{Markup, html};
use refract_domain::prism::PrismVersion;
use refract_domain::prism::question::{Outcome, Question, QuestionType};

use super::table::table;

/// The definition of a version.
pub(crate) fn definition(version: &PrismVersion) -> Markup {
    html! {
        (fields_and_context(version))
        h2 { "Questions" }
        @for question in version.questions() { (asked(question)) }
    }
}

/// The fields and the context of a version.
pub(crate) fn fields_and_context(version: &PrismVersion) -> Markup {
    html! {
        h2 { "Fields" }
        (fields(version))
        h2 { "Context" }
        @match version.context() {
            Some(context) => { p.text dir="auto" { (context) } }
            None => { p.soft { "None." } }
        }
    }
}

/// The fields of a version, which callers send.
pub(crate) fn fields(version: &PrismVersion) -> Markup {
    let rows = html! {
        @for field in version.fields() {
            tr { th scope="row" { code { (field.key) } } td { bdi { (field.label) } } }
        }
    };
    table("Fields", &["Key", "Label"], &rows)
}

/// The displayed name of a question type.
pub(crate) fn type_name(question_type: QuestionType) -> &'static str {
    match question_type {
        QuestionType::Choice => "choice",
        QuestionType::YesNo => "yes/no",
        QuestionType::Scale => "scale",
    }
}

fn asked(question: &Question) -> Markup {
    html! {
        section {
            h3 { span.text dir="auto" { (question.text) } }
            p.soft { code { (question.key) } ", " (type_name(question.question_type())) }
            @if let Some(instructions) = &question.instructions {
                p.text dir="auto" { (instructions) }
            }
            @if !question.own_outcomes().is_empty() { (outcomes(question)) }
        }
    }
}

fn outcomes(question: &Question) -> Markup {
    let rows = html! {
        @for Outcome { key, label, description } in question.own_outcomes() {
            tr {
                th scope="row" { code { (key) } }
                td { bdi { (label) } }
                td { span.text dir="auto" { (description.as_deref().unwrap_or_default()) } }
            }
        }
    };
    let caption = match question.question_type() {
        QuestionType::Choice | QuestionType::YesNo => "Options",
        QuestionType::Scale => "Levels, the lowest first",
    };
    table(
        &format!("{caption} of {}", question.key),
        &["Key", "Label", "Description"],
        &rows,
    )
}
