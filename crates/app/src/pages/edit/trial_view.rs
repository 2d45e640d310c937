//! A draft's answers to a person's own test texts, docked beside the words.

use maud::{Markup, html};

use super::editing::Editing;
use super::inputs::Inputs;
use super::trial::{MOST_TEXTS, TriedOutcome, TriedTexts, is_blank};
use crate::components::bar;

/// The test texts beside the words, with the draft's answers.
pub(crate) fn test_texts(inputs: Inputs<'_>, editing: &Editing) -> Markup {
    let extras = &editing.extras;
    let blank = [vec![String::new(); editing.draft.fields.len().max(1)]];
    let texts = if extras.texts.is_empty() {
        &blank[..]
    } else {
        &extras.texts
    };
    let is_used = !extras.texts.iter().all(|text| is_blank(text)) || !extras.choice.is_empty();
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
                @if texts.len() < MOST_TEXTS { (inputs.adding("texts.add", "Add a text")) }
            }
            p.hint { "Your words answer, saved or not. It asks the model and makes no results." }
            @if editing.prism.is_some() {
                button type="submit" name="act" value="trial" { "Try them on stored texts" }
            }
        }
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

fn outcome(outcome: &TriedOutcome) -> Markup {
    html! {
        bdi { (outcome.label) }
        @if let Some(probability) = outcome.probability() { " " (bar(probability, true)) }
    }
}
