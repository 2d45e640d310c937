//! The form that begins a sitting: which results, which question. And the names of queues and sittings.

use maud::{Markup, html};
use refract_domain::key::QuestionKey;
use refract_domain::lens::{Cutoff, Cutoffs};
use refract_domain::prism::{Question, QuestionType, VersionNumber};
use refract_service::lenses::PrismLens;
use refract_service::marks::{QueueKind, REVIEWED_NEWEST, ReviewQueue, Sitting};
use refract_service::results::{ResultSearch, searchable_columns};

use crate::components::{FormField, count};
use crate::pages::results::FilterValues;
use crate::requests::{Query, Visit, form_id};

/// The value of the question's select for all questions.
const ALL: &str = "*";

/// What was chosen.
pub(super) struct QueueForm {
    kind: QueueKind,
    /// The key of a question, or [`ALL`].
    question: String,
    is_blind: bool,
    /// Whether what others marked is asked about too.
    is_shared: bool,
    /// The version of which results are drawn unless they are of all.
    version: VersionNumber,
    /// Whether results of older versions are drawn too.
    has_all_versions: bool,
    /// The filter of the address, if there is one.
    search: Option<ResultSearch>,
    /// The cutoffs of the address, of a draft of the lens.
    cutoffs: Option<Cutoffs>,
    /// The filter and the cutoffs, as in the address.
    query: Query,
    /// The error of the question; empty for none.
    error: &'static str,
}

impl QueueForm {
    /// The form with what the address names.
    pub(super) fn of_address(visit: &Visit, lens: &PrismLens, version: VersionNumber) -> Self {
        let query = &visit.sent.query;
        let form = Self::empty(query, lens, version);
        let unnamed = if form.search.is_some() {
            QueueKind::Filter
        } else {
            QueueKind::Random
        };
        let kind = query.get("queue").and_then(QueueKind::named);
        let first = lens.latest.questions().first();
        let first = first.map_or(ALL, |question| question.key.as_str());
        Self {
            kind: kind.unwrap_or(unnamed),
            question: query.get("question").unwrap_or(first).to_owned(),
            is_shared: query.get("shared").is_some(),
            ..form
        }
    }

    /// The submitted form.
    pub(super) fn of_form(visit: &Visit, lens: &PrismLens, version: VersionNumber) -> Self {
        let form = &visit.sent.form;
        Self {
            kind: QueueKind::named(form.get("queue")).unwrap_or_default(),
            question: form.get("question").to_owned(),
            is_blind: form.has("blind"),
            is_shared: form.has("shared"),
            has_all_versions: form.get("versions") == "all",
            ..Self::empty(&visit.sent.query, lens, version)
        }
        .checked(lens)
    }

    fn empty(query: &Query, lens: &PrismLens, version: VersionNumber) -> Self {
        let values = FilterValues::read(query, lens, &searchable_columns(lens));
        let is_filtered = values.is_narrowed() && !values.has_errors();
        let cutoff = |name| {
            let cutoff = query.get(name)?.parse().ok();
            cutoff.filter(|cutoff: &f64| cutoff.is_finite())
        };
        let cutoffs = Cutoffs::new(cutoff("no_below"), cutoff("yes_from")).ok();
        let names = ["no_below", "yes_from"];
        let own = names
            .iter()
            .fold(values.query, |own, name| own.with(name, query.get(name)));
        Self {
            kind: QueueKind::Random,
            question: String::new(),
            is_blind: false,
            is_shared: false,
            version,
            has_all_versions: false,
            search: is_filtered.then_some(values.filter),
            cutoffs: cutoffs.filter(|_| query.get("no_below").is_some()),
            query: own,
            error: "",
        }
    }

    /// The form with the error of a queue that the question has not.
    fn checked(self, lens: &PrismLens) -> Self {
        let key = QuestionKey::parse(&self.question).ok();
        let question = key.and_then(|key| lens.latest.question(&key));
        let of_type = question.map(Question::question_type);
        let error = match (self.kind, of_type) {
            (_, None) if self.question != ALL => "The prism has no such question: choose one",
            (QueueKind::Near, Some(QuestionType::Choice | QuestionType::Scale) | None) => {
                "Only a Yes / No question has cutoffs: choose one"
            }
            (QueueKind::NoValidAnswer, Some(QuestionType::YesNo | QuestionType::Scale)) => {
                "Only a Choice can be without a valid answer: choose one, or all questions"
            }
            (_, _) => "",
        };
        Self { error, ..self }
    }

    /// The queue; `None` with an error.
    pub(super) fn queue(&self) -> Option<ReviewQueue> {
        if !self.error.is_empty() {
            return None;
        }
        let mut search = self.search.clone().unwrap_or_default();
        if self.search.is_none() && !self.has_all_versions {
            search.filter.version = Some(self.version);
        }
        Some(ReviewQueue {
            kind: self.kind,
            question: QuestionKey::parse(&self.question).ok(),
            cutoffs: self.cutoffs,
            search,
            is_blind: self.is_blind,
            is_shared: self.is_shared,
        })
    }

    /// The form as it is.
    pub(super) fn show(&self, lens: &PrismLens, address: &str) -> Markup {
        let questions = lens.latest.questions().iter();
        let questions = questions.map(|question| (question.key.as_str(), question.text.as_str()));
        let all = (ALL, "All questions, one after the other");
        let options: Vec<_> = questions.chain([all]).collect();
        let newest = if self.version == lens.prism.latest_version {
            format!("Version {}, the latest", self.version)
        } else {
            format!("Version {}, the newest with results", self.version)
        };
        let versions = if self.has_all_versions {
            "all"
        } else {
            "latest"
        };
        html! {
            form method="post" action={ (address) (self.query.in_address()) } {
                (form_id())
                div.filters {
                    (FormField::new("question", "Question to mark").value(&self.question).error(self.error).choice(&options))
                    @if self.search.is_none() {
                        (FormField::new("versions", "Results of").value(versions)
                            .choice(&[("latest", &newest), ("all", "All versions")]))
                    }
                }
                @if self.search.is_some() {
                    p.hint { "Only the results of the filter that you came with." }
                }
                fieldset.queues {
                    legend { "Which results" }
                    @for kind in QueueKind::ALL {
                        @if kind != QueueKind::Filter || self.search.is_some() {
                            label {
                                input type="radio" name="queue" value=(kind.name()) checked[kind == self.kind];
                                span {
                                    (kind_name(kind))
                                    span.hint { (self.describe(kind)) }
                                }
                            }
                        }
                    }
                }
                p { label.check {
                    input type="checkbox" name="blind" checked[self.is_blind];
                    " Hide every answer until I have marked it, as a random sample always does"
                } }
                p { label.check {
                    input type="checkbox" name="shared" checked[self.is_shared];
                    " Also texts that others have marked, without showing their marks: how far we agree shows on Quality"
                } }
                button.main type="submit" { "Begin" }
                p.hint {
                    "A random sample is drawn from all of them; the others come from the newest "
                    (count(REVIEWED_NEWEST)) "."
                }
            }
        }
    }

    fn describe(&self, kind: QueueKind) -> String {
        match kind {
            QueueKind::Random if self.search.is_some() => {
                "In random order. It measures nothing, since a filter chose the results.".to_owned()
            }
            QueueKind::Random => {
                "Measures how often the prism is right. Answers stay hidden until \
                you have marked them."
                    .to_owned()
            }
            QueueKind::Near => match self.cutoffs {
                None => "Where a small move of a cutoff changes the answer.".to_owned(),
                Some(cutoffs) => format!("Near the cutoffs of the draft: {}.", describe(cutoffs)),
            },
            QueueKind::LeastSure => "Where a mistake is most likely.".to_owned(),
            QueueKind::NoValidAnswer => "Answered with none of the options.".to_owned(),
            QueueKind::Filter => "The newest first.".to_owned(),
            QueueKind::Differ => {
                "Marked differently by two people. What you choose settles it.".to_owned()
            }
        }
    }
}

fn describe(cutoffs: Cutoffs) -> String {
    let percent = |cutoff: Cutoff| f64::from(cutoff.millionths()) / 10_000.0;
    let no_ends_at = percent(cutoffs.no_ends_at());
    match cutoffs.yes_from() {
        Some(yes_from) => format!("no below {no_ends_at} %, yes from {} %", percent(yes_from)),
        None => format!("yes from {no_ends_at} %"),
    }
}

/// The queue of a sitting and the question that it asks.
pub(super) fn sitting_name(sitting: &Sitting, lens: &PrismLens) -> Markup {
    html! {
        (kind_name(sitting.kind()))
        " · "
        @match sitting.question() {
            None => { "all questions" },
            Some(key) => @match lens.latest.question(key) {
                Some(question) => bdi { (question.text) },
                None => bdi { (key) },
            }
        }
    }
}

/// The name of a queue.
fn kind_name(kind: QueueKind) -> &'static str {
    match kind {
        QueueKind::Random => "Random sample",
        QueueKind::Near => "Near a cutoff",
        QueueKind::LeastSure => "Least sure",
        QueueKind::NoValidAnswer => "No valid answer",
        QueueKind::Filter => "Filtered results",
        QueueKind::Differ => "Where two differ",
    }
}
