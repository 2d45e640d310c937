//! Details of an event, in words and numbers: the earlier state, the new state and the note. And
//! the details of an event that changes a lens.

use std::fmt;
use std::ops::RangeInclusive;

use chrono::{DateTime, SecondsFormat, SubsecRound as _, Utc};

use crate::account::{KeyNetworks, MonthBudget, Role};
use crate::ids::{ApiKeyId, FileRunId, RetestId, UploadId};
use crate::lens::{Column, Cutoff, Cutoffs};
use crate::prism::{DisplayName, VersionNumber};
use crate::problem::{ValidationError, text};
use crate::result::{FileRunState, RetestState};

/// A short text in an event: a target's earlier state, its new state, or a note. Except for a
/// [typed note](Self::note), it is made only of fixed words, names, numbers and moments, so that no
/// submitted text gets into an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDetail(String);

impl EventDetail {
    /// Length of a typed note, after trimming.
    pub const NOTE_CHARS: RangeInclusive<usize> = 1..=1_000;

    /// A count with its noun: `1 result`, `1204 results`.
    pub fn counted(number: u64, noun: &str) -> Self {
        let plural = if number == 1 { "" } else { "s" };
        Self(format!("{number} {noun}{plural}"))
    }

    /// A moment after fixed words: `saved before 2026-05-01T00:00:00Z`.
    pub fn at(words: &'static str, moment: DateTime<Utc>) -> Self {
        Self(format!("{words} {}", Self::from(moment)))
    }

    /// A version: `version 3`.
    pub fn version(version: VersionNumber) -> Self {
        Self(format!("version {version}"))
    }

    /// A stored file run: `run 0190b8f2-…`.
    pub fn file_run(run: FileRunId) -> Self {
        Self(format!("run {run}"))
    }

    /// The stored file run that the detail names, the first of several.
    pub fn named_file_run(&self) -> Option<FileRunId> {
        let mut parts = self.0.split([',', ';']);
        parts.find_map(|part| FileRunId::parse(part.trim().strip_prefix("run ")?))
    }

    /// A stored retest: `retest 0190b8f2-…`.
    pub fn retest(retest: RetestId) -> Self {
        Self(format!("retest {retest}"))
    }

    /// An uploaded file: `file 0190b8f2-…`.
    pub fn upload(upload: UploadId) -> Self {
        Self(format!("file {upload}"))
    }

    /// The key that a key replaces: `in place of key 0190b8f2-…`.
    pub fn in_place_of(key: ApiKeyId) -> Self {
        Self(format!("in place of key {key}"))
    }

    /// The networks that a key is limited to: `from 10.0.0.0/8`, or `from any network`.
    pub fn key_networks(networks: Option<&KeyNetworks>) -> Self {
        match networks {
            Some(networks) => Self(format!("from {networks}")),
            None => "from any network".into(),
        }
    }

    /// An export of an account, by the SHA-256 of its manifest: `export 5f70bf18…`.
    pub fn account_export(manifest: &[u8; 32]) -> Self {
        let digits: Vec<String> = manifest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self(format!("export {}", digits.concat()))
    }

    /// Joins several details with commas.
    pub fn list(parts: &[Self]) -> Self {
        let parts: Vec<_> = parts.iter().map(Self::as_str).collect();
        Self(parts.join(", "))
    }

    /// A note that an operator or a person typed about their change.
    ///
    /// # Errors
    /// The faults of the note, which is trimmed and must have 1 to 1,000 characters.
    pub fn note(typed: &str) -> Result<Self, Vec<ValidationError>> {
        let note = typed.trim();
        let errors = text::errors(note, &Self::NOTE_CHARS);
        if errors.is_empty() {
            Ok(Self(note.to_owned()))
        } else {
            Err(errors)
        }
    }

    /// A detail read from the database, which is not checked again.
    pub fn saved(detail: String) -> Self {
        Self(detail)
    }

    /// Joins this detail and another one with a semicolon.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self(format!("{}; {}", self.0, other.0))
    }

    /// The detail as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A number before fixed words: `3 refused`.
    pub fn worded(number: u64, words: &'static str) -> Self {
        Self(format!("{number} {words}"))
    }

    /// A detail of a lens change, whose parts are names and numbers.
    fn of_parts(parts: &[String]) -> Self {
        Self(parts.join(", "))
    }
}

/// A detail of fixed words.
impl From<&'static str> for EventDetail {
    fn from(words: &'static str) -> Self {
        Self(words.to_owned())
    }
}

impl From<Role> for EventDetail {
    fn from(role: Role) -> Self {
        Self(role.name().to_owned())
    }
}

impl From<MonthBudget> for EventDetail {
    fn from(budget: MonthBudget) -> Self {
        Self(budget.to_string())
    }
}

impl From<FileRunState> for EventDetail {
    fn from(state: FileRunState) -> Self {
        state.name().into()
    }
}

impl From<RetestState> for EventDetail {
    fn from(state: RetestState) -> Self {
        state.name().into()
    }
}

impl From<VersionNumber> for EventDetail {
    fn from(version: VersionNumber) -> Self {
        Self(version.to_string())
    }
}

impl From<DisplayName> for EventDetail {
    fn from(name: DisplayName) -> Self {
        Self(name.to_string())
    }
}

/// A moment, to the millisecond at most.
impl From<DateTime<Utc>> for EventDetail {
    fn from(moment: DateTime<Utc>) -> Self {
        let moment = moment.trunc_subsecs(3);
        Self(moment.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

impl fmt::Display for EventDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

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

    #[test]
    fn a_moment_has_milliseconds_at_most() {
        let of = |moment: &str| EventDetail::at("ends", moment.parse().unwrap()).to_string();
        let exact = of("2026-12-01T14:02:15.351551038Z");
        assert_eq!(exact, "ends 2026-12-01T14:02:15.351Z");
        assert_eq!(of("2026-12-01T00:00:00Z"), "ends 2026-12-01T00:00:00Z");
    }

    #[test]
    fn a_note_is_trimmed_and_has_a_limit() {
        let note = EventDetail::note(" why not \n").unwrap();
        assert_eq!(note.as_str(), "why not");
        let both = note.and(&EventDetail::counted(1, "result"));
        assert_eq!(both.to_string(), "why not; 1 result");
        for bad in [" ", "a\0b", &"a".repeat(1_001)] {
            assert!(EventDetail::note(bad).is_err());
        }
    }

    #[test]
    fn names_and_numbers_are_details() {
        let run = FileRunId::new(uuid::Uuid::from_u128(7));
        let note = EventDetail::list(&["csv".into(), EventDetail::file_run(run)]);
        assert_eq!(note.named_file_run(), Some(run));
        assert_eq!(EventDetail::from("run away").named_file_run(), None);
        let version = VersionNumber::new(3).unwrap();
        let moment: DateTime<Utc> = "2027-01-01T00:00:00Z".parse().unwrap();
        let details: [EventDetail; 4] = [
            Role::Owner.into(),
            version.into(),
            moment.into(),
            EventDetail::counted(1_204, "result"),
        ];
        let words = details.map(|detail| detail.to_string());
        assert_eq!(
            words,
            ["owner", "3", "2027-01-01T00:00:00Z", "1204 results"]
        );
    }

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
