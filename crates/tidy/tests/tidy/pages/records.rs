//! Decision records: their numbers, and their lines of status and date.

use std::collections::BTreeMap;

use crate::{assert_none, files, read};

/// What a status may begin with.
const STATUSES: [&str; 4] = ["proposed", "accepted", "rejected", "superseded"];

/// A record's file name and its text.
fn records() -> Vec<(String, String)> {
    files()
        .iter()
        .filter_map(|file| Some((file.strip_prefix("docs/adr/")?.to_owned(), read(file))))
        .collect()
}

#[test]
fn decision_records_are_numbered_without_gaps() {
    let mut breaches = Vec::new();
    for (number, (name, text)) in (1..).zip(records()) {
        if !name.starts_with(&format!("{number:04}-")) {
            breaches.push(format!("{name}: number {number} is expected"));
        }
        if !text.starts_with(&format!("# {number}. ")) {
            breaches.push(format!("{name}: its title begins with another number"));
        }
    }
    assert_none("the records of decisions", &breaches);
}

#[test]
fn every_decision_record_has_status_and_date() {
    let breaches: Vec<String> = records()
        .into_iter()
        .filter(|(_, text)| !text.lines().nth(2).is_some_and(is_status_line))
        .map(|(name, _)| name)
        .collect();
    assert_none(
        "a record whose third line is not `Status: accepted · Date: YYYY-MM-DD`",
        &breaches,
    );
}

fn is_status_line(line: &str) -> bool {
    let parts = line.strip_prefix("Status: ");
    let Some((status, date)) = parts.and_then(|parts| parts.rsplit_once(" · Date: ")) else {
        return false;
    };
    let is_known = STATUSES.iter().any(|known| status.starts_with(known));
    let has_shape = date.len() == 10
        && date.char_indices().all(|(at, it)| match at {
            4 | 7 => it == '-',
            _ => it.is_ascii_digit(),
        });
    is_known && has_shape
}

#[test]
fn a_record_and_its_successor_name_each_other() {
    let records: BTreeMap<String, String> = records().into_iter().collect();
    let status = |name: &str| {
        let text = records.get(name)?;
        text.lines().nth(2).map(ToOwned::to_owned)
    };
    let mut breaches = Vec::new();
    for name in records.keys() {
        for (word, answer) in [("superseded", "supersedes"), ("supersedes", "superseded")] {
            let line = status(name).unwrap_or_default();
            for other in links_after(&line, word, answer) {
                let answers = status(other).unwrap_or_default();
                if !links_after(&answers, answer, word).any(|link| link == name) {
                    breaches.push(format!("{other}: its status needs `{answer} … {name}`"));
                }
            }
        }
    }
    assert_none(
        "a record that does not name its successor or predecessor",
        &breaches,
    );
}

/// The targets of the links after a word, up to the other word.
fn links_after<'a>(line: &'a str, word: &str, other: &str) -> impl Iterator<Item = &'a str> {
    let after = line.split_once(word).map_or("", |(_, after)| after);
    let until = after.find(other).unwrap_or(after.len());
    let part = after.get(..until).unwrap_or_default();
    part.split("](")
        .skip(1)
        .filter_map(|link| link.split(')').next())
}

#[test]
fn a_line_of_status_has_a_known_status_and_a_date() {
    for line in [
        "Status: accepted · Date: 2026-11-21",
        "Status: superseded by [2](0002-b.md) · Date: 2026-11-21",
    ] {
        assert!(is_status_line(line), "{line}");
    }
    for line in [
        "Status: accepted",
        "Status: accepted · Date: November",
        "Status: done · Date: 2026-11-21",
        "Date: 2026-11-21",
    ] {
        assert!(!is_status_line(line), "{line}");
    }
}
