//! The prism's examples and what the draft's words answer about them: asked when somebody reviews the
//! draft, and shown before it is saved. A broken example keeps nobody from saving.

use std::sync::Arc;
use std::time::Duration;

use maud::{Markup, html};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_service::lenses::PrismLens;
use refract_service::prisms::{
    AskedExamples, CheckedExample, DraftTrialCost, ExampleState, VersionDraft,
};

use super::editing::Editing;
use crate::components::{
    answer_in_short, broken_examples, clamped, count, counted, example_state, outcome_label,
    prism_address, stacked_table,
};
use crate::replies::PageError;
use crate::requests::Visit;

/// How long somebody who reviews a draft waits for the check. What is not answered by then can be
/// asked on the page.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most characters of a text that are shown.
const SHOWN: usize = 300;

/// The examples beside the answers of the draft and of the latest version.
pub(super) struct DraftExamples {
    lens: Arc<PrismLens>,
    number: VersionNumber,
    draft: PrismVersion,
    of_draft: Vec<CheckedExample>,
    of_latest: Vec<CheckedExample>,
    /// The cost of asking the draft about those that it has not answered.
    pub(super) cost: DraftTrialCost,
}

/// Asks a draft that can be saved about the examples that its words have not answered yet.
pub(super) async fn ask(visit: &Visit, editing: &Editing) -> Result<(), PageError> {
    let Some(prism) = &editing.prism else {
        return Ok(());
    };
    let file = editing.read(visit).await?;
    if let (Ok(file), None) = (file, prism.archived_at) {
        let examples = visit.refract.prisms().example_texts();
        let unanswered = AskedExamples::Unanswered;
        let asking = examples.ask(prism, &file.version, unanswered, PATIENCE);
        asking.await?;
    }
    Ok(())
}

impl DraftExamples {
    /// Finds the examples of a draft's prism, and what was answered about them.
    pub(super) async fn find(
        visit: &Visit,
        draft: &VersionDraft,
        lens: &Arc<PrismLens>,
    ) -> Result<Self, PageError> {
        let examples = visit.refract.prisms().example_texts();
        let version = &draft.file.version;
        let of_draft = examples.checked(&draft.prism, version).await?;
        Ok(Self {
            of_latest: examples.checked(&draft.prism, draft.latest()).await?,
            cost: examples.cost(&of_draft, version, AskedExamples::Unanswered),
            number: draft.prism.latest_version,
            draft: version.clone(),
            lens: Arc::clone(lens),
            of_draft,
        })
    }

    /// How many examples are broken, then the broken ones; nothing if the prism has no examples.
    pub(super) fn markup(&self) -> Markup {
        let columns = self.lens.columns().lens;
        let state = |one: &CheckedExample| one.state(&self.draft, columns);
        let states: Vec<_> = self.of_draft.iter().map(state).collect();
        let stood = self.of_draft.iter().zip(&states);
        let (mut broken, others): (Vec<_>, Vec<_>) =
            stood.partition(|(_, state)| state.is_broken());
        // what the draft breaks comes first
        broken.sort_by_key(|(one, _)| !self.held_before(one));
        let newly = broken
            .iter()
            .filter(|(one, _)| self.held_before(one))
            .count();
        let unheld = others
            .into_iter()
            .filter(|(_, state)| **state != ExampleState::Holds);
        let unheld: Vec<_> = unheld.collect();
        let address = format!("{}/examples", prism_address(&self.lens.prism));
        html! {
            @if !states.is_empty() {
                section #examples.broken[!broken.is_empty()] {
                    h2 { "Examples" }
                    p {
                        (broken_examples(&states))
                        @if newly > 0 { " " (count(newly)) " held with version " (self.number) "." }
                        @if !broken.is_empty() { " You can save all the same." }
                        " " a href=(address) { "All examples" }
                    }
                    @for (one, _) in &broken { (self.compared(one)) }
                    @if !unheld.is_empty() {
                        details {
                            summary { (counted(unheld.len(), "example")) " without an answer" }
                            ul.test-answers { @for (one, state) in &unheld { li { (text(one)) " " (example_state(state)) } } }
                        }
                    }
                }
            }
        }
    }

    /// Whether an example held with the latest version.
    fn held_before(&self, one: &CheckedExample) -> bool {
        let before = self.before(one);
        before.is_some_and(|before| {
            before.state(&self.lens.latest, self.lens.columns().lens) == ExampleState::Holds
        })
    }

    fn before(&self, one: &CheckedExample) -> Option<&CheckedExample> {
        let mut latest = self.of_latest.iter();
        latest.find(|before| before.example.id == one.example.id)
    }

    /// A broken example: the right answers, those of the latest version and those of the draft.
    fn compared(&self, one: &CheckedExample) -> Markup {
        let columns = self.lens.columns().lens;
        let before = self.before(one).and_then(CheckedExample::answers);
        let rows = html! {
            @for it in one.expected(&self.draft, columns).filter(|it| it.is_broken) {
                tr {
                    th scope="row" { span.text dir="auto" { (it.question.text) } }
                    td data-label="Right answer" { bdi { (outcome_label(it.question, it.expected.as_str())) } }
                    td data-label={ "Version " (self.number) } {
                        @let asked = self.lens.latest.question(&it.question.key);
                        @let answer = before.and_then(|before| before.get(&it.question.key));
                        @match asked.zip(answer) {
                            Some((asked, answer)) => { (answer_in_short(asked, answer, columns)) span aria-hidden="true" { " →" } }
                            None => span.soft { "not asked" },
                        }
                    }
                    td.broken data-label="Your version" { @if let Some(answer) = it.answer { (answer_in_short(it.question, answer, columns)) } }
                }
            }
        };
        let headings = [
            "Question",
            "Right answer",
            &format!("Version {}", self.number),
            "Your version",
        ];
        html! {
            section.broken-example {
                p { strong.differs { "✕ Broken: " } (text(one)) }
                (stacked_table("The right answers to this example beside those of both versions", &headings, &rows))
            }
        }
    }
}

/// The beginning of an example's text.
fn text(one: &CheckedExample) -> Markup {
    let values = one.example.submission.fields().iter();
    let values: Vec<_> = values.map(|(_, value)| value.trim()).collect();
    html! { span dir="auto" { (clamped(&values.join(" · "), SHOWN)) } }
}
