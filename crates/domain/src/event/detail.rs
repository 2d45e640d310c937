//! Details of an event, in words and numbers: the earlier state, the new state and the note.

use std::fmt;
use std::ops::RangeInclusive;

use chrono::{DateTime, SecondsFormat, SubsecRound as _, Utc};

use crate::account::{KeyNetworks, MonthBudget, Role};
use crate::ids::{ApiKeyId, FileRunId, RetestId, UploadId};
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
    pub(super) fn of_parts(parts: &[String]) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
