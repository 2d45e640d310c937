//! Finds the columns of a file of marks, those that identify results and those with marks, or the
//! error of the file as a whole.

use refract_domain::ids::ResultId;
use refract_domain::key::{QuestionKey, ROW_NAMES};
use refract_domain::problem::ValidationError;
use refract_domain::result::mark;
use refract_domain::submission::Ref;
use refract_lens_rendering::{adjudicated_column, person_column};
use refract_service::marks::{MarkCell, MarkError, MarkErrors, MarksRow, NamedResult};

use crate::gold::EXPECTED;
use crate::input::{InputError, REF, RawRow, RawValue, WantedColumn, WantedColumns, listed};

/// Name of the column with the ids of results.
pub(crate) const RESULT_ID: &str = "result_id";
/// The column that rows of an export of results have, and files of marks have not: there, a column called `person` is a
/// field or a column of the lens.
const CREATED_AT: &str = "created_at";
/// Number of columns that name results.
const OF_RESULTS: usize = 2;
/// Number of columns before those of the questions.
const BEFORE: usize = 5;
/// The place of the column of an export of results.
const EXPORTED: usize = 4;
/// Number of possible columns for one question.
const EACH: usize = 3;

/// The wanted columns: `result_id`, `ref`, who marked and whether it settles a disagreement, the
/// column of an export of results, then those of each question.
pub(super) struct MarksColumns {
    questions: Vec<QuestionColumns>,
    wanted: WantedColumns,
    person: &'static str,
    adjudicated: &'static str,
}

/// The possible columns of one question. The first one that the file has is used.
pub(crate) struct QuestionColumns {
    key: QuestionKey,
    /// `<key>_marked`, used in exports of results, where the column of the key holds the answer;
    /// then the key; then `expected_<key>`. `None` replaces a name that is the key of another
    /// question.
    pub(crate) names: [Option<String>; EACH],
}

impl QuestionColumns {
    pub(crate) fn new(key: &QuestionKey, all: &[QuestionKey]) -> Self {
        let is_of_another = |name: &str| {
            all.iter()
                .any(|other| other != key && other.as_str() == name)
        };
        Self {
            key: key.clone(),
            names: names(key).map(|name| Some(name).filter(|name| !is_of_another(name))),
        }
    }

    /// The outcome in the first of the columns that the row has.
    fn outcome(&self, values: &mut impl Iterator<Item = RawValue>) -> OutcomeCell {
        let mut found = Ok(None);
        let mut is_found = false;
        for (name, value) in self.names.iter().zip(values.take(EACH)) {
            if let Some(name) = name
                && !is_found
                && !matches!(value, RawValue::Absent { is_null: false })
            {
                found = text(Some(value.naming()), name);
                is_found = true;
            }
        }
        found
    }
}

/// The text of a cell with an outcome, if there is any.
type OutcomeCell = Result<Option<String>, MarkError>;

/// The possible column names of a question, in order of precedence.
fn names(key: &QuestionKey) -> [String; EACH] {
    let marked = mark::column_name(key);
    [
        marked.map_or_else(String::new, |name| name.as_str().to_owned()),
        key.to_string(),
        format!("{EXPECTED}{key}"),
    ]
}

impl MarksColumns {
    pub(super) fn new(questions: &[QuestionKey]) -> Self {
        let person = person_column(questions);
        let adjudicated = adjudicated_column(questions);
        let before: [&str; BEFORE] = [RESULT_ID, REF, person, adjudicated, CREATED_AT];
        let wanted = before
            .map(str::to_owned)
            .into_iter()
            .chain(questions.iter().flat_map(names));
        let wanted = wanted.map(|name| WantedColumn {
            name,
            is_required: false,
        });
        let columns = questions.iter();
        let columns = columns.map(|key| QuestionColumns::new(key, questions));
        Self {
            wanted: WantedColumns(wanted.collect()),
            questions: columns.collect(),
            person,
            adjudicated,
        }
    }

    pub(super) fn wanted(&self) -> &WantedColumns {
        &self.wanted
    }

    /// Checks that a file has columns for results and questions. `seen` flags the wanted columns
    /// that the file has; `unused` names the others.
    pub(super) fn check(&self, seen: &[bool], unused: &[String]) -> Result<(), MarksFileError> {
        let wanted = self.wanted.0.iter().zip(seen);
        let has = wanted.filter(|(_, seen)| **seen);
        let mut present: Vec<_> = has.map(|(column, _)| column.name.clone()).collect();
        present.extend_from_slice(unused);
        let keys = self.questions.iter().map(|question| &question.key);
        let questions = || keys.clone().map(QuestionKey::to_string).collect();
        let (before, of_questions) = seen.split_at_checked(BEFORE).unwrap_or((seen, &[]));
        if !before.iter().take(OF_RESULTS).any(|seen| *seen) {
            return Err(MarksFileError::NoResults {
                present: listed(&present),
                unused: unused.to_vec(),
            });
        }
        let mut expected = unused.iter().filter_map(|name| name.strip_prefix(EXPECTED));
        if let Some(name) = expected.next() {
            return Err(MarksFileError::NoSuchQuestion {
                name: listed(&[name.to_owned()]),
                questions: questions(),
            });
        }
        if !of_questions.contains(&true) {
            return Err(MarksFileError::NoQuestions {
                present: listed(&present),
                unused: unused.to_vec(),
                questions: questions(),
            });
        }
        Ok(())
    }

    /// Whether the columns belong to an export of results without its marks.
    pub(super) fn hold_answers(seen: &[bool], unused: &[String]) -> bool {
        let (_, of_questions) = seen.split_at_checked(BEFORE).unwrap_or((seen, &[]));
        let mut marked = of_questions.iter().step_by(EACH);
        let is_unused = |name: &str| unused.iter().any(|unused| unused == name);
        let ignored = ROW_NAMES.iter().filter(|name| is_unused(name));
        ignored.count() + OF_RESULTS == ROW_NAMES.len() && !marked.any(|seen| *seen)
    }

    /// The ignored columns of an export of results, and of questions: another column of the question
    /// takes precedence.
    pub(super) fn ignored(&self, seen: &[bool]) -> Vec<String> {
        let (before, of_questions) = seen.split_at_checked(BEFORE).unwrap_or((seen, &[]));
        let is_exported = before.get(EXPORTED) == Some(&true);
        let names = self.wanted.0.iter().zip(before).skip(OF_RESULTS);
        let of_export = names.filter(|(_, seen)| is_exported && **seen);
        let of_export = of_export.map(|(column, _)| column.name.clone());
        let of_questions = of_questions.chunks(EACH).zip(&self.questions);
        let ignored = of_questions.flat_map(|(seen, question)| {
            let names = question.names.iter().zip(seen);
            names
                .filter_map(|(name, seen)| name.clone().filter(|_| *seen))
                .skip(1)
        });
        of_export.chain(ignored).collect()
    }

    /// Reads a row and adds its errors to `errors`; `None` for a row without marks.
    pub(super) fn row(&self, raw: RawRow, errors: &mut MarkErrors) -> Option<MarksRow> {
        let RawRow { line, values } = raw;
        let mut values = values.into_iter();
        let (id, reference) = (values.next(), values.next());
        let (person, adjudicated) = (values.next(), values.next());
        let is_exported = values
            .next()
            .is_some_and(|value| !matches!(value, RawValue::Absent { is_null: false }));
        let mut cells = Vec::new();
        let mut has_marks = false;
        for columns in &self.questions {
            let outcome = columns.outcome(&mut values);
            has_marks |= !matches!(outcome, Ok(None));
            match outcome {
                Ok(None) => {}
                Ok(Some(outcome)) => cells.push(MarkCell {
                    question: columns.key.clone(),
                    outcome,
                }),
                Err(error) => errors.add(line, error),
            }
        }
        if !has_marks {
            return None;
        }
        let of_marks = |value: Option<RawValue>| value.filter(|_| !is_exported);
        let row = named(id, reference).and_then(|named| {
            Ok(MarksRow {
                line,
                named,
                person: text(of_marks(person).map(RawValue::naming), self.person)?,
                is_adjudicated: yes_or_no(of_marks(adjudicated), self.adjudicated)?,
                cells,
            })
        });
        row.map_err(|error| errors.add(line, error)).ok()
    }
}

/// Whether a cell says yes; a blank one says no.
fn yes_or_no(value: Option<RawValue>, column: &str) -> Result<bool, MarkError> {
    let Some(cell) = text(value.map(RawValue::naming), column)? else {
        return Ok(false);
    };
    let cell = cell.trim();
    let is_among = |names: [&str; 3]| names.iter().any(|name| cell.eq_ignore_ascii_case(name));
    match (is_among(mark::YES_NAMES), is_among(mark::NO_NAMES)) {
        (true, _) => Ok(true),
        (false, true) => Ok(false),
        (false, false) => Err(invalid_column(
            column,
            &[ValidationError::rule("must be true or false")],
        )),
    }
}

/// The result of a row: by id, or by `ref` if there is no id.
fn named(id: Option<RawValue>, reference: Option<RawValue>) -> Result<NamedResult, MarkError> {
    if let Some(id) = text(id, RESULT_ID)? {
        let id = ResultId::parse(id.trim());
        let id = id.ok_or_else(|| invalid_column(RESULT_ID, &[ValidationError::InvalidUuid]))?;
        return Ok(NamedResult::Id(id));
    }
    let reference = reference.map(RawValue::naming);
    let reference = text(reference, REF)?.ok_or(MarkError::NoResult)?;
    let reference = Ref::parse(&reference).map_err(|errors| invalid_column(REF, &errors))?;
    Ok(NamedResult::Ref(reference))
}

/// The text of a cell; `None` for null, an absent value and a blank cell.
fn text(value: Option<RawValue>, column: &str) -> Result<Option<String>, MarkError> {
    match value {
        None | Some(RawValue::Absent { .. }) => Ok(None),
        Some(RawValue::Text {
            text,
            has_unpaired_surrogate: false,
        }) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Some(RawValue::Text { .. }) => Err(invalid_column(
            column,
            &[ValidationError::ForbiddenCharacters],
        )),
        Some(
            RawValue::Scalar {
                type_name: received,
                ..
            }
            | RawValue::NoText(received),
        ) => {
            let expected = "string";
            Err(invalid_column(
                column,
                &[ValidationError::Expected { expected, received }],
            ))
        }
    }
}

fn invalid_column(column: &str, errors: &[ValidationError]) -> MarkError {
    let errors: Vec<_> = errors.iter().map(ValidationError::to_string).collect();
    MarkError::Cell {
        column: column.to_owned(),
        reason: errors.join("; "),
    }
}

/// Why a file of marks cannot be read. The text repeats no values of the file, and only short
/// column names.
#[derive(Debug, thiserror::Error)]
pub enum MarksFileError {
    /// The file cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No column identifies results.
    #[error("it has neither a column result_id nor a column ref: it has {present}")]
    NoResults {
        /// Names of the file's columns, as readable text.
        present: String,
        /// Names of the columns that are not read.
        unused: Vec<String>,
    },
    /// No column belongs to a question.
    #[error("it has no column of a question: it has {present}; the questions are {}", questions.join(", "))]
    NoQuestions {
        /// Names of the file's columns, as readable text.
        present: String,
        /// Names of the columns that are not read.
        unused: Vec<String>,
        /// The keys of the prism's questions.
        questions: Vec<String>,
    },
    /// A column `expected_…` belongs to no question.
    #[error("its column expected_{name} is of no question: the questions are {}", questions.join(", "))]
    NoSuchQuestion {
        /// The column's name after `expected_`, shortened and without control characters.
        name: String,
        /// The keys of the prism's questions.
        questions: Vec<String>,
    },
}

impl MarksFileError {
    /// Names in the file that may be mistyped.
    pub fn names(&self) -> &[String] {
        match self {
            Self::Input(_) => &[],
            Self::NoResults { unused, .. } | Self::NoQuestions { unused, .. } => unused,
            Self::NoSuchQuestion { name, .. } => std::slice::from_ref(name),
        }
    }

    /// The valid names that the file may have meant.
    pub fn known(&self) -> Vec<&str> {
        match self {
            Self::Input(_) => Vec::new(),
            Self::NoResults { .. } => vec!["result_id", "ref"],
            Self::NoQuestions { questions, .. } | Self::NoSuchQuestion { questions, .. } => {
                questions.iter().map(String::as_str).collect()
            }
        }
    }
}
