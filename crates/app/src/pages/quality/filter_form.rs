//! The form that chooses the question, and which marks count.

use maud::{Markup, html};
use refract_domain::prism::question::Question;
use refract_service::prisms::PrismHistory;

use super::quality_view::{QualityFilters, address};
use crate::components::field::FormField;
use crate::components::texts::clamped;
use crate::requests::page_request::Query;

/// The most questions that are links; more are a list to choose from.
const MOST_LINKS: usize = 8;
/// The most characters of a question in a link.
const LINK: usize = 40;
/// The most characters of a question's text in the list.
const TEXT: usize = 60;

/// Which marks count, and their labels.
const MARKS: [(&str, &str); 2] = [("random", "random and imported"), ("all", "all")];

/// Links to the questions, and the form with the values that were sent, valid or not. `models` gave
/// marked answers.
pub(super) fn filter_form(
    filters: &QualityFilters,
    history: &PrismHistory,
    asked: &[&Question],
    chosen: &Question,
    models: &[&str],
) -> Markup {
    let address = address(history);
    html! {
        @if asked.len() <= MOST_LINKS {
            (links(filters, &address, asked, chosen))
        } @else {
            (list(filters, &address, asked, chosen))
        }
        details open[filters.is_narrowed() || filters.has_errors()] {
            summary { "Which marks count" }
            form.filters method="get" action=(address) aria-label="Which marks count" {
                input type="hidden" name="question" value=(chosen.key);
                (filters.field("marks", "Marks").choice(&MARKS))
                (versions(&filters.field("version", "Version"), history))
                (self::models(&filters.field("model", "Model"), models))
                (filters.period())
                button type="submit" { "Measure" }
                @if filters.is_narrowed() || filters.has_errors() {
                    @let question = Query::default().with("question", Some(chosen.key.as_str()));
                    a.button href={ (address) (question.in_address()) } { "Clear" }
                }
            }
        }
    }
}

fn links(
    filters: &QualityFilters,
    address: &str,
    asked: &[&Question],
    chosen: &Question,
) -> Markup {
    html! {
        nav.row aria-label="Questions" {
            @for question in asked {
                @let query = filters.query.with("question", Some(question.key.as_str()));
                a href={ (address) (query.in_address()) }
                    aria-current=[(question.key == chosen.key).then_some("page")] { bdi { (clamped(&question.text, LINK)) } " " code.soft { (question.key) } }
            }
        }
    }
}

fn list(filters: &QualityFilters, address: &str, asked: &[&Question], chosen: &Question) -> Markup {
    let field = FormField::new("question", "Question").value(chosen.key.as_str());
    let questions = html! {
        @for question in asked {
            (field.option(question.key.as_str(), &format!("{}: {}", question.key, clamped(&question.text, TEXT))))
        }
    };
    html! {
        form.filters method="get" action=(address) aria-label="Questions" {
            (filters.query.with("question", None).inputs())
            (field.select(&questions))
            button type="submit" { "Show" }
        }
    }
}

fn versions(field: &FormField<'_>, history: &PrismHistory) -> Markup {
    let latest = history.prism.latest_version.get();
    field.select(&html! {
        option value="" { "any" }
        @for number in (1..=latest).rev() {
            @let number = number.to_string();
            (field.option(&number, &number))
        }
    })
}

fn models(field: &FormField<'_>, models: &[&str]) -> Markup {
    let is_listed = field.value.is_empty() || models.contains(&field.value);
    field.select(&html! {
        option value="" { "any" }
        @for model in models { (field.option(model, model)) }
        @if !is_listed { (field.option(field.value, field.value)) }
    })
}
