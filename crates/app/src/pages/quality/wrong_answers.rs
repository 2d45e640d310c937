//! Wrong answers by option: their texts beside the option's words, and a link that changes those.

use std::cmp::Reverse;
use std::collections::HashMap;

use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::ids::ResultId;
use refract_domain::key::OutcomeKey;
use refract_domain::prism::QuestionType;
use refract_domain::result::mark;
use refract_domain::submission::Submission;
use refract_evaluation::measures::ConfusionCell;

use super::quality_view::QualityView;
use crate::components::{OLDER, clamped, count, counted, in_short, stacked_table, table};
use crate::replies::PageError;
use crate::requests::{Query, Visit};

/// The most options that are listed.
const MOST: usize = 20;
/// The most outcomes that an option's wrong answers are said to have gone to.
const GONE_TO: usize = 3;
/// The most characters of a text, and of an option's description.
const TEXT: usize = 300;

/// An option with its wrong answers.
struct WrongOption<'a> {
    key: &'a OutcomeKey,
    marked: u64,
    wrong: u64,
    /// The wrong answers by outcome, the most frequent first.
    gone_to: Vec<&'a ConfusionCell>,
}

/// The section.
pub(super) async fn section(visit: &Visit, view: &QualityView<'_>) -> Result<Markup, PageError> {
    let options = wrong_options(view);
    let Some(first) = options.first() else {
        return Ok(html! {
            section #wrong { h2 { "Wrong answers" } p.soft { "No marked answer is wrong." } }
        });
    };
    let asked = view.asked("option");
    let chosen = options
        .iter()
        .find(|option| Some(option.key.as_str()) == asked);
    let chosen = chosen.unwrap_or(first);
    let wrong = view.quality.wrong.of(chosen.key);
    let ids = wrong.map(|wrong| wrong.result).collect();
    let measures = visit.refract.measures();
    let texts = measures.texts(visit.account(), ids).await?;
    let may_edit = visit.visitor.role.may(Role::Editor);
    Ok(html! {
        section #wrong {
            h2 { "Wrong answers" }
            p.hint { "Words that many wrong answers have in common are what a description lacks." }
            @if view.is_in_latest() && may_edit {
                @let choice = format!("wrong:{}", view.question().key);
                @let query = Query::default().with("choice", Some(&choice));
                p { a.button href=(view.link_to("/edit/trial", &query)) { "Try other words on these" } }
            }
            (list(view, &options, chosen.key))
            (words(view, chosen.key, may_edit))
            (results(view, chosen, &texts))
        }
    })
}

/// The options with wrong answers, those with the most first.
fn wrong_options<'a>(view: &'a QualityView<'_>) -> Vec<WrongOption<'a>> {
    let mut by_mark: HashMap<&OutcomeKey, Vec<&ConfusionCell>> = HashMap::new();
    for cell in &view.measures.confusion {
        if cell.marked != cell.predicted {
            by_mark.entry(&cell.marked).or_default().push(cell);
        }
    }
    let outcomes = view.measures.outcomes.iter();
    let options = outcomes.filter_map(|outcome| {
        let mut gone_to = by_mark.remove(&outcome.key)?;
        gone_to.sort_by_key(|cell| Reverse(cell.count));
        Some(WrongOption {
            key: &outcome.key,
            marked: outcome.marked,
            wrong: gone_to.iter().map(|cell| cell.count).sum(),
            gone_to,
        })
    });
    let mut options: Vec<_> = options.collect();
    options.sort_by_key(|option| Reverse(option.wrong));
    options.truncate(MOST);
    options
}

fn list(view: &QualityView<'_>, options: &[WrongOption<'_>], chosen: &OutcomeKey) -> Markup {
    let rows = html! {
        @for option in options {
            @let query = view.query().with("option", Some(option.key.as_str()));
            tr {
                th scope="row" {
                    a href={ (view.link(&query)) "#wrong" }
                        aria-current=[(option.key == chosen).then_some("true")] { bdi { (view.label(option.key)) } }
                }
                td.number data-label="Wrong" { (count(option.wrong)) }
                td.number data-label="Of marked" { (count(option.marked)) }
                td data-label="Answered" {
                    @for (place, cell) in option.gone_to.iter().take(GONE_TO).enumerate() {
                        @if place > 0 { ", " }
                        a href=(view.results(&cell.marked, &cell.predicted)) { bdi { (view.label(&cell.predicted)) } }
                        " " (count(cell.count))
                    }
                    @if option.gone_to.len() > GONE_TO {
                        " and " (counted(option.gone_to.len() - GONE_TO, "other"))
                    }
                }
            }
        }
    };
    stacked_table(
        "Options with wrong answers",
        &["Marked", "Wrong", "Of", "Answered"],
        &rows,
    )
}

/// The option's words in the newest version, with a link to change them for a visitor who may.
fn words(view: &QualityView<'_>, option: &OutcomeKey, may_edit: bool) -> Markup {
    let mut outcomes = mark::outcomes(view.question());
    let description = outcomes.find(|known| known.key == option.as_str());
    let description = description.and_then(|known| known.description);
    html! {
        h3 { "Marked " bdi { "“" (view.label(option)) "”" } }
        @if let Some(description) = description {
            p.text dir="auto" { (clamped(description, TEXT)) }
        } @else {
            p.soft { "No description." }
        }
        @if let Some(address) = edit_address(view, option).filter(|_| may_edit) {
            p { a.button href=(address) { "Change these words in Edit" } }
        }
    }
}

/// The place of the option in the form of the latest version, or else of its question; `None` for a
/// question that only older versions have.
fn edit_address(view: &QualityView<'_>, option: &OutcomeKey) -> Option<String> {
    let mut questions = view.history.versions.last()?.questions().iter();
    let number = questions.position(|it| it.key == view.question().key)?;
    let question = view.question();
    let mut own = question.own_outcomes().iter();
    let place = own.position(|outcome| outcome.key == *option);
    let list = match question.question_type() {
        QuestionType::Scale => "levels",
        QuestionType::Choice | QuestionType::YesNo => "options",
    };
    let within = place.map_or_else(String::new, |place| format!(".{list}.{place}"));
    let edit = view.link_to("/edit", &Query::default());
    Some(format!("{edit}#questions.{number}{within}"))
}

/// The newest wrong results with their texts.
fn results(
    view: &QualityView<'_>,
    option: &WrongOption<'_>,
    texts: &HashMap<ResultId, Submission>,
) -> Markup {
    let wrong = &view.quality.wrong;
    let rows = html! {
        @for wrong in wrong.of(option.key) {
            @if let Some(submission) = texts.get(&wrong.result) {
                tr {
                    td { a.text dir="auto" href={ "/results/" (wrong.result) } { (in_short(submission, TEXT)) } }
                    td { bdi { (view.label(&wrong.predicted)) } }
                }
            }
        }
    };
    let query = view.query().with("option", Some(option.key.as_str()));
    let older = wrong.last_before_older(option.key).map(|id| id.to_string());
    html! {
        (table("Texts of wrong answers, newest first", &["Text", "Answered"], &rows))
        @if view.asked(OLDER).is_some() || older.is_some() {
            nav.row aria-label="Pages of wrong answers" {
                @if view.asked(OLDER).is_some() {
                    a.button href={ (view.link(&query)) "#wrong" } { "Newest" }
                }
                @if let Some(older) = older {
                    a.button rel="next" href={ (view.link(&query.with(OLDER, Some(&older)))) "#wrong" } { "Older" }
                }
            }
        }
    }
}
