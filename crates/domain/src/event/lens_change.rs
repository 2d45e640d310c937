//! The details of an event that changes a lens.

use super::detail::EventDetail;
use crate::lens::{Column, Cutoff, Cutoffs};

/// Upper bound on the columns and cutoffs in a detail.
const MOST_LISTED: usize = 12;

/// A lens before and after a change: its revision, the columns that were removed or added, and the
/// cutoffs that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LensChangeDetails {
    /// The revision before the change, with the removed columns and the earlier cutoffs.
    pub from: EventDetail,
    /// The revision after the change, with the added columns and the new cutoffs.
    pub to: EventDetail,
}

impl LensChangeDetails {
    /// Compares the columns of a lens at this revision with those of the next one. For an automatic
    /// lens, the columns are those of the latest version.
    pub fn between(revision: i32, before: &[Column], after: &[Column]) -> Self {
        let mut from = Vec::new();
        let mut to = Vec::new();
        for old in before {
            match after.iter().find(|new| new.name == old.name) {
                Some(new) if is_alike(old, new) => add_cutoffs(old, new, &mut from, &mut to),
                Some(new) => {
                    from.push(described(old));
                    to.push(described(new));
                }
                None => from.push(described(old)),
            }
        }
        let is_new = |new: &&Column| before.iter().all(|old| old.name != new.name);
        to.extend(after.iter().filter(is_new).map(described));
        if from.is_empty() && to.is_empty() && before != after {
            to.push("other order of columns".to_owned());
        }
        Self {
            from: detail(revision, from),
            to: detail(revision.saturating_add(1), to),
        }
    }
}

/// Whether two columns differ in nothing but cutoffs.
fn is_alike(old: &Column, new: &Column) -> bool {
    let has_cutoffs = |column: &Column| column.output.cutoffs().is_some();
    old.question == new.question
        && (old.output == new.output || (has_cutoffs(old) && has_cutoffs(new)))
}

fn add_cutoffs(old: &Column, new: &Column, from: &mut Vec<String>, to: &mut Vec<String>) {
    let (Some(before), Some(after)) = (old.output.cutoffs(), new.output.cutoffs()) else {
        return;
    };
    let name = &old.name;
    let mut add = |cutoff: &str, before: Option<f64>, after: Option<f64>| {
        if before != after {
            from.extend(before.map(|value| format!("{name}.{cutoff} {value}")));
            to.extend(after.map(|value| format!("{name}.{cutoff} {value}")));
        }
    };
    let no_below = |cutoffs: Cutoffs| Some(cutoffs.no_ends_at().value());
    let yes_from = |cutoffs: Cutoffs| cutoffs.yes_from().map(Cutoff::value);
    add("no_below", no_below(before), no_below(after));
    add("yes_from", yes_from(before), yes_from(after));
}

fn described(column: &Column) -> String {
    let Column {
        name,
        question,
        output,
    } = column;
    let output = match output.cutoffs() {
        None => output.name().to_owned(),
        Some(cutoffs) => {
            let no_below = cutoffs.no_ends_at().value();
            let yes_from = cutoffs.yes_from().map_or(no_below, Cutoff::value);
            format!("label, no below {no_below}, yes from {yes_from}")
        }
    };
    format!("column {name} ({question} {output})")
}

fn detail(revision: i32, mut parts: Vec<String>) -> EventDetail {
    let more = parts.len().saturating_sub(MOST_LISTED);
    parts.truncate(MOST_LISTED);
    parts.insert(0, format!("revision {revision}"));
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    EventDetail::of_parts(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{ColumnName, QuestionKey};
    use crate::lens::Output;

    fn column(name: &str, output: Output) -> Column {
        Column {
            name: ColumnName::parse(name).unwrap(),
            question: QuestionKey::parse("angry").unwrap(),
            output,
        }
    }

    fn label(name: &str, no_below: f64, yes_from: Option<f64>) -> Column {
        let cutoffs = Cutoffs::new(Some(no_below), yes_from).unwrap();
        column(name, Output::Label(cutoffs))
    }

    fn between(before: &[Column], after: &[Column]) -> (String, String) {
        let LensChangeDetails { from, to } = LensChangeDetails::between(3, before, after);
        (from.to_string(), to.to_string())
    }

    #[test]
    fn a_moved_cutoff_is_reported_with_both_numbers_and_what_stays_is_not() {
        let before = [label("angry", 0.4, Some(0.5)), label("rude", 0.5, None)];
        let after = [label("angry", 0.4, Some(0.625)), label("rude", 0.5, None)];
        let (from, to) = between(&before, &after);
        assert_eq!(from, "revision 3, angry.yes_from 0.5");
        assert_eq!(to, "revision 4, angry.yes_from 0.625");
        let (from, to) = between(&before, &[label("angry", 0.3, None), before[1].clone()]);
        assert_eq!(from, "revision 3, angry.no_below 0.4, angry.yes_from 0.5");
        assert_eq!(to, "revision 4, angry.no_below 0.3");
    }

    #[test]
    fn columns_that_come_go_or_show_something_else_are_named() {
        let before = [label("a", 0.5, None), column("b", Output::YesProbability)];
        let after = [
            column("a", Output::YesProbability),
            column("c", Output::YesProbability),
        ];
        let (from, to) = between(&before, &after);
        assert_eq!(
            from,
            "revision 3, column a (angry label, no below 0.5, yes from 0.5), \
             column b (angry probability)"
        );
        assert_eq!(
            to,
            "revision 4, column a (angry probability), column c (angry probability)"
        );
        let turned: Vec<_> = before.iter().rev().cloned().collect();
        let (from, to) = between(&before, &turned);
        assert_eq!(from, "revision 3");
        assert_eq!(to, "revision 4, other order of columns");
    }

    #[test]
    fn a_lens_of_many_columns_makes_a_short_event() {
        let many: Vec<_> = (0..300)
            .map(|n| column(&format!("c{n}"), Output::YesProbability))
            .collect();
        let (from, to) = between(&[], &many);
        assert_eq!(from, "revision 3");
        assert!(to.ends_with("column c11 (angry probability), 288 more"));
    }
}
