//! Pairs the results of two sides that answer one text.

use std::collections::{HashMap, HashSet};

use super::side_rows::SideRow;
use crate::prisms::text_hash::TextHash;

/// Pairs of two results of one text, the first side's result first, in the order of the first
/// side's results.
///
/// A result is matched by its `ref` if the other side has that `ref` too, otherwise by its fields
/// and context. The newest result of each side counts. A result that is on both sides forms no
/// pair.
pub(super) fn pairs<'a>(a: &'a [SideRow], b: &'a [SideRow]) -> Vec<[&'a SideRow; 2]> {
    let (refs_of_a, refs_of_b) = (references(a), references(b));
    let newest_of_a = newest(a, &refs_of_b);
    let newest_of_b = newest(b, &refs_of_a);
    let is_newest = |row: &&SideRow| {
        let newest = newest_of_a.get(&known_by(row, &refs_of_b));
        newest.is_some_and(|newest| newest.id == row.id)
    };
    let pair = |a: &'a SideRow| {
        let b = *newest_of_b.get(&known_by(a, &refs_of_b))?;
        (a.id != b.id).then_some([a, b])
    };
    a.iter().filter(is_newest).filter_map(pair).collect()
}

fn references(rows: &[SideRow]) -> HashSet<TextHash> {
    rows.iter().filter_map(|row| row.reference).collect()
}

/// The newest result for each key by which results are matched.
fn newest<'a>(
    rows: &'a [SideRow],
    refs_of_other: &HashSet<TextHash>,
) -> HashMap<TextHash, &'a SideRow> {
    let known = rows.iter().map(|row| (known_by(row, refs_of_other), row));
    // a later result of the same key replaces the earlier one
    known.collect()
}

fn known_by(row: &SideRow, refs_of_other: &HashSet<TextHash>) -> TextHash {
    let reference = row.reference.filter(|it| refs_of_other.contains(it));
    reference.unwrap_or(row.content)
}
