//! The list of a prism's examples, those first that need a look.

use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::prism::EXAMPLE_TEXTS;
use refract_service::lenses::PrismLens;
use refract_service::prisms::{AskedExamples, CheckedExample, DraftTrialCost, ExampleState};

use crate::components::{
    FormField, PrismTab, answer_in_short, broken_examples, clamped, count, counted, empty_state,
    example_state, moment, outcome_label, prism_address, stacked_table,
};
use crate::replies::{Page, PageError, PageReply};
use crate::requests::Visit;

/// The most characters of a text in the list.
const SHOWN: usize = 160;
/// The most characters of a question in the list.
const QUESTION: usize = 60;
/// The most expected outcomes of an example in the list.
const OUTCOMES: usize = 4;

/// The examples of a prism, beside the answers of its latest version.
pub(super) struct ExampleList {
    lens: PrismLens,
    /// Those first that need a look.
    examples: Vec<(CheckedExample, ExampleState)>,
    /// The cost of the next check.
    cost: DraftTrialCost,
}

impl ExampleList {
    /// Finds the examples of the prism in the address.
    pub(super) async fn find(visit: &Visit) -> Result<Self, PageError> {
        let lens = visit.find_lens().await?;
        let examples = visit.refract.prisms().example_texts();
        let checked = examples.checked(&lens.prism, &lens.latest).await?;
        let cost = examples.cost(&checked, &lens.latest, AskedExamples::All);
        let columns = lens.columns().lens;
        let mut examples: Vec<_> = checked
            .into_iter()
            .map(|one| {
                let state = one.state(&lens.latest, columns);
                (one, state)
            })
            .collect();
        examples.sort_by_key(|(_, state)| state.rank());
        Ok(Self {
            lens,
            examples,
            cost,
        })
    }

    /// The page; `refused` is the notice about a refused file.
    pub(super) fn page<'a>(&self, visit: &'a Visit, refused: Option<&Markup>) -> Page<'a> {
        let is_editor = visit.visitor.role.may(Role::Editor);
        let main = html! {
            @if let Some(notice) = visit.done(done) { (notice) }
            @if let Some(refused) = refused { (refused) }
            p.hint {
                "Texts whose right answers are known. Each version is asked about them before it is saved: "
                "one that is answered otherwise is broken."
            }
            @if self.examples.is_empty() {
                (empty_state("There is no example yet. Write a text whose right answer you know, or open a result and keep it as an example.", &html! {}))
            } @else {
                (self.summary())
            }
            (self.actions(is_editor))
            @if !self.examples.is_empty() { (self.table()) }
            @if is_editor { (self.upload_form()) }
        };
        let title = format!("Examples · {}", self.lens.prism.name);
        visit.prism_page(&self.lens.prism, PrismTab::Examples, title, &main)
    }

    fn summary(&self) -> Markup {
        let states: Vec<_> = self
            .examples
            .iter()
            .map(|(_, state)| state.clone())
            .collect();
        let checked = self.examples.iter().filter_map(|(one, _)| one.checked_at());
        html! {
            p #standing {
                (broken_examples(&states))
                @if let Some(last) = checked.max() {
                    " " span.soft { "Version " (self.lens.prism.latest_version) " was last asked " (moment(last)) "." }
                }
            }
        }
    }

    fn actions(&self, is_editor: bool) -> Markup {
        let address = address(&self.lens);
        let is_active = self.lens.prism.archived_at.is_none();
        html! {
            div.row {
                @if self.cost.texts > 0 && is_active {
                    form method="post" action={ (address) "/check" } {
                        button.main type="submit" { "Check " (counted(self.cost.texts, "example")) }
                    }
                }
                @if is_editor { a.button href={ (address) "/new" } { "Add an example" } }
                @if !self.examples.is_empty() { a.button href={ (address) "/download" } download { "Download" } }
            }
            @if self.cost.texts > 0 && is_active {
                p.hint {
                    @if self.cost.requests == 0 { "The built-in scorer answers, no model request is sent. " }
                    @else { "A check takes about " (counted(self.cost.requests, "model request")) ". " }
                    "It makes no results."
                }
            }
        }
    }

    fn table(&self) -> Markup {
        let number = self.lens.prism.latest_version;
        let rows = html! { @for (one, state) in &self.examples { (self.row(one, state)) } };
        let answered = format!("Version {number}");
        stacked_table(
            "Examples",
            &["Text", "Right answers", &answered, "State"],
            &rows,
        )
    }

    fn row(&self, one: &CheckedExample, state: &ExampleState) -> Markup {
        let (version, columns) = (&self.lens.latest, self.lens.columns().lens);
        let values = one.example.submission.fields().iter();
        let text: Vec<_> = values.map(|(_, value)| value.trim()).collect();
        let text = clamped(text.join(" · ").trim_matches([' ', '·']), SHOWN);
        let expected: Vec<_> = one.expected(version, columns).collect();
        // what is broken must be seen
        let (broken, others): (Vec<_>, Vec<_>) = expected.iter().partition(|it| it.is_broken);
        let most = OUTCOMES.max(broken.len());
        let shown = broken.iter().chain(&others).take(most);
        let unshown = expected.len().saturating_sub(most);
        let gone = one.no_longer_asked(version).count();
        html! {
            tr id={ "example-" (one.example.id) } {
                th scope="row" {
                    a.text href={ (address(&self.lens)) "/" (one.example.id) } dir="auto" {
                        @if text.is_empty() { "(no text)" } @else { (text) }
                    }
                }
                td data-label="Right answers" {
                    ul.test-answers {
                        @for it in shown {
                            li { span.soft { (clamped(&it.question.text, QUESTION)) } " " bdi { (outcome_label(it.question, it.expected.as_str())) } }
                        }
                        @if unshown > 0 { li.soft { "and " (count(unshown)) " more" } }
                        @if gone > 0 { li.soft { (count(gone)) " no longer asked" } }
                    }
                }
                td data-label=[(!broken.is_empty()).then_some("Answer")] {
                    @if !broken.is_empty() {
                        ul.test-answers {
                            @for it in &broken {
                                @if let Some(answer) = it.answer {
                                    li { span.soft { (clamped(&it.question.text, QUESTION)) } " " (answer_in_short(it.question, answer, columns)) }
                                }
                            }
                        }
                    }
                }
                td data-label="State" { (example_state(state)) }
            }
        }
    }

    fn upload_form(&self) -> Markup {
        let file = FormField::new("file", "File").hint(
            "CSV, TSV or JSON Lines, as refract check reads: a column for each field, expected_ and a \
             question's key for its right answers, ref and context if you like.",
        );
        html! {
            h2 { "From a file" }
            form.wide method="post" action={ (address(&self.lens)) "/upload" } enctype="multipart/form-data" {
                (file.around(&html! {
                    input #file name="file" type="file" accept=".csv,.tsv,.jsonl,.ndjson,text/csv" aria-describedby="file-hint";
                }))
                button type="submit" { "Upload" }
                p.hint {
                    "All of it is taken, or nothing. A text that is here already gets the answers of the file. At most "
                    (EXAMPLE_TEXTS) " examples are kept; Download gives such a file."
                }
            }
        }
    }
}

/// What happened before the redirect to the list.
fn done(what: &str) -> Option<&'static str> {
    match what {
        "kept" => Some("The example is kept."),
        "changed" => Some("The example is changed."),
        "removed" => Some("The example is removed."),
        "uploaded" => Some("The examples of the file are kept."),
        "checked" => Some("The examples are checked."),
        _ => None,
    }
}

/// The address of the list.
pub(super) fn address(lens: &PrismLens) -> String {
    format!("{}/examples", prism_address(&lens.prism))
}

/// The redirect to the list, with a word on what happened.
pub(super) fn to_list(lens: &PrismLens, done: &str) -> PageReply {
    PageReply::see_other(&format!("{}?done={done}", address(lens)))
}
