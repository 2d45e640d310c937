//! The form of an example: the text, and the right answer to each question.

use maud::{Markup, html};
use refract_domain::prism::{ExampleNote, ExpectedOutcomes, PrismVersion, Question};
use refract_domain::result::mark;
use refract_domain::submission::{CallContext, Ref, SentFields, Submission, field_value_errors};
use refract_evaluation::marked::predicted;
use refract_service::lenses::PrismLens;
use refract_service::prisms::{ExampleInput, ExampleText};
use refract_service::results::ResultDetails;

use super::example_list::address;
use crate::components::{FormErrors, FormField, NoticeKind, PrismTab, cutoffs, notice};
use crate::replies::Page;
use crate::requests::{Form, Visit};

/// The prefix of the fields' input names.
const FIELDS: &str = "fields.";
/// The prefix of the names of the questions' selects.
const EXPECTED: &str = "expected.";

/// The typed values, with their errors.
#[derive(Default)]
pub(super) struct ExampleForm {
    fields: Vec<(String, String)>,
    context: String,
    reference: String,
    note: String,
    /// The outcomes by question.
    expected: Vec<(String, String)>,
    /// The id of the result whose text it is; empty for none.
    result: String,
    errors: FormErrors,
}

impl ExampleForm {
    /// The text of a result. The right answers are its marks, and else what it was answered.
    pub(super) fn of_result(details: &ResultDetails, lens: &PrismLens) -> Self {
        let (result, marks) = (&details.result, &details.marks);
        let view = result.view();
        let fields = result.submission().fields().iter();
        let expected = lens.latest.questions().iter().filter_map(|question| {
            let marked = marks.iter().find(|mark| mark.question == question.key);
            let outcome = marked.map(|mark| mark.outcome.clone()).or_else(|| {
                let asked = view.questions.iter().find(|it| it.key == question.key)?;
                let answer = view.status.answers()?.get(&question.key)?;
                predicted(asked, answer, cutoffs(asked, lens.columns().lens))
            })?;
            Some((question.key.to_string(), outcome.to_string()))
        });
        Self {
            fields: fields
                .map(|(key, value)| (key.to_string(), value.clone()))
                .collect(),
            context: result.submission().context().unwrap_or_default().to_owned(),
            reference: view.reference.unwrap_or_default().to_owned(),
            expected: expected.collect(),
            result: view.id.to_string(),
            ..Self::default()
        }
    }

    /// The outcomes and the note of an example that is kept.
    pub(super) fn of_example(example: &ExampleText) -> Self {
        let expected = example.expected.0.iter();
        let expected = expected.map(|(key, outcome)| (key.to_string(), outcome.to_string()));
        Self {
            expected: expected.collect(),
            note: example
                .note
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            ..Self::default()
        }
    }

    /// The form as submitted.
    pub(super) fn sent(form: &Form) -> Self {
        let named = |prefix: &'static str| {
            let values = form.values().filter_map(move |(name, value)| {
                let key = name.strip_prefix(prefix)?;
                Some((key.to_owned(), value.to_owned()))
            });
            values.collect()
        };
        Self {
            fields: named(FIELDS),
            context: form.get("context").to_owned(),
            reference: form.get("ref").to_owned(),
            note: form.get("note").to_owned(),
            expected: named(EXPECTED),
            result: form.get("result").to_owned(),
            errors: FormErrors::default(),
        }
    }

    /// The id of the result whose text it is; empty for none.
    pub(super) fn result(&self) -> &str {
        &self.result
    }

    /// Adds an error of the whole form.
    pub(super) fn refuse(&mut self, words: &impl ToString) {
        self.errors.note("", words);
    }

    /// The new example; `None` if a value is invalid.
    pub(super) fn read(&mut self, version: &PrismVersion) -> Option<ExampleInput> {
        for (key, value) in &self.fields {
            let input = format!("{FIELDS}{key}");
            self.errors
                .note_all(&input, value, &field_value_errors(value));
        }
        if self.fields.iter().all(|(_, value)| value.trim().is_empty()) {
            self.errors.note("", "There is no text yet");
        }
        let context = CallContext::parse(self.context.clone());
        let context = self.errors.read("context", &self.context, context);
        let reference = match self.reference.trim() {
            "" => Ok(None),
            reference => Ref::parse(reference).map(Some),
        };
        let reference = self.errors.read("ref", &self.reference, reference);
        let (expected, note) = self.read_outcomes(version)?;
        let fields = SentFields::new(self.fields.clone());
        let submission = Submission::new(fields, context?, version.fields());
        let submission = submission.map_err(|mismatch| self.refuse(&mismatch)).ok()?;
        let input = ExampleInput {
            submission,
            reference: reference?,
            expected,
            note,
        };
        input
            .check_size(version)
            .map_err(|over| self.refuse(&over))
            .ok()?;
        Some(input)
    }

    /// The expected outcomes and the note; `None` if a value of the form is invalid.
    pub(super) fn read_outcomes(
        &mut self,
        version: &PrismVersion,
    ) -> Option<(ExpectedOutcomes, Option<ExampleNote>)> {
        let note = match self.note.trim() {
            "" => Ok(None),
            note => ExampleNote::parse(note).map(Some),
        };
        let note = self.errors.read("note", &self.note, note);
        let mut expected = Vec::new();
        for question in version.questions() {
            let chosen = self.expected_of(question);
            let found = mark::outcomes(question).find(|outcome| outcome.key == chosen);
            if let Some(outcome) = found.and_then(|_| mark::outcome_named(question, chosen)) {
                expected.push((question.key.clone(), outcome));
            }
        }
        if expected.is_empty() {
            self.refuse(&"Choose the right answer to at least one question");
        }
        let note = note?;
        self.errors
            .is_empty()
            .then_some((ExpectedOutcomes(expected), note))
    }

    fn expected_of(&self, question: &Question) -> &str {
        let mut expected = self.expected.iter();
        let found = expected.find(|(key, _)| key == question.key.as_str());
        found.map_or("", |(_, outcome)| outcome)
    }

    /// The page of a new example.
    pub(super) fn page<'a>(&self, visit: &'a Visit, lens: &PrismLens) -> Page<'a> {
        let main = html! {
            h2 { "A new example" }
            p.hint {
                "A text with the answers that are right for it. Each version of the prism is asked about it "
                "before it is saved, and you see it when one answers otherwise."
            }
            (self.summary())
            form.wide method="post" action=(address(lens)) {
                @if !self.result.is_empty() { input type="hidden" name="result" value=(self.result); }
                @for field in lens.latest.fields() {
                    (FormField::new(&format!("{FIELDS}{}", field.key), &field.label)
                        .value(self.value(field.key.as_str())).errors(&self.errors).area(4))
                }
                (FormField::new("context", "Context").value(&self.context)
                    .hint("Background for this text only; may be empty").errors(&self.errors).area(2))
                (FormField::new("ref", "Ref").value(&self.reference)
                    .hint("Your own reference; may be empty").errors(&self.errors).line("text", "off"))
                (self.outcomes(&lens.latest))
                div.row {
                    button.main type="submit" { "Keep the example" }
                    a.button href=(address(lens)) { "Back to the list" }
                }
            }
        };
        let title = format!("New example · {}", lens.prism.name);
        visit.prism_page(&lens.prism, PrismTab::Examples, title, &main)
    }

    /// What is wrong with the whole form.
    pub(super) fn summary(&self) -> Markup {
        let errors = self.errors.of("");
        html! {
            @if !self.errors.is_empty() {
                (notice(NoticeKind::Refused, &html! {
                    "Nothing was saved. "
                    @if errors.is_empty() { "What is to be put right stands beside it." } @else { (errors) }
                }))
            }
        }
    }

    /// The selects of the right answers, and the note.
    pub(super) fn outcomes(&self, version: &PrismVersion) -> Markup {
        html! {
            fieldset {
                legend { "Right answers" }
                @for question in version.questions() {
                    @let name = format!("{EXPECTED}{}", question.key);
                    @let none = [("", "not checked")].into_iter();
                    @let outcomes = mark::outcomes(question).map(|it| (it.key, it.label));
                    @let options: Vec<_> = none.chain(outcomes).collect();
                    (FormField::new(&name, &question.text).value(self.expected_of(question))
                        .errors(&self.errors).choice(&options))
                }
            }
            (FormField::new("note", "Note").value(&self.note)
                .hint("Why these are the right answers; may be empty").errors(&self.errors).line("text", "off"))
        }
    }

    fn value(&self, key: &str) -> &str {
        let found = self.fields.iter().find(|(sent, _)| sent == key);
        found.map_or("", |(_, value)| value)
    }
}
