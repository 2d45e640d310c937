//! Marks: the correct outcomes of saved results, as judged by people.

use chrono::{DateTime, Utc};

use crate::ids::{PersonId, ResultId};
use crate::key::{ColumnName, OutcomeKey, QuestionKey};
use crate::lens::{Value, YesNoLabel};
use crate::prism::{OutcomeRef, Question, QuestionType, display_name};

/// The correct outcome of one question for one result, as judged by a person. People's marks stand
/// beside each other, and [one counts](QuestionMarks::split); a mark never changes
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

/// How a result came to be marked. A mark without a source is from before sources were saved, or
/// somebody made it on a result that they had chosen themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkSource {
    /// The result was drawn at random.
    Random,
    /// The result was among those nearest to a cutoff.
    Near,
    /// The result was among those with the least sure answers.
    LeastSure,
    /// The result was among those that a filter selects.
    Filter,
    /// The mark was imported from a file.
    Import,
}

/// Which marks count in measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarksFrom {
    /// Marks of randomly drawn results, and imported ones. Other marks are of results that somebody
    /// chose: of the least sure answers more are wrong than of all answers.
    #[default]
    Random,
    /// All marks, although they are no fair sample.
    All,
}

impl MarkSource {
    /// Every source.
    pub const ALL: [Self; 5] = [
        Self::Random,
        Self::Near,
        Self::LeastSure,
        Self::Filter,
        Self::Import,
    ];

    /// The source's name: `random`, `near`, `least_sure`, `filter` or `import`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Near => "near",
            Self::LeastSure => "least_sure",
            Self::Filter => "filter",
            Self::Import => "import",
        }
    }

    /// The source with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }

    /// Whether marks of this source are a fair sample of all results.
    pub const fn is_fair(self) -> bool {
        match self {
            Self::Random | Self::Import => true,
            Self::Near | Self::LeastSure | Self::Filter => false,
        }
    }
}

impl MarksFrom {
    /// Both choices, the default first.
    pub const ALL: [Self; 2] = [Self::Random, Self::All];

    /// The choice's name: `random` or `all`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::All => "all",
        }
    }

    /// The choice with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|from| from.name() == name)
    }

    /// Whether a mark of this source counts.
    pub fn counts(self, source: Option<MarkSource>) -> bool {
        match self {
            Self::Random => source.is_some_and(MarkSource::is_fair),
            Self::All => true,
        }
    }
}

/// A person's judgement that the text does not decide a question. It is no mark: it has no outcome,
/// and no measure counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abstention {
    /// The result, which is `ok`.
    pub result: ResultId,
    /// A question of the version that answered.
    pub question: QuestionKey,
    /// The name of the person; `None` when no name was given.
    pub abstained_by: Option<Marker>,
    /// When the person abstained, in whole milliseconds.
    pub abstained_at: DateTime<Utc>,
    /// What the person noted.
    pub note: Option<MarkNote>,
}

/// The marks of one question of one result: at most one of each person, and one more for each
/// person who settled a disagreement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionMarks {
    /// Of equal moments, a later place is a later mark. The mark that counts comes last.
    marks: Vec<Mark>,
}

impl QuestionMarks {
    /// The mark that counts, and those beside it.
    pub fn new(counting: Option<Mark>, mut beside: Vec<Mark>) -> Self {
        beside.extend(counting);
        Self { marks: beside }
    }

    /// Adds a mark, or changes the person's saved one as [`Mark::changes`] says. Returns whether
    /// anything changed. A mark of nobody that says what counts already changes nothing: an export
    /// of results names no people.
    pub fn add(&mut self, mark: Mark) -> bool {
        let Some(place) = self.place_of(&mark) else {
            self.marks.push(mark);
            return true;
        };
        let Some(saved) = self.marks.get_mut(place) else {
            return false;
        };
        if !mark.changes(saved) {
            return false;
        }
        let by = if mark.marked_by.person.is_some() || saved.marked_by.is_unnamed() {
            mark.marked_by.clone()
        } else {
            saved.marked_by.clone()
        };
        // a person who corrects a mark did not choose the result when it was drawn
        let source = if saved.source.is_some_and(MarkSource::is_fair) {
            mark.source.filter(|it| it.is_fair()).or(saved.source)
        } else {
            mark.source
        };
        *saved = Mark {
            marked_by: by,
            source,
            is_adjudicated: saved.is_adjudicated,
            ..mark
        };
        true
    }

    /// The place of the mark that a new one may change.
    fn place_of(&self, mark: &Mark) -> Option<usize> {
        let by = &mark.marked_by;
        if by.is_unnamed()
            && let Some(place) = self.counting_place()
            && self.marks.get(place)?.outcome == mark.outcome
        {
            return Some(place);
        }
        let find = |is_by: &dyn Fn(&Annotator) -> bool| {
            let mut marks = self.marks.iter();
            marks.position(|it| it.is_adjudicated == mark.is_adjudicated && is_by(&it.marked_by))
        };
        // the mark with the same id rather than an older one with the name alone
        find(&|it| by.person.is_some() && it.person == by.person)
            .or_else(|| find(&|it| it == by))
            .or_else(|| find(&|it| it.is(by)))
    }

    /// Withdraws the mark of a person: the one that settled a disagreement, or the ordinary one, or
    /// else a mark of nobody.
    pub fn withdraw(&mut self, by: &Annotator, is_adjudicated: bool) {
        let before = self.marks.len();
        let of_kind = |it: &Mark| it.is_adjudicated == is_adjudicated;
        self.marks
            .retain(|it| !(of_kind(it) && it.marked_by.is(by)));
        if self.marks.len() == before {
            self.marks
                .retain(|it| !(of_kind(it) && it.marked_by.is_unnamed()));
        }
    }

    /// Whether people differ and nobody has settled it.
    pub fn differ(&self) -> bool {
        let mut outcomes = self.marks.iter().map(|mark| &mark.outcome);
        let first = outcomes.next();
        !self.marks.iter().any(|mark| mark.is_adjudicated)
            && outcomes.any(|outcome| Some(outcome) != first)
    }

    /// All marks, the one that counted when they were read before those that were added.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// The mark that counts, and the others: the latest adjudicated mark, else what all agree on,
    /// else the latest. Where any of the marks is of a fair sample, so is the mark that counts: the
    /// result was drawn at random before the others looked at it.
    pub fn split(mut self) -> (Option<Mark>, Vec<Mark>) {
        let Some(place) = self.counting_place() else {
            return (None, self.marks);
        };
        let mut counting = self.marks.remove(place);
        if !counting.source.is_some_and(MarkSource::is_fair) {
            let mut sources = self.marks.iter().filter_map(|mark| mark.source);
            counting.source = sources.find(|it| it.is_fair()).or(counting.source);
        }
        (Some(counting), self.marks)
    }

    fn counting_place(&self) -> Option<usize> {
        let marks = || self.marks.iter().enumerate();
        let adjudicated = marks().filter(|(_, mark)| mark.is_adjudicated);
        let adjudicated = adjudicated.max_by_key(|(_, mark)| mark.marked_at);
        let counting = match adjudicated {
            Some(adjudicated) => Some(adjudicated),
            // the first of those who agree, so that a second one changes no figure
            None if !self.differ() => marks().rev().min_by_key(|(_, mark)| mark.marked_at),
            None => marks().max_by_key(|(_, mark)| mark.marked_at),
        };
        counting.map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests;
