//! Marks: the correct outcomes of saved results, as judged by people.

pub mod abstention;
pub mod question_marks;
pub mod source;

use chrono::{DateTime, Utc};

use crate::ids::{PersonId, ResultId};
use crate::key::{ColumnName, OutcomeKey, QuestionKey};
use crate::lens::{Value, YesNoLabel};
use crate::prism::{OutcomeRef, Question, QuestionType, display_name};

pub use self::abstention::Abstention;
pub use self::question_marks::QuestionMarks;
pub use self::source::{MarkSource, MarksFrom};

/// The correct outcome of one question for one result, as judged by a person. People's marks stand
/// beside each other, and [one counts](question_marks::QuestionMarks::split); a mark never changes
/// the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The marked result, which is `ok`.
    pub result: ResultId,
    /// A question of the version that answered.
    pub question: QuestionKey,
    /// The correct outcome: an option or a built-in outcome, `yes` or `no`, or a level.
    pub outcome: OutcomeKey,
    /// Who marked.
    pub marked_by: Annotator,
    /// When the mark was made or changed, in whole milliseconds.
    pub marked_at: DateTime<Utc>,
    /// How the result came to be marked; `None` when that is not known, or somebody chose the
    /// result.
    pub source: Option<MarkSource>,
    /// What the person noted.
    pub note: Option<MarkNote>,
    /// Whether the mark settles a disagreement between people.
    pub is_adjudicated: bool,
}

impl Mark {
    /// Whether saving this mark changes the person's saved mark of the same question. Another outcome
    /// does. An equal outcome does if it makes the mark part of a fair sample: drawn at random after
    /// somebody had chosen the result, or imported where the source was not known.
    pub fn changes(&self, saved: &Self) -> bool {
        let becomes_fair = match self.source {
            Some(MarkSource::Random) => !saved.source.is_some_and(MarkSource::is_fair),
            Some(MarkSource::Import) => saved.source.is_none(),
            Some(MarkSource::Near | MarkSource::LeastSure | MarkSource::Filter) | None => false,
        };
        self.outcome != saved.outcome || becomes_fair
    }
}

/// Who made a mark. An import names people; the app also knows their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotator {
    /// The person, where the service knows them.
    pub person: Option<PersonId>,
    /// The name; `None` when no name was given.
    pub name: Option<Marker>,
}

impl Annotator {
    /// An annotator of whom only a name is known.
    pub const fn named(name: Marker) -> Self {
        Self {
            person: None,
            name: Some(name),
        }
    }

    /// Whether nothing is known about the annotator.
    pub const fn is_unnamed(&self) -> bool {
        self.person.is_none() && self.name.is_none()
    }

    /// Whether both are one person: by their ids, or by name where one of them has no id, as marks
    /// from before ids were saved.
    pub fn is(&self, other: &Self) -> bool {
        match (self.person, other.person) {
            (Some(person), Some(other)) => person == other,
            (None, _) | (_, None) => self.name == other.name,
        }
    }
}

display_name! {
    /// The name of a person who marks, trimmed, 1 to 200 characters.
    Marker
}

display_name! {
    /// What a person noted beside a mark, trimmed, 1 to 200 characters.
    MarkNote
}

/// The outcomes with which a Yes / No question can be marked.
const YES_AND_NO: [OutcomeRef<'static>; 2] = [yes_no(YesNoLabel::Yes), yes_no(YesNoLabel::No)];

const fn yes_no(label: YesNoLabel) -> OutcomeRef<'static> {
    OutcomeRef {
        key: label.key(),
        label: label.label(),
        description: None,
    }
}

/// The outcomes with which a question can be marked, in the prism's order: options and then the
/// built-in outcomes, yes and no, or levels.
pub fn outcomes(question: &Question) -> impl Iterator<Item = OutcomeRef<'_>> + Clone {
    let yes_and_no: &[OutcomeRef<'static>] = match question.question_type() {
        QuestionType::YesNo => &YES_AND_NO,
        QuestionType::Choice | QuestionType::Scale => &[],
    };
    question.outcomes().chain(yes_and_no.iter().copied())
}

/// What data frames, spreadsheets and public data sets write for yes and no, in any case.
pub const YES_NAMES: [&str; 3] = ["true", "1", "1.0"];
/// See [`YES_NAMES`].
pub const NO_NAMES: [&str; 3] = ["false", "0", "0.0"];

/// Finds the outcome that a cell of a file names, by key or, if no key matches, by label; for a
/// Yes / No question also by [`YES_NAMES`] and [`NO_NAMES`]. White space around the name is ignored.
/// `None` when the question has no such outcome.
pub fn outcome_named(question: &Question, cell: &str) -> Option<OutcomeKey> {
    let name = cell.trim();
    let by_key = outcomes(question).find(|outcome| outcome.key == name);
    let found = by_key.or_else(|| outcomes(question).find(|outcome| outcome.label == name));
    let key = match found {
        Some(outcome) => outcome.key,
        None => yes_no_named(question, name)?.key(),
    };
    OutcomeKey::parse(key).ok()
}

fn yes_no_named(question: &Question, name: &str) -> Option<YesNoLabel> {
    let is_among = |names: [&str; 3]| names.iter().any(|one| name.eq_ignore_ascii_case(one));
    match question.question_type() {
        QuestionType::YesNo if is_among(YES_NAMES) => Some(YesNoLabel::Yes),
        QuestionType::YesNo if is_among(NO_NAMES) => Some(YesNoLabel::No),
        QuestionType::YesNo | QuestionType::Choice | QuestionType::Scale => None,
    }
}

/// The value in a column of marks: the outcome with its label in this version of the question.
/// `Null` when the question has no such outcome.
pub fn value<'a>(question: &'a Question, outcome: &OutcomeKey) -> Value<'a> {
    let found = outcomes(question).find(|it| it.key == outcome.as_str());
    found.map_or(Value::Null, |it| Value::Outcome {
        key: it.key,
        label: it.label,
    })
}

/// The name of the column with a question's marks, in rows and in files of marks. `None` if the
/// name is too long for a column, which no valid question key causes.
pub fn column_name(question: &QuestionKey) -> Option<ColumnName> {
    ColumnName::parse(&format!("{question}_marked")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prism::PrismVersion;

    fn version() -> PrismVersion {
        serde_json::from_str(
            r#"{ "fields": [{ "key": "text", "label": "T" }], "questions": [
                { "key": "topic", "type": "choice", "text": "?", "options": [
                    { "key": "a", "label": "b" }, { "key": "b", "label": "Bills" },
                    { "key": "c", "label": "Other" }] },
                { "key": "angry", "type": "yes_no", "text": "?" },
                { "key": "urgency", "type": "scale", "text": "?", "levels": [
                    { "key": "low", "label": "Low" }, { "key": "high", "label": "High" }] }] }"#,
        )
        .unwrap()
    }

    fn named(question: usize, cell: &str) -> Option<String> {
        let outcome = outcome_named(&version().questions()[question], cell);
        outcome.map(|key| key.to_string())
    }

    #[test]
    fn an_outcome_is_named_by_its_key_and_else_by_its_label() {
        for (question, cell, expected) in [
            (0, "a", Some("a")),
            (0, "b", Some("b")),
            (0, " Bills\n", Some("b")),
            (0, "Other", Some("c")),
            (0, "other", Some("other")),
            (
                0,
                "Not enough information",
                Some("insufficient_information"),
            ),
            (0, "bills", None),
            (0, "yes", None),
            (1, "yes", Some("yes")),
            (1, "No", Some("no")),
            (1, "TRUE", Some("yes")),
            (1, "false", Some("no")),
            (1, "1.0", Some("yes")),
            (1, "0", Some("no")),
            (0, "true", None),
            (1, "Unsure", None),
            (1, "other", None),
            (2, "High", Some("high")),
            (2, "1", None),
            (2, "", None),
        ] {
            let found = named(question, cell);
            assert_eq!(found.as_deref(), expected, "{question} {cell}");
        }
    }

    #[test]
    fn a_mark_is_shown_with_the_label_of_the_version() {
        let version = version();
        let shown = |question: usize, outcome: &str| {
            let outcome = OutcomeKey::parse(outcome).unwrap();
            let shown = value(&version.questions()[question], &outcome);
            if let Value::Outcome { key, label } = shown {
                return Some((key.to_owned(), label.to_owned()));
            }
            assert!(matches!(shown, Value::Null), "{shown:?}");
            None
        };
        let pair = |key: &str, label: &str| Some((key.to_owned(), label.to_owned()));
        assert_eq!(shown(0, "b"), pair("b", "Bills"));
        assert_eq!(shown(0, "other"), pair("other", "Other"));
        assert_eq!(shown(1, "no"), pair("no", "No"));
        assert_eq!(shown(2, "high"), pair("high", "High"));
        assert_eq!(shown(1, "unsure"), None);
        assert_eq!(shown(2, "gone"), None);
    }

    #[test]
    fn the_longest_key_has_a_column_of_marks() {
        let key = QuestionKey::parse(&"a".repeat(64)).unwrap();
        let name = column_name(&key).unwrap();
        assert_eq!(name.as_str(), format!("{key}_marked"));
    }

    #[test]
    fn a_marker_has_a_name() {
        assert_eq!(Marker::parse(" Ada ").unwrap().as_str(), "Ada");
        assert!(Marker::parse(" ").is_err());
        assert!(Marker::parse(&"a".repeat(201)).is_err());
    }
}
