//! The definition of a version, read-only; the differences between a version and the one before;
//! and what a change of a lens changed.

use maud::{Markup, html};
use refract_authoring::version_difference::{ChangedWording, Severity, VersionDifference};
use refract_domain::lens::{Column, Cutoff, Lens};
use refract_domain::prism::{Outcome, PrismVersion, Question, QuestionType};
use refract_service::lenses::LensState;

use super::lists::table;
use super::readable::{count, to_percent};

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

/// The `most` most serious differences, without the texts before and after. `more` is the address
/// of the page that shows all.
pub(crate) fn differences_in_short(
    differences: &[VersionDifference],
    most: usize,
    more: &str,
) -> Markup {
    let sorted = most_serious_first(differences);
    let hidden = sorted.len().saturating_sub(most);
    html! {
        ul.differences {
            @for difference in sorted.iter().take(most) { li { (sentence(difference)) } }
            @if hidden > 0 {
                li { a href=(more) { "and " (count(hidden)) " more" } }
            }
        }
    }
}

/// Every difference, most serious first, with the texts before and after.
pub(crate) fn differences(differences: &[VersionDifference]) -> Markup {
    html! {
        ul.differences {
            @for difference in most_serious_first(differences) {
                li {
                    (sentence(difference))
                    @if let Some(wording) = &difference.wording { (changed(wording)) }
                }
            }
        }
    }
}

fn most_serious_first(differences: &[VersionDifference]) -> Vec<&VersionDifference> {
    let mut sorted: Vec<_> = differences.iter().collect();
    sorted.sort_by_key(|difference| difference.severity);
    sorted
}

fn sentence(difference: &VersionDifference) -> Markup {
    html! {
        @match difference.severity {
            Severity::ForCallers => { span.tag.strong { "for callers" } " " }
            Severity::ForAnswers => { span.tag { "answers may change" } " " }
            Severity::Cosmetic => {}
        }
        bdi { (difference.text) }
    }
}

fn changed(wording: &ChangedWording) -> Markup {
    html! {
        div.before-after {
            @if let Some(before) = &wording.before {
                del { span.unseen { "Before: " } span.text dir="auto" { (before) } }
            }
            @if let Some(after) = &wording.after {
                ins { span.unseen { "After: " } span.text dir="auto" { (after) } }
            }
        }
    }
}

/// The most changes that a row lists.
const LISTED: usize = 4;

/// What differs between two states, or what the first one was.
pub(crate) fn lens_change(
    before: Option<&LensState>,
    state: &LensState,
    latest: &PrismVersion,
) -> Markup {
    let after = latest.columns(&state.lens);
    let Some(before) = before else {
        return html! {
            @match state.lens {
                Lens::Automatic => "automatic",
                Lens::Custom(_) => { (after.len()) " columns" }
            }
        };
    };
    let mut changes = changes(latest.columns(&before.lens), after);
    match (&before.lens, &state.lens) {
        (Lens::Custom(_), Lens::Automatic) => changes.insert(0, "automatic again".to_owned()),
        (Lens::Automatic, Lens::Custom(_)) if changes.is_empty() => {
            changes.push("kept as it is".to_owned());
        }
        (Lens::Custom(_) | Lens::Automatic, Lens::Custom(_) | Lens::Automatic) => {}
    }
    let more = changes.len().saturating_sub(LISTED);
    html! {
        @for change in changes.iter().take(LISTED) { div.change { bdi { (change) } } }
        @if more > 0 { div.soft { "and " (more) " more" } }
    }
}

/// The differences between two lists of columns in words.
fn changes(before: &[Column], after: &[Column]) -> Vec<String> {
    let mut words = Vec::new();
    for new in after {
        let Some(old) = before.iter().find(|old| old.name == new.name) else {
            words.push(format!("new column {}", new.name));
            continue;
        };
        match (cutoffs(old), cutoffs(new)) {
            (Some(was), Some(is)) if old.question == new.question => {
                let names = ["No below", "Yes from"].into_iter();
                for (name, (was, is)) in names.zip(was.into_iter().zip(is)) {
                    if was != is {
                        words.push(format!("{}: {name} {was} → {is} %", new.name));
                    }
                }
            }
            _ if (&old.question, old.output) != (&new.question, new.output) => {
                let (was, is) = (old.output.name(), new.output.name());
                words.push(format!("{}: {was} → {is} of {}", new.name, new.question));
            }
            (Some(_) | None, Some(_) | None) => {}
        }
    }
    let is_gone = |old: &&Column| after.iter().all(|new| new.name != old.name);
    words.extend(
        before
            .iter()
            .filter(is_gone)
            .map(|old| format!("without column {}", old.name)),
    );
    if words.is_empty() && before != after {
        words.push("another order of columns".to_owned());
    }
    words
}

/// Both cutoffs of a label column in percent.
fn cutoffs(column: &Column) -> Option<[String; 2]> {
    let cutoffs = column.output.cutoffs()?;
    let both = [cutoffs.no_ends_at(), cutoffs.yes_begins_at()];
    Some(both.map(Cutoff::value).map(to_percent))
}
