//! Which columns of a file of marks name results and which hold marks.

use refract_answering::marks::{MarkCell, MarkFault, MarkFaults, MarksRow, NamedResult};
use refract_domain::ids::ResultId;
use refract_domain::key::QuestionKey;
use refract_domain::problem::Fault;
use refract_domain::reference::Ref;

use super::fault::MarksFileFault;
use crate::input::{RawRow, RawValue, WantedColumn, WantedColumns, listed};

const RESULT_ID: &str = "result_id";
const REF: &str = "ref";
/// What stands before a question's key where a file says the right answers of texts.
const EXPECTED: &str = "expected_";
/// Number of columns before those of the questions.
const BEFORE: usize = 2;
/// Number of columns that may be of one question.
const EACH: usize = 2;

/// The columns that are read: `result_id`, `ref`, then for each question the column of its key and
/// the column `expected_<key>`.
pub(super) struct MarksColumns {
    questions: Vec<QuestionColumns>,
    wanted: WantedColumns,
}

/// The columns that may be of one question.
struct QuestionColumns {
    key: QuestionKey,
    /// The name of the second column; `None` where that is the key of another question.
    expected: Option<String>,
}

impl MarksColumns {
    pub(super) fn new(questions: &[QuestionKey]) -> Self {
        let of_questions = questions
            .iter()
            .flat_map(|key| [key.to_string(), format!("{EXPECTED}{key}")]);
        let names = [RESULT_ID, REF].map(str::to_owned);
        let wanted = names.into_iter().chain(of_questions);
        let wanted = wanted.map(|name| WantedColumn {
            name,
            is_required: false,
        });
        let wanted = WantedColumns(wanted.collect());
        let is_question = |name: &str| questions.iter().any(|key| key.as_str() == name);
        let columns = questions.iter().map(|key| QuestionColumns {
            key: key.clone(),
            expected: Some(format!("{EXPECTED}{key}")).filter(|name| !is_question(name)),
        });
        Self {
            questions: columns.collect(),
            wanted,
        }
    }

    pub(super) fn wanted(&self) -> &WantedColumns {
        &self.wanted
    }

    /// Checks that the columns of a file name results and questions. `seen` says which of the wanted
    /// columns it has, `unused` names the others.
    pub(super) fn check(&self, seen: &[bool], unused: &[String]) -> Result<(), MarksFileFault> {
        let wanted = self.wanted.0.iter().zip(seen);
        let has = wanted.filter(|(_, seen)| **seen);
        let mut present: Vec<_> = has.map(|(column, _)| column.name.clone()).collect();
        present.extend_from_slice(unused);
        let questions = self.questions.iter();
        let questions = || {
            questions
                .clone()
                .map(|question| question.key.to_string())
                .collect()
        };
        let (of_results, of_questions) = seen.split_at_checked(BEFORE).unwrap_or((seen, &[]));
        if !of_results.contains(&true) {
            return Err(MarksFileFault::NoResults {
                present: listed(&present),
                unused: unused.to_vec(),
            });
        }
        let mut expected = unused.iter().filter_map(|name| name.strip_prefix(EXPECTED));
        if let Some(name) = expected.next() {
            return Err(MarksFileFault::NoSuchQuestion {
                name: listed(&[name.to_owned()]),
                questions: questions(),
            });
        }
        if !of_questions.contains(&true) {
            return Err(MarksFileFault::NoQuestions {
                present: listed(&present),
                unused: unused.to_vec(),
                questions: questions(),
            });
        }
        Ok(())
    }

    /// The `expected_…` columns of a file that has the column of the question's key too.
    pub(super) fn passed_by(&self, seen: &[bool]) -> Vec<String> {
        let of_questions = seen.chunks(EACH).skip(BEFORE / EACH).zip(&self.questions);
        let both = of_questions.filter(|(seen, _)| **seen == [true; EACH]);
        both.filter_map(|(_, question)| question.expected.clone())
            .collect()
    }

    /// What a row says, with its faults put to the others; `None` for a row that marks nothing.
    pub(super) fn row(&self, raw: RawRow, faults: &mut MarkFaults) -> Option<MarksRow> {
        let RawRow { line, values } = raw;
        let mut values = values.into_iter();
        let (id, reference) = (values.next(), values.next());
        let mut cells = Vec::new();
        let mut has_marks = false;
        for QuestionColumns { key, expected } in &self.questions {
            let (own_value, expected_value) = (values.next(), values.next());
            let has_own = !matches!(own_value, Some(RawValue::Absent { is_null: false }));
            let outcome = match expected {
                Some(expected) if !has_own => text(expected_value, expected),
                Some(_) | None => text(own_value, key.as_str()),
            };
            has_marks |= !matches!(outcome, Ok(None));
            match outcome {
                Ok(None) => {}
                Ok(Some(outcome)) => cells.push(MarkCell {
                    question: key.clone(),
                    outcome,
                }),
                Err(fault) => faults.add(line, fault),
            }
        }
        if !has_marks {
            return None;
        }
        match named(id, reference) {
            Ok(named) => Some(MarksRow { line, named, cells }),
            Err(fault) => {
                faults.add(line, fault);
                None
            }
        }
    }
}

/// The result that a row names: by its id or, where there is none, by its `ref`.
fn named(id: Option<RawValue>, reference: Option<RawValue>) -> Result<NamedResult, MarkFault> {
    if let Some(id) = text(id, RESULT_ID)? {
        let id = ResultId::parse(id.trim());
        let id = id.ok_or_else(|| faulty(RESULT_ID, &[Fault::InvalidUuid]))?;
        return Ok(NamedResult::Id(id));
    }
    let reference = text(reference, REF)?.ok_or(MarkFault::NoResult)?;
    let reference = Ref::parse(&reference).map_err(|faults| faulty(REF, &faults))?;
    Ok(NamedResult::Ref(reference))
}

/// The text of a cell; `None` for null, an absent value and a blank cell.
fn text(value: Option<RawValue>, column: &str) -> Result<Option<String>, MarkFault> {
    match value {
        None | Some(RawValue::Absent { .. }) => Ok(None),
        Some(RawValue::Text {
            text,
            has_unpaired_surrogate: false,
        }) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Some(RawValue::Text { .. }) => Err(faulty(column, &[Fault::ForbiddenCharacters])),
        Some(RawValue::NoText(received)) => {
            let expected = "string";
            Err(faulty(column, &[Fault::Expected { expected, received }]))
        }
    }
}

fn faulty(column: &str, faults: &[Fault]) -> MarkFault {
    let faults: Vec<_> = faults.iter().map(Fault::to_string).collect();
    MarkFault::Cell {
        column: column.to_owned(),
        reason: faults.join("; "),
    }
}
