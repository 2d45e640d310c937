//! The question in the middle of the page: its stored probabilities with the handles of both cutoffs,
//! how many results are No, Unsure and Yes, and what is wrong with the draft.

use maud::{Markup, html};
use refract_domain::lens::{Column, Cutoffs};
use refract_domain::prism::Question;
use refract_domain::problem::{Problem, ValidationError};
use refract_evaluation::counting::{LabelMoves, PercentCutoffs, PercentHistogram};
use refract_service::lenses::PrismLens;
use serde_json::json;

use super::lens_form::{ColumnInput, LensForm, ONE};
use super::state::near_queue;
use crate::components::{
    DrawnCutoffs, FormField, clamped, count, counted, fault_sentence, histogram, prism_address,
    share, short_percent, table, to_percent,
};

/// The most characters of a question beside its key in a list.
pub(super) const QUESTION: usize = 60;
/// The percents of a row of the table behind the histogram.
const TABLE_STEP: usize = 5;

/// What the panel shows.
pub(super) struct Panel<'a> {
    pub(super) lens: &'a PrismLens,
    pub(super) form: &'a LensForm,
    pub(super) problems: &'a [Problem],
    /// The stored probabilities of the column in the middle, if there are any.
    pub(super) moves: Option<&'a LabelMoves>,
    /// How good the cutoffs are, by marks.
    pub(super) measured: Markup,
}

impl Panel<'_> {
    /// The panel of the column in the middle, or why there is none.
    pub(super) fn draw(&self) -> Markup {
        let Some((place, column)) = self.form.chosen().zip(self.form.chosen_column()) else {
            return html! {
                section.cutoffs {
                    p { "No column shows Yes / No labels, so there are no cutoffs to move. Under Columns, add a question that is answered by yes or no." }
                }
            };
        };
        let saved = self.saved_cutoffs(column);
        let has_band = column.has_band();
        html! {
            section.cutoffs #cutoffs data-column=(place) data-name=[saved.map(|_| column.name.as_str())]
                data-moves=[self.moves.map(script_counts)] {
                (self.chooser(place, column))
                @if let Some(moves) = self.moves.filter(|moves| moves.probabilities.results() > 0) {
                    (plot(column, moves, saved))
                } @else {
                    p.soft {
                        "There are no answered results of this question yet. "
                        a href={ (prism_address(&self.lens.prism)) "/try" } { "Try a text" }
                        ", and see here how the cutoffs part them."
                    }
                }
                div.numbers {
                    @if has_band {
                        (self.number(place, "no_below", "No below", &column.no_below, saved))
                    } @else {
                        // what the one input says, and what it said before
                        input type="hidden" name={ "columns." (place) ".no_below" } value=(column.no_below) data-cutoff="no_below";
                        input type="hidden" name={ "columns." (place) "." (ONE) } value=(column.no_below) data-one;
                    }
                    (self.number(place, "yes_from", "Yes from", &column.yes_from, saved))
                    @if has_band {
                        button.quiet type="submit" name="act" value="no-band" { "One cutoff, nothing unsure" }
                    } @else {
                        button.quiet type="submit" name="act" value="band" { "Leave some unsure" }
                    }
                    @if let Some(moves) = self.moves { (shares(column, moves, saved)) }
                }
                (self.measured)
                @if saved.is_some() && question_of(self.lens, column).is_some() {
                    p { a href=(near_queue(&self.lens.prism, column.question())) { "Review results near the cutoffs in force" } }
                }
            }
        }
    }

    /// The chooser of the label column, with the question's text.
    fn chooser(&self, place: usize, column: &ColumnInput) -> Markup {
        let labels = self.form.columns.iter().enumerate();
        let labels = labels.filter(|(_, column)| column.is_label());
        html! {
            div.chooser {
                label for="column" { "Question" }
                select #column name="column" {
                    @for (other, column) in labels {
                        option value=(other) selected[other == place] {
                            (chosen_name(column))
                            @if let Some(question) = question_of(self.lens, column) { " · " (clamped(&question.text, QUESTION)) }
                        }
                    }
                }
                button type="submit" name="act" value="choose" { "Show" }
                @if let Some(question) = question_of(self.lens, column).filter(|it| it.text.chars().count() > QUESTION) {
                    // the list has its beginning only
                    span.text dir="auto" { (question.text.as_str()) }
                }
            }
        }
    }

    fn number(
        &self,
        place: usize,
        name: &str,
        label: &str,
        value: &str,
        saved: Option<Cutoffs>,
    ) -> Markup {
        let id = format!("columns.{place}.{name}");
        // a lens file with one cutoff has it as the end of No
        let other = format!("columns.{place}.no_below");
        let fault = match name {
            "yes_from" if value.trim() == self.no_below(place) => {
                faults_at(self.problems, &[&id, &other])
            }
            _ => faults_at(self.problems, &[&id]),
        };
        let is_invalid = (!fault.is_empty()).then_some("true");
        let described_by = format!("{id}-saved {id}-fault");
        let field = FormField::new(&id, label).error(fault);
        let saved = saved.map(drawn).map(|saved| match name {
            "no_below" => saved.no_below,
            _ => saved.yes_from,
        });
        field.around(&html! {
            span.percent {
                input #(id) name=(id) type="number" inputmode="decimal" min="0" max="100" step="any" value=(value)
                    data-cutoff=(name) aria-invalid=[is_invalid] aria-describedby=(described_by);
                " %"
            }
            span.soft #{ (id) "-saved" } {
                @if let Some(saved) = saved { "in force: " (to_percent(saved / 100.0)) " %" }
            }
        })
    }

    fn no_below(&self, place: usize) -> &str {
        let column = self.form.columns.get(place);
        column.map_or("", |column| column.no_below.trim())
    }

    /// The cutoffs in force of a column of this name and question.
    fn saved_cutoffs(&self, column: &ColumnInput) -> Option<Cutoffs> {
        let columns = self.lens.columns().lens.iter();
        let is_it = |saved: &&Column| saved.name.as_str() == column.name.trim();
        columns
            .filter(is_it)
            .find_map(|saved| saved.output.cutoffs())
    }
}

/// The name of a column in choosers.
pub(super) fn chosen_name(column: &ColumnInput) -> &str {
    match column.name.trim() {
        "" => column.question(),
        name => name,
    }
}

/// The question of a column in the latest version.
pub(super) fn question_of<'a>(lens: &'a PrismLens, column: &ColumnInput) -> Option<&'a Question> {
    let mut questions = lens.latest.questions().iter();
    questions.find(|question| question.key.as_str() == column.question())
}

/// The histogram with handles, which a script shows, and the table behind it.
fn plot(column: &ColumnInput, moves: &LabelMoves, saved: Option<Cutoffs>) -> Markup {
    let cutoffs = typed(column);
    let handle = |name: &str, label: &str, value: f64, meaning: &str| {
        let spoken = format!("{}: {meaning}", short_percent(value));
        html! {
            input.handle.(name) type="range" min="0" max="100" step="any" value=(value) hidden
                data-handle=(name) data-meaning=(meaning) aria-label=(label) aria-valuetext=(spoken);
        }
    };
    let (ends, begins) = if column.has_band() {
        (
            "No below, Unsure from here up",
            "Unsure below, Yes from here up",
        )
    } else {
        ("", "No below, Yes from here up")
    };
    html! {
        div.plot {
            (histogram(moves.probabilities.counts(), cutoffs, saved.map(drawn)))
            @if column.has_band() { (handle("no_below", "Handle: No below", cutoffs.no_below, ends)) }
            (handle("yes_from", "Handle: Yes from", cutoffs.yes_from, begins))
        }
        details.behind {
            summary { "Probability of yes in " (counted(moves.probabilities.results(), "result")) ", as a table" span { " (bars grow with the square root of the count)" } }
            (histogram_table(&moves.probabilities))
        }
    }
}

/// The histogram as a table of wider steps.
fn histogram_table(probabilities: &PercentHistogram) -> Markup {
    let steps = probabilities.counts().chunks(TABLE_STEP).enumerate();
    let rows = html! {
        @for (step, counts) in steps {
            @let from = step * TABLE_STEP;
            tr {
                th scope="row" {
                    @if from < 100 { (from) " to below " (from + TABLE_STEP) " %" } @else { "100 %" }
                }
                td.number { (count(counts.iter().sum::<u64>())) }
            }
        }
    };
    table(
        "Results by probability of yes",
        &["Probability of yes", "Results"],
        &rows,
    )
}

/// How many results are No, Unsure and Yes, and their shares; where the lens differs, by it too.
fn shares(column: &ColumnInput, moves: &LabelMoves, saved: Option<Cutoffs>) -> Markup {
    let of = moves.probabilities.results();
    let labels = labels(&moves.probabilities, typed(column));
    let before = saved.map(|saved| self::labels(&moves.probabilities, drawn(saved)));
    let names = [("no", "No"), ("unsure", "Unsure"), ("yes", "Yes")];
    html! {
        dl.shares {
            @for (place, ((name, label), results)) in names.into_iter().zip(labels).enumerate() {
                div.(name) {
                    dt { (label) }
                    dd {
                        b data-share=(name) { (share(results, of).unwrap_or_default()) " %" }
                        " " span data-count=(name) { (count(results)) }
                        @if let Some(before) = before.and_then(|before| before.get(place).copied()) {
                            " " span.soft { "now " (count(before)) }
                        }
                    }
                }
            }
        }
    }
}

/// How many probabilities are No, Unsure and Yes. Cutoffs that are not whole percents are rounded up
/// here, since each bar is a whole percent; the changed results are exact.
fn labels(probabilities: &PercentHistogram, cutoffs: DrawnCutoffs) -> [u64; 3] {
    let mut labels = [0; 3];
    for (percent, count) in (0_u8..).zip(probabilities.counts()) {
        let percent = f64::from(percent);
        let [no, unsure, yes] = &mut labels;
        if percent < cutoffs.no_below {
            *no += count;
        } else if percent < cutoffs.yes_from {
            *unsure += count;
        } else {
            *yes += count;
        }
    }
    labels
}

/// The typed cutoffs, as far as they can be drawn.
fn typed(column: &ColumnInput) -> DrawnCutoffs {
    let percent = |text: &str| text.trim().parse::<f64>().unwrap_or(50.0).clamp(0.0, 100.0);
    let no_below = percent(&column.no_below);
    DrawnCutoffs {
        no_below,
        yes_from: percent(&column.yes_from).max(no_below),
    }
}

fn drawn(cutoffs: Cutoffs) -> DrawnCutoffs {
    let percent = |share: f64| share * 100.0;
    DrawnCutoffs {
        no_below: percent(cutoffs.no_ends_at().value()),
        yes_from: percent(cutoffs.yes_begins_at().value()),
    }
}

/// The typed cutoffs, rounded up to whole percents as the counts by percent are.
pub(super) fn percent_cutoffs(column: &ColumnInput) -> Option<PercentCutoffs> {
    let DrawnCutoffs { no_below, yes_from } = typed(column);
    let whole = |percent: f64| (0_u8..=100).find(|whole| f64::from(*whole) >= percent);
    PercentCutoffs::new(whole(no_below)?, whole(yes_from)?)
}

/// The counts from which a script updates the page while a handle moves: for each percent, the
/// probabilities by their present label, and those of results that no other column changes.
fn script_counts(moves: &LabelMoves) -> String {
    let counts = |histogram: &PercentHistogram| histogram.counts().to_vec();
    json!({
        "all": counts(&moves.probabilities),
        "alone": [counts(&moves.alone.no), counts(&moves.alone.unsure), counts(&moves.alone.yes)],
        "always": moves.always_changed_results,
    })
    .to_string()
}

/// A problem of a lens file in the words of the page, whose cutoffs are percents.
pub(super) fn fault_message(problem: &Problem) -> String {
    let end = problem.path.rsplit('.').next().unwrap_or_default();
    let words = match (end, &problem.error) {
        ("no_below" | "yes_from", ValidationError::Expected { .. }) => {
            "Type a number of percent, such as 40 or 62.5."
        }
        ("yes_from", ValidationError::NumberTooBig(_)) => "Yes can start at 100 % at most.",
        ("output", _) => "The question has another type now: choose what to show.",
        ("columns", _) => "A lens needs a column: add one.",
        (_, error) => return fault_sentence(error),
    };
    words.to_owned()
}

/// The place of the column that a problem of a lens file is about.
pub(super) fn place_of(problem: &Problem) -> Option<usize> {
    let rest = problem.path.strip_prefix("columns.")?;
    rest.split('.').next()?.parse().ok()
}

/// The problems at these paths as one text; empty for none.
pub(super) fn faults_at(problems: &[Problem], paths: &[&str]) -> String {
    let here = problems.iter();
    let here = here.filter(|problem| paths.contains(&problem.path.as_str()));
    let mut words: Vec<_> = here.map(fault_message).collect();
    words.dedup();
    words.join(" ")
}
