//! The answers with the mark beside each, and the changes of marks that a form sends.

use maud::{Markup, html};
use refract_domain::answer::Answer;
use refract_domain::prism::Question;
use refract_domain::result::mark::{self, Annotator, Mark, MarkSource, Marker};
use refract_evaluation::marked::predicted;
use refract_service::marks::{MarkChange, QueueKind};
use refract_service::results::{ReadableResult, ResultDetails};

use crate::components::{FormField, bars_of, cutoffs, moment, prism_address};
use crate::requests::{Form, Query};

/// The answers of an `ok` result as one form, with a select of outcomes for the visitor's mark of each,
/// and what others marked.
/// `list` is the query of the list from which one came.
pub(super) fn answers_with_marks(
    details: &ResultDetails,
    visitor: &Annotator,
    list: &str,
) -> Markup {
    let result = &details.result;
    let view = result.view();
    let answers = view.status.answers();
    html! {
        form #marks method="post" action={ "/results/" (result.id()) "/marks" (list) } {
            @for question in view.questions {
                @if let Some(answer) = answers.and_then(|answers| answers.get(&question.key)) {
                    @let marks = PeoplesMarks::of(details, question);
                    section.answer tabindex="-1" data-question=(question.key) aria-label=(question.text) {
                        h3 { bdi { (question.text) } " " code.soft { (question.key) } }
                        div.split {
                            div { (bars_of(question, answer, result.columns().lens)) }
                            (right_outcome(result, question, answer, &marks, visitor))
                        }
                    }
                }
            }
            div.row {
                button type="submit" { "Save marks" }
                p.hint #mark-state role="status" aria-live="polite" {
                    "Marks are kept beside the result and never change it."
                }
            }
        }
    }
}

/// What people marked of one question.
struct PeoplesMarks<'a> {
    /// The mark that counts.
    counting: Option<&'a Mark>,
    /// All marks, the oldest first.
    all: Vec<&'a Mark>,
}

impl<'a> PeoplesMarks<'a> {
    fn of(details: &'a ResultDetails, question: &Question) -> Self {
        let of_question = |mark: &&Mark| mark.question == question.key;
        let counting = details.marks.iter().find(of_question);
        let others = details.other_marks.iter().filter(of_question);
        let mut all: Vec<_> = counting.into_iter().chain(others).collect();
        all.sort_by_key(|mark| mark.marked_at);
        Self { counting, all }
    }

    /// The visitor's own mark, or else a mark of nobody.
    fn own(&self, visitor: &Annotator) -> Option<&'a Mark> {
        let ordinary = || self.all.iter().filter(|mark| !mark.is_adjudicated);
        let own = ordinary().find(|mark| mark.marked_by.is(visitor));
        let own = own.or_else(|| ordinary().find(|mark| mark.marked_by.is_unnamed()));
        own.copied()
    }

    /// Whether people differ and nobody has settled it.
    fn differ(&self) -> bool {
        let first = self.all.first().map(|mark| &mark.outcome);
        !self.all.iter().any(|mark| mark.is_adjudicated)
            && self.all.iter().any(|mark| Some(&mark.outcome) != first)
    }

    /// The name of who made a mark: beside others' marks "you" for the visitor, with the end of the id
    /// where two have one name.
    fn name(&self, mark: &Mark, visitor: &Annotator) -> String {
        let by = &mark.marked_by;
        if by.is(visitor) && self.all.len() > 1 {
            return "you".to_owned();
        }
        let name = by.name.as_ref().map_or("somebody", Marker::as_str);
        let is_other = |other: &&Mark| !other.marked_by.is(by) && other.marked_by.name == by.name;
        match by.person {
            Some(person) if self.all.iter().copied().any(|other| is_other(&other)) => {
                let id = person.to_string();
                let end = id.rsplit('-').next().unwrap_or_default();
                format!("{name} (…{end})")
            }
            Some(_) | None => name.to_owned(),
        }
    }

    /// The names of those who differ: "You and Olga".
    fn names(&self, visitor: &Annotator) -> String {
        let mut names: Vec<_> = self
            .all
            .iter()
            .map(|mark| self.name(mark, visitor))
            .collect();
        names.sort_by_key(|name| name != "you");
        let last = names.pop().unwrap_or_default();
        let names = format!("{} and {last}", names.join(", "));
        names
            .strip_prefix("you")
            .map_or_else(|| names.clone(), |rest| format!("You{rest}"))
    }
}

/// The select of the right outcome, what is marked, and by whom.
fn right_outcome(
    result: &ReadableResult,
    question: &Question,
    answer: &Answer,
    marks: &PeoplesMarks<'_>,
    visitor: &Annotator,
) -> Markup {
    let marked = marks.own(visitor).map_or("", |mark| mark.outcome.as_str());
    let name = format!("mark.{}", question.key);
    let label = format!("Right answer: {}", question.text);
    let nothing = if marks.counting.is_none() || !marked.is_empty() {
        "not marked"
    } else {
        "not by you"
    };
    let options = [("", nothing)].into_iter();
    let outcomes = mark::outcomes(question).map(|it| (it.key, it.label));
    let options = options.chain(outcomes).collect::<Vec<_>>();
    let cutoffs = cutoffs(question, result.columns().lens);
    let predicted = predicted(question, answer, cutoffs);
    html! {
        div.mark {
            (FormField::new(&name, "Right answer").value(marked).named(&label).choice(&options))
            input type="hidden" name={ "was." (question.key) } value=(marked);
            @if let Some(mark) = marks.counting {
                @if marks.differ() {
                    p.hint {
                        strong.failed { bdi { (marks.names(visitor)) } " differ. " }
                        a href=(disputes_address(result, question)) { "Settle it in Review" }
                    }
                }
                p.hint {
                    @if predicted.as_ref() != Some(&mark.outcome) {
                        strong.failed { "Differs from the answer. " }
                    } @else { "Agrees with the answer. " }
                    @if mark.is_adjudicated { "Settled" } @else { "Marked" }
                    @if mark.marked_by.name.is_some() { " by " bdi { (marks.name(mark, visitor)) } }
                    @else if mark.source == Some(MarkSource::Import) { " by an import in the terminal" }
                    " as " bdi { (label_of(question, mark)) } ", " (moment(mark.marked_at))
                }
                @if marks.all.len() > 1 {
                    ul.plain.hint {
                        @for mark in &marks.all {
                            li {
                                bdi { (marks.name(mark, visitor)) } ": "
                                bdi { (label_of(question, mark)) }
                                @if mark.is_adjudicated { ", settled" }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The label of a marked outcome; its key where the version has no such outcome.
fn label_of<'a>(question: &'a Question, mark: &'a Mark) -> &'a str {
    let found = mark::outcomes(question).find(|it| it.key == mark.outcome.as_str());
    found.map_or(mark.outcome.as_str(), |it| it.label)
}

/// The address of the queue in which disagreements about a question are settled.
fn disputes_address(result: &ReadableResult, question: &Question) -> String {
    let query = Query::default().with("queue", Some(QueueKind::Differ.name()));
    let query = query.with("question", Some(question.key.as_str()));
    format!(
        "{}/review{}",
        prism_address(result.prism()),
        query.in_address()
    )
}

/// The changed marks: only those that differ from the marks shown in the form, so that nobody
/// overwrites marks that another person set meanwhile.
pub(super) fn changes(form: &Form, result: &ReadableResult) -> Vec<MarkChange> {
    let questions = result.view().questions.iter();
    let changes = questions.filter_map(|question| {
        let name = format!("mark.{}", question.key);
        let chosen = form.get(&name);
        let is_change = form.has(&name) && chosen != form.get(&format!("was.{}", question.key));
        let outcome = (!chosen.is_empty()).then(|| chosen.to_owned());
        is_change.then(|| (question.key.clone(), outcome))
    });
    changes.collect()
}
