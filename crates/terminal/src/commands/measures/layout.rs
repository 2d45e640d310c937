//! Lays out blocks of lines side by side or stacked.

use crate::terminal;

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
pub(super) fn widest(lines: &[String]) -> usize {
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
