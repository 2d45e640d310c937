//! What a search looks for, its pages and limits, and the conditions that no index decides.

use std::collections::{HashMap, HashSet};

use refract_domain::answer::Answers;
use refract_domain::ids::{PersonId, ResultId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::PrismVersion;
use refract_domain::result::mark::Mark;
use refract_domain::submission::{FieldValues, Ref};
use refract_persistence::{Database, PersistenceError, ResultFilter};

use crate::lenses::prism_lens::PrismLens;
use crate::results::column_value::{
    AnsweredOutcome, ColumnNotSearchable, ColumnValue, WantedValue,
};
use crate::results::read::ReadableResult;

/// Most characters of all words together.
const MOST_CHARS: usize = 200;
/// Most words.
const MOST_WORDS: usize = 10;

/// Which results are searched for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultSearch {
    /// Conditions on everything but answers, texts and marks.
    pub filter: ResultFilter,
    /// Values that columns of the lens must show, all of them.
    pub values: Vec<ColumnValue>,
    /// Outcomes that questions must be answered with, all of them.
    pub answers: Vec<AnsweredOutcome>,
    /// Words that the texts must have.
    pub words: Option<TextWords>,
    /// What the marks must be.
    pub marks: Option<MarkCondition>,
    /// Refs of which a result must have one; empty for any result. Only
    /// [`Results::of_search`](crate::results::Results::of_search) reads it: a page of a search knows no
    /// refs of its candidates.
    pub references: Vec<Ref>,
}

/// A condition on the marks of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkCondition {
    /// Results with at least one mark.
    Marked,
    /// Results without marks.
    Unmarked,
    /// Results on which this outcome of the question is marked.
    Outcome(QuestionKey, OutcomeKey),
    /// Results that this person marked, whether or not the mark counts.
    By(PersonId),
}

/// Which page of a search is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchPage {
    /// The newest results.
    Newest,
    /// Results that are older than this one.
    OlderThan(ResultId),
    /// Results that are newer than this one, beginning next to it. [`ResultId::LOWEST`] gives the
    /// page of the oldest results.
    NewerThan(ResultId),
}

/// Limits of one page of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// Most results of the page, at least 1.
    pub results: u32,
    /// Most candidates that are read for the page, at least 1.
    pub candidates: u32,
    /// Most candidates among which matches are counted, after the page of the newest is full; 0
    /// counts none.
    pub counted: u32,
}

/// A page that people read: 50 results, among 5,000 candidates. Matches are counted among the
/// newest 1,000, so that a list among a million results is as quick as among a thousand.
impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            results: 50,
            candidates: 5_000,
            counted: 1_000,
        }
    }
}

impl SearchLimits {
    /// The limits for a page of 50 results that have words in their texts, looked for among 50,000
    /// candidates: the database compares the texts, and few of them leave it.
    pub const OF_WORDS: Self = Self {
        results: 50,
        candidates: 50_000,
        counted: 1_000,
    };
}

/// How many results match a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchCount {
    /// So many match.
    All(usize),
    /// More than so many match.
    MoreThan(usize),
    /// So many of the newest candidates match; older ones were not looked at.
    AmongNewest {
        /// The number of matches.
        matches: usize,
        /// The number of candidates that were looked at.
        read: u32,
    },
}

/// Words that the field values of a result must have, in any order and any case. A word may be a
/// part of a longer one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextWords(Vec<String>);

impl TextWords {
    /// Splits a text into words at white space; `None` for no word, for more than 10 words or for
    /// more than 200 characters.
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<_> = text.split_whitespace().map(str::to_lowercase).collect();
        let is_valid = (1..=MOST_WORDS).contains(&words.len())
            && text.chars().count() <= MOST_CHARS
            && !text.contains('\0');
        is_valid.then_some(Self(words))
    }

    /// Whether one of the values has each word.
    pub(crate) fn are_in(&self, values: &FieldValues) -> bool {
        let texts: Vec<_> = values
            .as_slice()
            .iter()
            .map(|(_, it)| it.to_lowercase())
            .collect();
        let mut words = self.0.iter();
        words.all(|word| texts.iter().any(|text| text.contains(word)))
    }

    /// Patterns of `LIKE` for the fields as JSON in lower case. Each result that has the words
    /// matches all patterns; others may match too. Since not every database knows the lower case
    /// of letters beyond ASCII, a pattern leaves such letters open.
    pub(crate) fn patterns(&self) -> Vec<String> {
        self.0.iter().map(|word| pattern(word)).collect()
    }
}

fn pattern(word: &str) -> String {
    // texts serialise without an error
    let json = serde_json::to_string(word).unwrap_or_default();
    let inner = json
        .get(1..json.len().saturating_sub(1))
        .unwrap_or_default();
    let mut pattern = String::from("%");
    for letter in inner.chars() {
        let has_cases = letter
            .to_lowercase()
            .chain(letter.to_uppercase())
            .any(|it| it != letter);
        match letter {
            '%' | '_' | '\\' => pattern.extend(['\\', letter]),
            _ if letter.is_ascii() || !has_cases => pattern.push(letter),
            _ => pattern.push('%'),
        }
    }
    pattern.push('%');
    pattern
}

/// The conditions of a search that are checked on each candidate, for the lens as it is.
pub(crate) struct SearchConditions {
    wanted: Vec<WantedValue>,
    pub(super) words: Option<TextWords>,
    pub(super) marks: Option<MarkCondition>,
    references: HashSet<Ref>,
}

impl SearchConditions {
    pub(crate) fn of(lens: &PrismLens, search: &ResultSearch) -> Result<Self, ColumnNotSearchable> {
        let shown = search
            .values
            .iter()
            .map(|value| WantedValue::of(lens, value));
        let mut wanted = shown.collect::<Result<Vec<_>, _>>()?;
        let answered = search.answers.iter();
        wanted.extend(answered.filter_map(|answer| WantedValue::answered(lens, answer)));
        Ok(Self {
            wanted,
            words: search.words.clone(),
            marks: search.marks.clone(),
            references: search.references.iter().cloned().collect(),
        })
    }

    /// Whether every result matches.
    pub(crate) fn are_none(&self) -> bool {
        self.wanted.is_empty()
            && self.words.is_none()
            && self.marks.is_none()
            && self.references.is_empty()
    }

    /// Whether marks decide.
    pub(crate) fn has_marks(&self) -> bool {
        self.marks.is_some()
    }

    /// Whether a result matches all conditions. `marks` are those of results by id.
    pub(crate) fn match_result(
        &self,
        result: &ReadableResult,
        marks: &HashMap<ResultId, Vec<Mark>>,
    ) -> bool {
        let marks = marks.get(&result.id()).map(Vec::as_slice);
        let answers = result.saved().status.answers();
        let values = result.submission().field_values();
        self.match_answers(result.version(), answers)
            && self.match_marks(marks.unwrap_or_default())
            && self.match_reference(result.saved().reference.as_ref())
            && self.words.as_ref().is_none_or(|words| words.are_in(values))
    }

    fn match_reference(&self, reference: Option<&Ref>) -> bool {
        self.references.is_empty() || reference.is_some_and(|it| self.references.contains(it))
    }

    /// Whether answers decide.
    pub(crate) fn has_values(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Whether a result with these answers of this version matches the conditions on answers; a
    /// failed result has no answers.
    pub(crate) fn match_answers(&self, version: &PrismVersion, answers: Option<&Answers>) -> bool {
        let mut wanted = self.wanted.iter();
        wanted.all(|wanted| wanted.is_shown(version, answers))
    }

    /// Whether a result with these marks matches the condition on marks.
    pub(crate) fn match_marks(&self, marks: &[Mark]) -> bool {
        match &self.marks {
            None => true,
            Some(MarkCondition::Marked) => !marks.is_empty(),
            Some(MarkCondition::Unmarked) => marks.is_empty(),
            Some(MarkCondition::Outcome(question, outcome)) => {
                let mut marks = marks.iter();
                marks.any(|mark| mark.question == *question && mark.outcome == *outcome)
            }
            Some(MarkCondition::By(person)) => {
                let mut marks = marks.iter();
                marks.any(|mark| mark.marked_by.person == Some(*person))
            }
        }
    }

    /// The marks that the condition on marks is about, by result: those that count, or all.
    pub(crate) async fn marks_by_result(
        &self,
        database: &Database,
        results: Vec<ResultId>,
    ) -> Result<HashMap<ResultId, Vec<Mark>>, PersistenceError> {
        let mut by_result = marks_by_result(database, results.clone()).await?;
        if let Some(MarkCondition::By(_)) = self.marks {
            for mark in database.list_other_marks_of(results).await? {
                by_result.entry(mark.result).or_default().push(mark);
            }
        }
        Ok(by_result)
    }
}

/// The marks of these results that count, by result.
pub(crate) async fn marks_by_result(
    database: &Database,
    results: Vec<ResultId>,
) -> Result<HashMap<ResultId, Vec<Mark>>, PersistenceError> {
    let mut by_result: HashMap<ResultId, Vec<Mark>> = HashMap::new();
    for mark in database.list_marks_of(results).await? {
        by_result.entry(mark.result).or_default().push(mark);
    }
    Ok(by_result)
}

#[cfg(test)]
mod tests {
    use refract_domain::key::FieldKey;

    use super::*;

    fn values(texts: &[&str]) -> FieldValues {
        let key = |number| FieldKey::parse(&format!("f{number}")).unwrap();
        let values = texts.iter().enumerate();
        FieldValues::new(
            values
                .map(|(number, text)| (key(number), (*text).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn words_are_found_in_any_order_case_and_field() {
        let texts = values(&["Where is my ORDER?", "Größe, Ärger 🦊"]);
        for words in ["order where", "größe", "ÄRGER", "🦊 my", "is  \t my"] {
            assert!(TextWords::parse(words).unwrap().are_in(&texts), "{words}");
        }
        for words in ["order late", "orders", "f0"] {
            assert!(!TextWords::parse(words).unwrap().are_in(&texts), "{words}");
        }
    }

    #[test]
    fn what_is_no_search_is_refused() {
        for text in ["", " \n", "a\0b", &"x".repeat(201), &"x ".repeat(11)] {
            assert_eq!(TextWords::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_pattern_escapes_what_like_and_json_do() {
        let patterns = |words| TextWords::parse(words).unwrap().patterns();
        assert_eq!(
            patterns("50%_off Ä 東京"),
            [r"%50\%\_off%", "%%%", "%東京%"]
        );
        assert_eq!(patterns(r#"a"b\c"#), [r#"%a\\"b\\\\c%"#]);
    }
}
