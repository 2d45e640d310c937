//! The form with one key for each outcome of a question; what was judged last, beside the answer,
//! with undo; what the marks are worth so far, and who else marks.

use maud::{Markup, html};
use refract_domain::answer::Answer;
use refract_domain::ids::PersonId;
use refract_domain::lens::YesNoLabel;
use refract_domain::prism::{Question, QuestionType};
use refract_domain::result::mark::{self, Marker, MarksFrom};
use refract_evaluation::measures::{Interval, Proportion, RightAnswers};
use refract_identity::people::ActorName;
use refract_service::CallError;
use refract_service::lenses::PrismLens;
use refract_service::marks::{ReviewItem, ReviewStep, Sitting, Standing};
use refract_service::results::ReadableResult;

use crate::components::{
    bars_of, counted, describe_answer, marks_noun, measured_percent, percent, prism_address,
    without_outcome,
};
use crate::replies::PageError;
use crate::requests::{Form, Query, Visit};

/// The query parameter of the result behind which the queue goes on.
pub(super) const AFTER: &str = "after";
/// The keys of the outcomes, in their order. Letters with a meaning of their own are left out: `y`,
/// `n`, `c`, `s` and `u`.
const KEYS: &str = "1234567890abdefghijklmopqrtvwxz";

/// The outcomes of a question as buttons, and the other things that one can do with a text.
pub(super) fn judging(
    item: &ReviewItem,
    question: &Question,
    form: &Form,
    address: &str,
) -> Markup {
    let id = item.result.id();
    html! {
        form.judging method="post" action=(address) {
            // the Enter key in the note judges nothing
            button type="submit" disabled hidden {}
            input type="hidden" name="result" value=(id);
            input type="hidden" name="question" value=(question.key);
            h2 #question { bdi { (question.text) } }
            @if let Some(instructions) = &question.instructions { p.hint dir="auto" { (instructions) } }
            ul.plain.keys {
                @for (place, outcome) in mark::outcomes(question).enumerate() {
                    li {
                        (outcome_button(question, place, outcome.key, outcome.label))
                        @if let Some(description) = outcome.description { p.hint dir="auto" { (description) } }
                    }
                }
            }
            div.row {
                button type="submit" name="act" value="cannot_tell" data-key="c" { kbd { "c" } " Cannot tell" }
                a.button href={ (address) "?" (AFTER) "=" (id) } data-key="s" { kbd { "s" } " Skip" }
            }
            div.field {
                label for="note" { kbd { "/" } " Note" }
                input #note name="note" type="text" maxlength="200" value=(form.get("note")) dir="auto"
                    autocomplete="off" data-key="/";
            }
        }
    }
}

fn outcome_button(question: &Question, place: usize, key: &str, label: &str) -> Markup {
    let is_yes_no = question.question_type() == QuestionType::YesNo;
    let shown = match (question.question_type(), key) {
        (QuestionType::YesNo, "yes") => Some('y'),
        (QuestionType::YesNo, "no") => Some('n'),
        (QuestionType::YesNo | QuestionType::Choice | QuestionType::Scale, _) => {
            KEYS.chars().nth(place)
        }
    };
    html! {
        button.(key)[is_yes_no] type="submit" name="outcome" value=(key) data-key=[shown] {
            @if let Some(shown) = shown { kbd { (shown) } " " }
            bdi { (label) }
        }
    }
}

/// What people marked, for a sitting that settles it.
pub(super) fn marked_so(item: &ReviewItem, question: &Question) -> Markup {
    html! {
        p.hint { "Marked differently. What you choose settles it and counts from then on." }
        ul.plain {
            @for mark in &item.marks {
                @let mut outcomes = mark::outcomes(question);
                @let outcome = outcomes.find(|it| it.key == mark.outcome.as_str());
                li {
                    bdi { (mark.marked_by.name.as_ref().map_or("somebody", Marker::as_str)) } ": "
                    strong { bdi { (outcome.map_or(mark.outcome.as_str(), |it| it.label)) } }
                    @if let Some(note) = &mark.note { div.soft { bdi { (note.as_str()) } } }
                }
            }
        }
    }
}

/// The answer to the question, for a sitting that is not blind.
pub(super) fn answer(item: &ReviewItem, question: &Question) -> Markup {
    let view = item.result.view();
    let answers = view.status.answers();
    html! {
        @if let Some(answer) = answers.and_then(|answers| answers.get(&question.key)) {
            h3 { "The answer" }
            (bars_of(question, answer, item.result.columns().lens))
        }
    }
}

/// The way back to a text that was skipped, by the key that takes a judgement back.
pub(super) fn back_to(address: &str) -> Markup {
    html! {
        div.last-step.row {
            p role="status" { "Skipped a text. " a href=(address) data-key="u" { kbd { "u" } " Back to it" } }
        }
    }
}

/// The last judgement of a sitting; nothing before the first one, or when the result is gone.
pub(super) async fn last_step(
    visit: &Visit,
    lens: &PrismLens,
    sitting: &Sitting,
    address: &str,
    is_undone: bool,
) -> Result<Markup, PageError> {
    let undone = html! { @if is_undone { strong { "Undone." } " The one before: " } };
    let Some(step) = sitting.steps().last() else {
        return Ok(html! { @if is_undone { p.last-step role="status" { strong { "Undone." } } } });
    };
    let results = visit.refract.results();
    let result = match results.find(lens.prism.account, step.result).await {
        Ok(result) => result,
        Err(CallError::Internal(error)) => return Err(error.into()),
        Err(_) => return Ok(html! {}),
    };
    let question = result.version().question(&step.question);
    Ok(html! {
        form.last-step.row method="post" action={ (address) "/undo" } {
            p role="status" {
                (undone)
                @if let Some(question) = question { (described(step, question, &result)) }
                " " a href={ "/results/" (step.result) } { "See the result" }
            }
            button.quiet type="submit" data-key="u" { kbd { "u" } " Undo" }
        }
    })
}

fn described(step: &ReviewStep, question: &Question, result: &ReadableResult) -> Markup {
    let view = result.view();
    let answer = view.status.answers();
    let answer = answer.and_then(|answers| answers.get(&question.key));
    let outcome = step.outcome.as_ref();
    let marked = outcome
        .and_then(|key| mark::outcomes(question).find(|outcome| outcome.key == key.as_str()));
    html! {
        "You: " strong { bdi { (marked.map_or("cannot tell", |outcome| outcome.label)) } }
        @if let Some(answer) = answer {
            ". The answer: " (answered(question, answer, result)) ". "
        }
        @match step.is_right {
            Some(true) => span.agrees { "✓ The same" },
            Some(false) => span.differs { "✗ Not yours" },
            None => {}
        }
    }
}

fn answered(question: &Question, answer: &Answer, result: &ReadableResult) -> Markup {
    let (label, probability) = describe_answer(question, answer, result.columns().lens);
    html! {
        bdi { (label) }
        @if let Some(probability) = probability {
            ", " (percent(probability)) " %"
            @if let Answer::YesNo { .. } = answer && label == YesNoLabel::Unsure.label() { " yes" }
        }
    }
}

/// Marks whose worth is said before they are made.
const MORE: u64 = 40;

/// How often the answers to the question are right by the marks of now, and what more marks would
/// give.
pub(super) async fn standing(
    visit: &Visit,
    lens: &PrismLens,
    sitting: &Sitting,
    question: &Question,
) -> Result<Markup, PageError> {
    let marks = visit.refract.marks();
    let standing = marks.standing(lens, sitting, &question.key).await?;
    Ok(html! {
        @match standing {
            // the results are of whatever sample their marks are of
            None if sitting.settles() => {},
            None => p.hint { "These marks measure nothing, since the results were not drawn at random." },
            Some(Standing::Measured(right)) => p.hint.standing {
                (measured(right, sitting, question))
                " " (quality(lens, sitting, question))
            },
            Some(Standing::TooMany(marks)) => p.hint.standing {
                (counted(marks, marks_noun(MarksFrom::Random))) " of all versions, too many to measure between two texts. "
                (quality(lens, sitting, question))
            },
        }
        @if sitting.is_of_newest() {
            p.hint { "Looked for among the newest results alone." }
        }
    })
}

/// The counts and shares are in the words of Quality.
fn measured(right: RightAnswers, sitting: &Sitting, question: &Question) -> Markup {
    let accuracy = right.accuracy;
    let points = |half: Option<f64>| {
        half.map(|half| format!("±{:.0} points", half * 100.0))
            .unwrap_or_default()
    };
    let expected = |share| points(Proportion::expected_half_width(share, MORE));
    let of_queue = html! {
        @if let Some(version) = sitting.version() { " of version " (version) }
        @if sitting.is_of_period() { " in this period" }
    };
    let Some(Interval { low, high }) = accuracy.interval() else {
        return html! {
            @if right.marks == 0 {
                "No random or imported mark" (of_queue) " yet. "
            } @else {
                (counted(right.marks, marks_noun(MarksFrom::Random))) (of_queue)
                (without_outcome(right.marks, 0, question.question_type())) ". "
            }
            (MORE) " marks give " (expected(0.5)) " if half of the answers are right, "
            (expected(0.9)) " if 90 % are."
        };
    };
    html! {
        (counted(right.marks, marks_noun(MarksFrom::Random))) (of_queue)
        (without_outcome(right.marks, accuracy.of, question.question_type())) ". "
        (measured_percent(accuracy.value())) " % right, between "
        (measured_percent(Some(low))) " and " (measured_percent(Some(high))) " %. "
        (MORE) " more marks: about " (points(accuracy.half_width_after(MORE))) "."
    }
}

/// The way to Quality with these marks.
fn quality(lens: &PrismLens, sitting: &Sitting, question: &Question) -> Markup {
    let version = sitting.version().map(|version| version.to_string());
    let query = Query::default()
        .with("question", Some(question.key.as_str()))
        .with("version", version.as_deref());
    let address = prism_address(&lens.prism);
    html! { a href={ (address) "/quality" (query.in_address()) } { "Quality" } }
}

/// The names of the others who review the prism now.
pub(super) async fn others(visit: &Visit, people: &[PersonId]) -> Result<Markup, PageError> {
    let names = visit.refract.people().names(visit.account(), people).await;
    let names = names.map_err(refract_service::InternalError::from)?;
    let names: Vec<_> = people
        .iter()
        .filter_map(|person| names.get(person))
        .collect();
    Ok(html! {
        @if !names.is_empty() {
            p.soft {
                "Also here: "
                @for (place, name) in names.iter().enumerate() {
                    @if place > 0 { ", " }
                    bdi { (ActorName::as_str(name)) }
                }
            }
        }
    })
}
