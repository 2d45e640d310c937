//! A draft's answers to texts: docked beside the words, and on the page before saving.

use maud::{Markup, html};
use refract_service::prisms::{TRIAL_CANDIDATES, TrialTexts};
use refract_service::results::ReadableResult;

use super::editing::Editing;
use super::inputs::Inputs;
use super::trial::{MOST_TEXTS, TriedAnswer, TriedOutcome, TriedText, TriedTexts, is_blank};
use crate::components::bar::bar;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::{count, counted};
use crate::components::table::table;
use crate::components::texts::beginning;

/// The most characters of a stored text that are shown.
const SHOWN: usize = 300;

/// The test texts beside the words, with the draft's answers.
pub(crate) fn test_texts(inputs: Inputs<'_>, editing: &Editing) -> Markup {
    let extras = &editing.extras;
    let blank = [vec![String::new(); editing.draft.fields.len().max(1)]];
    let texts = if extras.texts.is_empty() {
        &blank[..]
    } else {
        &extras.texts
    };
    let is_used = !extras.texts.iter().all(|text| is_blank(text)) || extras.stored.is_some();
    html! {
        details #texts.test-texts open[is_used] {
            summary { "Test texts" }
            @for (place, text) in texts.iter().enumerate() {
                div.test-text {
                    @for (field, value) in field_values(editing, text) {
                        @let name = format!("texts.{place}.{field}");
                        (inputs.area(&name, &label(editing, place, field), value, "", 2))
                    }
                    @if texts.len() > 1 {
                        button.quiet type="submit" name="act" value={ "texts." (place) ".remove" }
                            aria-label={ "Remove test text " (place + 1) } { "Remove" }
                    }
                    @if let Some(trial) = &extras.own { (own_answers(trial, text, editing)) }
                }
            }
            div.row {
                button type="submit" name="act" value="test" id="test" { "Answer" }
                @if editing.prism.is_some() { (choice(extras.stored.as_ref(), true)) }
                @if texts.len() < MOST_TEXTS { (inputs.adding("texts.add", "Add a text")) }
            }
            p.hint {
                "Your words answer, saved or not. It asks the model and makes no results. "
                @if editing.prism.is_some() { (candidates()) }
            }
            @if let Some(trial) = &extras.stored { (in_short(trial, editing)) }
        }
    }
}

/// The select of stored texts.
pub(crate) fn choice(trial: Option<&TriedTexts>, with_none: bool) -> Markup {
    let chosen = trial.map(|trial| trial.choice.as_str());
    html! {
        select.short name="stored" aria-label="Stored texts" {
            @if with_none { option value="" { "these texts" } }
            @for choice in TrialTexts::ALL {
                option value=(choice.name()) selected[!with_none && chosen == Some(choice.name())] {
                    @if with_none { "and " } (words(choice))
                }
            }
        }
    }
}

fn words(choice: TrialTexts) -> &'static str {
    match choice {
        TrialTexts::Random => "5 random stored texts",
        TrialTexts::LeastSure => "the 5 least sure stored texts",
        TrialTexts::Marked => "5 marked stored texts",
    }
}

/// Among which stored texts the choices choose.
pub(crate) fn candidates() -> Markup {
    html! {
        "Random and least sure ones are chosen among the newest " (count(TRIAL_CANDIDATES)) " results. "
    }
}

/// The values of a test text, one for each field of the draft.
fn field_values<'a>(
    editing: &Editing,
    text: &'a [String],
) -> impl Iterator<Item = (usize, &'a str)> {
    let fields = editing.draft.fields.len().max(1);
    (0..fields).map(|place| (place, text.get(place).map_or("", String::as_str)))
}

fn label(editing: &Editing, place: usize, field: usize) -> String {
    let text = format!("Test text {}", place + 1);
    match editing.draft.fields.get(field) {
        Some(named) if editing.draft.fields.len() > 1 => format!("{text}, {}", named.label),
        Some(_) | None => text,
    }
}

fn own_answers(trial: &TriedTexts, text: &[String], editing: &Editing) -> Markup {
    let Some(tried) = trial.texts.iter().find(|tried| tried.own == text) else {
        return html! {};
    };
    html! {
        @if !trial.is_of(&editing.draft) { p.hint { "By your words before the last change:" } }
        @if !tried.error.is_empty() { p.fault { (tried.error) } }
        ul.test-answers {
            @for answer in &tried.answers {
                li {
                    span.text.soft dir="auto" { (answer.text) } " "
                    @if let Some(now) = &answer.now { (outcome(now)) }
                }
            }
        }
    }
}

fn in_short(trial: &TriedTexts, editing: &Editing) -> Markup {
    html! {
        p {
            (summary(trial))
            @if !trial.is_of(&editing.draft) { span.hint { " By your words before the last change." } }
        }
        ul.test-answers {
            @for text in trial.texts.iter().filter(|text| text.is_changed()) {
                li {
                    @if let Some(result) = text.result { a href={ "/results/" (result) } { "Result" } ": " }
                    @for answer in text.answers.iter().filter(|answer| answer.is_changed) {
                        (change(answer)) " "
                    }
                }
            }
        }
    }
}

/// How many texts are answered differently.
pub(crate) fn summary(trial: &TriedTexts) -> Markup {
    let failed = trial
        .texts
        .iter()
        .filter(|text| !text.error.is_empty())
        .count();
    html! {
        @if trial.texts.is_empty() {
            @if trial.choice == TrialTexts::Marked.name() { "No marked text has every field of your version." }
            @else { "No stored text has every field of your version." }
        } @else {
            strong { (count(trial.changed())) " of " (counted(trial.texts.len(), "text")) }
            @if trial.changed() == 1 { " is" } @else { " are" }
            " answered differently."
        }
        @if failed > 0 { " " (counted(failed, "text")) " could not be answered." }
    }
}

fn change(answer: &TriedAnswer) -> Markup {
    html! {
        @if let Some(before) = &answer.before { (outcome(before)) }
        span aria-hidden="true" { " → " } span.unseen { " becomes " }
        @if let Some(now) = &answer.now { (outcome(now)) }
    }
}

fn outcome(outcome: &TriedOutcome) -> Markup {
    html! {
        bdi { (outcome.label) }
        @if let Some(probability) = outcome.probability() { " " (bar(probability, true)) }
    }
}

/// A stored text with the answers of both versions.
pub(crate) fn tried(text: &TriedText, stored: Option<&ReadableResult>) -> Markup {
    let version = text.version.unwrap_or_default();
    let rows = html! {
        @for answer in &text.answers {
            tr {
                th scope="row" { span.text dir="auto" { (answer.text) } }
                td { @match &answer.before { Some(before) => { (outcome(before)) } None => { span.soft { "not asked" } } } }
                td.changed[answer.is_changed] { @if let Some(now) = &answer.now { (outcome(now)) } }
            }
        }
    };
    let headings = [
        "Question",
        &format!("Stored, by version {version}"),
        "Your version",
    ];
    html! {
        section.tried {
            @match stored {
                Some(result) => {
                    @for (_, value) in result.submission().fields() {
                        @let (shown, rest) = beginning(value, SHOWN);
                        p { span.text dir="auto" { (shown) @if !rest.is_empty() { "…" } } }
                    }
                    p { a href={ "/results/" (result.id()) } { "The result" } }
                }
                None => p.soft { "The text was deleted since." }
            }
            @if !text.error.is_empty() { (notice(NoticeKind::Refused, &html! { (text.error) })) }
            (table("Answers of both versions about this text", &headings, &rows))
        }
    }
}
