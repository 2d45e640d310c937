//! Numbers with their nouns.

use indicatif::HumanCount;

/// A number with its noun, in the plural unless the number is 1: `1 row`, `1,200 rows`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", HumanCount(number))
}

/// Converts a length to a count.
pub(crate) fn widened(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!(counted(0, "row"), "0 rows");
        assert_eq!(counted(1, "model request"), "1 model request");
        assert_eq!(counted(1_200, "row"), "1,200 rows");
    }
}
