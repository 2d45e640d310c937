//! The rows of a gold file: validated before the model is asked, and those with wrong answers,
//! without their texts.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{bail, ensure};
use indicatif::HumanCount;
use refract_domain::answer::Probability;
use refract_domain::prism::{PrismVersion, Question};
use refract_domain::result::mark::outcomes;
use refract_file_runs::{GoldCheck, GoldRun};
use refract_service::measures::{WrongAnswer, WrongAnswers};

use crate::commands::files::InputPath;
use crate::commands::measures::WrongLine;
use crate::terminal::{Palette, columns_of, fit, plain};
use crate::{output, suggestion};

/// The most outcomes of a question in a message.
const MOST_OUTCOMES: usize = 20;
/// Upper bound on the terminal columns of a `ref`.
const REF: usize = 20;
/// Upper bound on the terminal columns of an outcome's key.
const OUTCOME: usize = 24;
/// Terminal columns of a result id.
const RESULT: usize = 36;
/// Terminal columns of a probability.
const PROBABILITY: usize = 5;
/// The fewest terminal columns of an outcome's key.
const LEAST_OUTCOME: usize = 8;
/// The terminal columns to which an outcome's key may be cut to keep the result id on the same
/// line.
const OUTCOME_BESIDE: usize = 16;
/// Terminal columns between two cells.
const GAP: usize = 2;

/// A wrong answer for a report.
pub(super) fn line_of(wrong: &WrongAnswer) -> WrongLine {
    let reference = wrong.reference.as_deref();
    WrongLine {
        row: reference.map_or_else(
            || format!("line {}", wrong.line),
            |reference| format!("line {}, {}", wrong.line, plain(reference)),
        ),
        result: wrong.result,
        question: wrong.question.to_string(),
        marked: wrong.expected.to_string(),
        answered: wrong.answered().to_owned(),
    }
}

/// Refuses a file with an `expected_…` column for an unknown question, with cells that name no
/// outcome, or without any expected answer. Invalid cells are listed first.
pub(super) fn check(
    gold: &InputPath,
    version: &PrismVersion,
    check: &GoldCheck,
) -> anyhow::Result<()> {
    let questions = version.questions().iter();
    let columns: Vec<_> = questions.map(GoldRun::column_of).collect();
    if let Some(unknown) = check.unknown_columns.first() {
        let known = columns.iter().map(String::as_str);
        bail!(
            "{gold}: the column {} is of no question of the prism{}",
            plain(unknown),
            suggestion::did_you_mean(unknown, known)
        );
    }
    if check.wrong > 0 {
        list_wrong_cells(version, check);
        let cells = match check.wrong {
            1 => "1 cell names".to_owned(),
            many => format!("{many} cells name"),
        };
        bail!("{gold}: {cells} no outcome of the question, so nothing was asked");
    }
    ensure!(
        !check.expected.is_empty(),
        "{gold}: it says of no row what is right: it needs a column such as {}",
        columns.join(", ")
    );
    Ok(())
}

fn list_wrong_cells(version: &PrismVersion, check: &GoldCheck) {
    for cell in &check.listed {
        let (line, question) = (cell.line, &cell.question);
        output::say(&format!(
            "  line {line}: the expected answer of question {question} names no outcome"
        ));
    }
    let listed = u64::try_from(check.listed.len()).unwrap_or(u64::MAX);
    let unlisted = check.wrong.saturating_sub(listed);
    if unlisted > 0 {
        output::say(&format!("  and {unlisted} more"));
    }
    let named: BTreeSet<_> = check
        .listed
        .iter()
        .map(|cell| cell.question.as_str())
        .collect();
    let questions = version.questions().iter();
    for question in questions.filter(|question| named.contains(question.key.as_str())) {
        output::say(&format!("  {} has {}", question.key, outcomes_of(question)));
    }
}

/// The keys of a question's outcomes as a readable list.
fn outcomes_of(question: &Question) -> String {
    let keys = outcomes(question).map(|outcome| outcome.key);
    let mut listed: Vec<_> = keys.clone().take(MOST_OUTCOMES).collect();
    if keys.count() > MOST_OUTCOMES {
        listed.push("…");
    }
    listed.join(", ")
}

/// The widths of the table's columns, in terminal columns.
struct TableLayout {
    line: usize,
    /// The column of the `ref`; 0 when no row has one.
    reference: usize,
    question: usize,
    outcome: usize,
    /// Whether the result id gets a separate line.
    is_id_below: bool,
}

impl TableLayout {
    fn new(listed: &[WrongAnswer], width: Option<usize>) -> Self {
        let widest = |columns: &dyn Fn(&WrongAnswer) -> usize| {
            let columns = listed.iter().map(columns);
            columns.max().unwrap_or(0)
        };
        let reference = |one: &WrongAnswer| one.reference.as_deref().map(plain);
        let reference = widest(&|one| reference(one).map_or(0, |shown| columns_of(&shown)));
        let outcome = widest(&|one| one.expected.as_str().len().max(one.answered().len()));
        let mut layout = Self {
            line: widest(&|one| one.line.to_string().len()).max(4),
            reference: if reference > 0 {
                reference.clamp(3, REF)
            } else {
                0
            },
            question: widest(&|one| one.question.as_str().len()).clamp(8, OUTCOME),
            outcome: outcome.clamp(LEAST_OUTCOME, OUTCOME),
            is_id_below: false,
        };
        if let Some(width) = width {
            // the columns left for both outcomes, with and without the id on the line
            let others = layout.columns() - 2 * layout.outcome;
            let beside = width.saturating_sub(others + GAP + RESULT) / 2;
            layout.is_id_below = beside < layout.outcome.min(OUTCOME_BESIDE);
            let most = if layout.is_id_below {
                width.saturating_sub(others) / 2
            } else {
                beside
            };
            layout.outcome = layout.outcome.min(most).max(LEAST_OUTCOME);
        }
        layout
    }

    /// The columns of a line without the result id.
    fn columns(&self) -> usize {
        let reference = self.reference + if self.reference > 0 { GAP } else { 0 };
        let outcome = GAP + self.outcome + 1 + PROBABILITY;
        self.line + GAP + reference + self.question + 2 * outcome
    }

    /// The beginning of a line.
    fn head(&self, line: &str, reference: &str, question: &str) -> String {
        let mut words = format!("{line:>width$}  ", width = self.line);
        if self.reference > 0 {
            words.push_str(&fit(reference, self.reference));
            words.push_str("  ");
        }
        words.push_str(&fit(question, self.question));
        words
    }

    fn outcome(&self, key: &str, probability: Option<Probability>) -> String {
        let probability = probability.map_or_else(String::new, |probability| {
            format!("{:.3}", probability.to_f64())
        });
        format!("  {} {probability:PROBABILITY$}", fit(key, self.outcome))
    }

    /// The row of an answer. An id on a separate line follows the last answer of its result.
    fn row(&self, wrong: &WrongAnswer, is_last: bool, palette: &Palette) -> String {
        let reference = wrong.reference.as_deref().unwrap_or_default();
        let mut words = self.head(&wrong.line.to_string(), reference, wrong.question.as_str());
        words.push_str(&self.outcome(wrong.expected.as_str(), wrong.expected_probability));
        words.push_str(&self.outcome(wrong.answered(), wrong.predicted_probability));
        let id = palette.faint.apply_to(wrong.result);
        if !self.is_id_below {
            let _ = write!(words, "  {id}");
            return words;
        }
        words.truncate(words.trim_end().len());
        if is_last {
            let _ = write!(words, "\n{:indent$}{id}", "", indent = self.line + GAP);
        }
        words
    }
}

/// The listed answers as a table, within `width` if there is one; empty if all are right.
pub(super) fn render(wrong: &WrongAnswers, width: Option<usize>) -> String {
    if wrong.listed.is_empty() {
        return String::new();
    }
    let palette = Palette::of_stdout();
    let layout = TableLayout::new(&wrong.listed, width);
    let title = format!("Answers that are not right: {}", HumanCount(wrong.all));
    let title = palette.heading.apply_to(title);
    let mut header = layout.head("LINE", "REF", "QUESTION");
    header.push_str(&layout.outcome("EXPECTED", None));
    header.push_str(&layout.outcome("ANSWERED", None));
    header.push_str(if layout.is_id_below { "" } else { "  RESULT" });
    let header = palette.faint.apply_to(header.trim_end().to_owned());
    let mut words = format!("{title}\n{header}\n");
    for (index, one) in wrong.listed.iter().enumerate() {
        let next = wrong.listed.get(index + 1);
        let is_last = next.is_none_or(|next| next.result != one.result);
        words.push_str(&layout.row(one, is_last, &palette));
        words.push('\n');
    }
    if wrong.unlisted() > 0 {
        let _ = writeln!(words, "and {} more", HumanCount(wrong.unlisted()));
    }
    words
}

#[cfg(test)]
mod tests {
    use refract_domain::ids::ResultId;
    use refract_domain::key::{OutcomeKey, QuestionKey};
    use refract_domain::prism::QuestionType;
    use uuid::Uuid;

    use super::*;

    fn wrong(line: u64, reference: Option<&str>, expected: &str) -> WrongAnswer {
        WrongAnswer {
            line,
            reference: reference.map(str::to_owned),
            result: ResultId::new(Uuid::from_u128(line.into())),
            question: QuestionKey::parse("topic").unwrap(),
            question_type: QuestionType::Choice,
            expected: OutcomeKey::parse(expected).unwrap(),
            expected_probability: Probability::from_f64(0.25),
            predicted: None,
            predicted_probability: None,
        }
    }

    fn rows(answers: impl IntoIterator<Item = WrongAnswer>) -> WrongAnswers {
        let mut rows = WrongAnswers::default();
        answers.into_iter().for_each(|answer| rows.add(answer));
        rows
    }

    #[test]
    fn a_table_fits_the_terminal_and_cuts_no_id() {
        let rows = rows([
            wrong(7, Some("a reference of many words"), "billing"),
            wrong(12_345, None, "insufficient_information"),
        ]);
        for width in [60, 80, 120, 200] {
            let words = render(&rows, Some(width));
            for line in words.lines() {
                assert!(columns_of(line) <= width.max(75), "{width}: {words}");
            }
            assert_eq!(words.matches("00000000-0000-0000").count(), 2, "{words}");
            let lines = if width < 140 { 6 } else { 4 };
            assert_eq!(words.lines().count(), lines, "{width}: {words}");
        }
        let mut of_one_result = rows.listed;
        of_one_result[1].result = of_one_result[0].result;
        let rows = WrongAnswers {
            listed: of_one_result,
            all: 2,
        };
        assert_eq!(render(&rows, Some(80)).lines().count(), 5);
        let uncut = render(&rows, None);
        assert!(uncut.contains("insufficient_information 0.250"), "{uncut}");
        assert_eq!(uncut.lines().count(), 4, "{uncut}");
    }

    #[test]
    fn fifty_are_listed_and_the_rest_is_counted() {
        let rows = rows((1..=1_060).map(|line| wrong(line, None, "billing")));
        let words = render(&rows, None);
        assert!(words.ends_with("\nand 1,010 more\n"), "{words}");
        assert_eq!(words.matches("none").count(), 50);
        assert!(!words.contains("REF"), "{words}");
        assert_eq!(render(&WrongAnswers::default(), None), "");
    }
}
