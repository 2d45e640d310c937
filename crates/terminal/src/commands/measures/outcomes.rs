//! The outcomes of a question as a table, with their confusions; and blocks of lines side by side or
//! stacked.

use indicatif::HumanCount;
use refract_evaluation::measures::{ConfusionCell, QuestionMeasures};

use crate::output::report;
use crate::terminal::{self, Palette};

/// The most outcomes in the table.
const MOST_LINES: usize = 9;
/// The most outcomes of a confusion matrix.
const MOST_IN_MATRIX: usize = 6;
/// The most mistakes that are listed if there is no matrix.
const MOST_MISTAKES: usize = 6;
/// The most lines of the list of mistakes.
const MISTAKE_LINES: usize = 3;
/// Terminal columns of an outcome's numbers.
const NUMBERS: usize = 46;
/// The most terminal columns of a key left of or above a matrix.
const KEY: usize = 24;
/// The fewest terminal columns of a key above the matrix.
const SHORT_KEY: usize = 9;

/// The table, with the confusion matrix next to or below it, or with the most frequent mistakes.
pub(super) fn lines(measures: &QuestionMeasures, palette: &Palette, width: usize) -> Vec<String> {
    let by_outcome = measures.by_outcome(MOST_LINES);
    if measures.outcomes.len() > MOST_IN_MATRIX {
        let table = report::lines(&by_outcome, palette, width);
        let mistakes = mistakes(measures, width);
        let blank = (!mistakes.is_empty()).then(String::new);
        return table.into_iter().chain(blank).chain(mistakes).collect();
    }
    let table = report::lines(&by_outcome, palette, KEY + NUMBERS);
    let left = width.saturating_sub(widest(&table) + 3);
    let is_beside = left >= measures.outcomes.len() * (SHORT_KEY + 1) + 10;
    let columns = if is_beside { left } else { width };
    beside(table, matrix(measures, palette, columns), width)
}

/// Rows by marked outcome, columns by predicted one.
fn matrix(measures: &QuestionMeasures, palette: &Palette, width: usize) -> Vec<String> {
    let keys: Vec<_> = measures.outcomes.iter().map(|it| it.key.as_str()).collect();
    let longest = keys.iter().map(|key| key.len()).max().unwrap_or(0);
    let corner = "MARKED AS";
    let first = longest.clamp(corner.len(), KEY);
    let left = width.saturating_sub(first) / keys.len().max(1);
    let column = longest.max(5).min(left.saturating_sub(2)).max(5);
    let headers = keys.iter().map(|key| {
        let key = terminal::fit(key, column.min(terminal::columns_of(key)));
        format!("  {key:>column$}")
    });
    let header: String = std::iter::once(format!("{corner:first$}"))
        .chain(headers)
        .collect();
    let mut lines = vec![palette.faint.apply_to(header).to_string()];
    for marked in &measures.outcomes {
        let mut line = terminal::fit(marked.key.as_str(), first);
        for predicted in &measures.outcomes {
            let is_here = |cell: &&ConfusionCell| {
                cell.marked == marked.key && cell.predicted == predicted.key
            };
            let found = measures.confusion.iter().find(is_here);
            let count =
                found.map_or_else(|| "·".to_owned(), |cell| HumanCount(cell.count).to_string());
            let count = format!("{count:>column$}");
            let count = if marked.key == predicted.key {
                palette.chosen.apply_to(count).to_string()
            } else {
                count
            };
            line.push_str("  ");
            line.push_str(&count);
        }
        lines.push(line);
    }
    lines
}

/// The most frequent pairs of a marked and a different predicted outcome, as many as fit.
fn mistakes(measures: &QuestionMeasures, width: usize) -> Vec<String> {
    let wrong = measures.mistakes();
    if wrong.is_empty() {
        return Vec::new();
    }
    let listed = |most: usize| {
        let mut parts = vec!["Most mistaken (marked > predicted):".to_owned()];
        for (number, cell) in wrong.iter().take(most).enumerate() {
            let comma = if number + 1 < wrong.len() { "," } else { "" };
            let count = HumanCount(cell.count);
            parts.push(format!(
                "{} > {} {count}{comma}",
                cell.marked, cell.predicted
            ));
        }
        if wrong.len() > most {
            parts.push(format!("and {} other kinds", wrong.len() - most));
        }
        wrapped(&parts, " ", width)
    };
    let most = wrong.len().min(MOST_MISTAKES);
    let fits = |lines: &Vec<String>| lines.len() <= MISTAKE_LINES;
    let mut lists = (1..=most).rev().map(listed);
    lists.find(fits).unwrap_or_else(|| listed(1))
}

/// Terminal columns between two blocks of lines.
const GAP: usize = 3;

/// Joins parts with a separator and wraps them at this width.
pub(super) fn wrapped(parts: &[String], separator: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line)
                if terminal::columns_of(line)
                    + terminal::columns_of(separator)
                    + terminal::columns_of(part)
                    <= width =>
            {
                line.push_str(separator);
                line.push_str(part);
            }
            Some(_) | None => lines.push(part.clone()),
        }
    }
    lines
}

/// Two blocks side by side if the width allows, otherwise stacked.
pub(super) fn beside(left: Vec<String>, right: Vec<String>, width: usize) -> Vec<String> {
    let columns = widest(&left);
    if columns + GAP + widest(&right) > width {
        let blank = [String::new()];
        return left.into_iter().chain(blank).chain(right).collect();
    }
    let lines = left.len().max(right.len());
    let mut left = left.into_iter();
    let mut right = right.into_iter();
    let line = |_| {
        let (left, right) = (left.next().unwrap_or_default(), right.next());
        match right {
            None => left,
            Some(right) => {
                let pad = columns.saturating_sub(terminal::columns_of(&left)) + GAP;
                format!("{left}{}{right}", " ".repeat(pad))
            }
        }
    };
    (0..lines).map(line).collect()
}

/// The terminal columns of the widest line.
fn widest(lines: &[String]) -> usize {
    let columns = lines.iter().map(|line| terminal::columns_of(line));
    columns.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(ToOwned::to_owned).collect()
    }

    #[test]
    fn blocks_stand_side_by_side_only_where_they_fit() {
        let both = beside(lines("a\nbc"), lines("x\ny\nz"), 6);
        assert_eq!(both, ["a    x", "bc   y", "     z"]);
        let below = beside(lines("a\nbc"), lines("x\ny\nz"), 5);
        assert_eq!(below, ["a", "bc", "", "x", "y", "z"]);
    }

    #[test]
    fn parts_are_never_split() {
        let parts = ["one", "two", "three"].map(ToOwned::to_owned);
        assert_eq!(wrapped(&parts, ", ", 8), ["one, two", "three"]);
        assert_eq!(wrapped(&parts, ", ", 2), ["one", "two", "three"]);
    }
}
