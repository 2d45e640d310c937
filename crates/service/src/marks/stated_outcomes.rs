//! What the rows of a file of marks state: the results that they name, and their marks, checked
//! against the version that answered.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::{PrismVersion, Question, VersionNumber};
use refract_domain::result::mark::{self, Annotator, Mark};
use refract_domain::submission::Ref;
use refract_persistence::{Database, MarkableResult, PersistenceError, Prism};

use super::{MarkCell, MarkError, MarkErrors, MarkOrigin, MarksRow, NamedResult};

/// Upper bound on the outcomes that a fault lists.
const MOST_OUTCOMES: usize = 20;
/// Length in characters to which an outcome's name is cut.
const LONGEST_NAME: usize = 40;
/// Number of ids that one query looks up.
const IDS: usize = 1_000;
/// Number of results with a `ref` that one query reads.
const REFS: u32 = 4_096;

/// The outcomes that rows state, by result.
#[derive(Default)]
pub(super) struct StatedOutcomes(BTreeMap<ResultId, Vec<StatedOutcome>>);

struct StatedOutcome {
    by: Annotator,
    is_adjudicated: bool,
    question: QuestionKey,
    outcome: OutcomeKey,
    /// The line of the first row that states the outcome.
    line: u64,
}

impl StatedOutcomes {
    /// Adds the marks of a row by a person for the results that it names, each where the version that
    /// answered has the outcome. `versions` has every version that answered one of these results.
    pub(super) fn add(
        &mut self,
        row: &MarksRow,
        by: &Annotator,
        results: &[AnsweredResult],
        versions: &HashMap<VersionNumber, Arc<PrismVersion>>,
        errors: &mut MarkErrors,
    ) {
        let mut contradicted = BTreeSet::new();
        let numbers: BTreeSet<VersionNumber> = results.iter().map(|it| it.version).collect();
        for cell in &row.cells {
            let of_versions = numbers.iter().map(|number| {
                let version = versions.get(number);
                let question = version.and_then(|version| version.question(&cell.question));
                checked(cell, *number, question).map(|outcome| (*number, outcome))
            });
            let (outcomes, faults): (Vec<_>, Vec<_>) = of_versions.partition(Result::is_ok);
            if outcomes.is_empty() {
                let faults = faults.into_iter().filter_map(Result::err);
                faults.for_each(|fault| errors.add(row.line, fault));
                continue;
            }
            for (number, outcome) in outcomes.into_iter().flatten() {
                for result in results.iter().filter(|result| result.version == number) {
                    let earlier = self.say(
                        result.id,
                        StatedOutcome {
                            by: by.clone(),
                            is_adjudicated: row.is_adjudicated,
                            question: cell.question.clone(),
                            outcome: outcome.clone(),
                            line: row.line,
                        },
                    );
                    // rows that name several results by one `ref` contradict each other only once
                    if let Some(earlier) = earlier
                        && contradicted.insert((&cell.question, earlier))
                    {
                        let question = cell.question.clone();
                        errors.add(row.line, MarkError::Contradiction { question, earlier });
                    }
                }
            }
        }
    }

    /// Records an outcome, and returns the line of an earlier row in which the person states another
    /// one.
    fn say(&mut self, result: ResultId, new: StatedOutcome) -> Option<u64> {
        let stated = self.0.entry(result).or_default();
        let mut earlier = stated.iter();
        let earlier = earlier.find(|stated| {
            stated.question == new.question
                && stated.by == new.by
                && stated.is_adjudicated == new.is_adjudicated
        });
        if let Some(earlier) = earlier {
            return (earlier.outcome != new.outcome).then_some(earlier.line);
        }
        stated.push(new);
        None
    }

    /// Number of results with at least one mark.
    pub(super) fn results(&self) -> usize {
        self.0.len()
    }

    /// The marks, in the order of the results' ids.
    pub(super) fn into_marks(self, origin: &MarkOrigin, marked_at: DateTime<Utc>) -> Vec<Mark> {
        let stated = self.0.into_iter();
        let marks = stated.flat_map(|(result, stated)| {
            stated.into_iter().map(move |stated| Mark {
                result,
                question: stated.question,
                outcome: stated.outcome,
                marked_by: stated.by,
                marked_at,
                source: origin.source,
                note: origin.note.clone(),
                is_adjudicated: stated.is_adjudicated,
            })
        });
        marks.collect()
    }
}

/// The outcome that a cell names, as an outcome of the version that answered.
fn checked(
    cell: &MarkCell,
    version: VersionNumber,
    question: Option<&Question>,
) -> Result<OutcomeKey, MarkError> {
    let Some(question) = question else {
        let question = cell.question.clone();
        return Err(MarkError::NoQuestion { question, version });
    };
    named(question, &cell.outcome).ok_or_else(|| MarkError::NoOutcome {
        question: cell.question.clone(),
        name: cut(&cell.outcome),
        version,
        outcomes: listed(question),
    })
}

/// The outcome that a cell names. A label that looks like a formula is also accepted as our own csv
/// and tsv write it: with a single quote before it.
fn named(question: &Question, cell: &str) -> Option<OutcomeKey> {
    mark::outcome_named(question, cell).or_else(|| {
        let label = cell.trim().strip_prefix('\'')?;
        let is_guarded = label.starts_with(['=', '+', '-', '@']);
        mark::outcome_named(question, label).filter(|_| is_guarded)
    })
}

/// The beginning of a cell, without control characters.
fn cut(cell: &str) -> String {
    let plain = cell.trim().chars().filter(|c| !c.is_control());
    let mut beginning: String = plain.clone().take(LONGEST_NAME).collect();
    if plain.count() > LONGEST_NAME {
        beginning.push('…');
    }
    beginning
}

/// The keys of a question's outcomes as a readable list.
fn listed(question: &Question) -> String {
    let outcomes = mark::outcomes(question);
    let keys = outcomes.clone().map(|outcome| outcome.key);
    let mut keys: Vec<_> = keys.take(MOST_OUTCOMES).collect();
    if outcomes.count() > MOST_OUTCOMES {
        keys.push("…");
    }
    keys.join(", ")
}

/// An answered result that can be marked.
#[derive(Clone, Copy)]
pub(super) struct AnsweredResult {
    pub(super) id: ResultId,
    /// The version that answered.
    pub(super) version: VersionNumber,
}

/// The results that the rows of a file name.
pub(super) struct NamedResults {
    /// `None` for a failed result.
    by_id: HashMap<ResultId, Option<VersionNumber>>,
    by_ref: HashMap<Ref, Vec<AnsweredResult>>,
}

impl NamedResults {
    /// Looks up the ids of all rows in batches. If any row names a `ref`, reads the prism's results
    /// with a `ref` once.
    pub(super) async fn find(
        database: &Database,
        prism: &Prism,
        rows: &[MarksRow],
    ) -> Result<Self, PersistenceError> {
        let mut ids = BTreeSet::new();
        let mut by_ref: HashMap<Ref, Vec<AnsweredResult>> = HashMap::new();
        for row in rows {
            match &row.named {
                NamedResult::Id(id) => {
                    ids.insert(*id);
                }
                NamedResult::Ref(reference) => {
                    by_ref.entry(reference.clone()).or_default();
                }
            }
        }
        let mut by_id = HashMap::with_capacity(ids.len());
        let ids: Vec<_> = ids.into_iter().collect();
        for some in ids.chunks(IDS) {
            let finding = database.find_markable_results(prism.account, prism.id, some.to_vec());
            for found in finding.await? {
                by_id.insert(found.id, found.is_ok.then_some(found.version));
            }
        }
        if !by_ref.is_empty() {
            find_refs(database, prism, &mut by_ref).await?;
        }
        Ok(Self { by_id, by_ref })
    }

    /// The answered results that a row names, at least one.
    pub(super) fn of(&self, named: &NamedResult) -> Result<Vec<AnsweredResult>, MarkError> {
        match named {
            NamedResult::Id(id) => match self.by_id.get(id) {
                None => Err(MarkError::UnknownResult),
                Some(None) => Err(MarkError::FailedResult),
                Some(Some(version)) => Ok(vec![AnsweredResult {
                    id: *id,
                    version: *version,
                }]),
            },
            NamedResult::Ref(reference) => {
                let found = self.by_ref.get(reference);
                let found = found.filter(|results| !results.is_empty());
                found.cloned().ok_or(MarkError::UnknownRef)
            }
        }
    }

    /// The versions that answered any of the results.
    pub(super) fn versions(&self) -> BTreeSet<VersionNumber> {
        let by_ref = self.by_ref.values().flatten();
        let by_ref = by_ref.map(|result| result.version);
        self.by_id
            .values()
            .flatten()
            .copied()
            .chain(by_ref)
            .collect()
    }
}

async fn find_refs(
    database: &Database,
    prism: &Prism,
    by_ref: &mut HashMap<Ref, Vec<AnsweredResult>>,
) -> Result<(), PersistenceError> {
    let mut last = None;
    loop {
        let page = database.list_results_with_ref(prism.account, prism.id, last, REFS);
        let page = page.await?;
        let Some(end) = page.last() else {
            return Ok(());
        };
        last = Some(end.id);
        for result in page {
            let MarkableResult {
                id,
                reference,
                version,
                is_ok,
            } = result;
            let named = reference.and_then(|reference| by_ref.get_mut(&reference));
            if let Some(results) = named.filter(|_| is_ok) {
                results.push(AnsweredResult { id, version });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(options: usize) -> Question {
        let options: Vec<_> = (0..options)
            .map(|n| format!(r#"{{ "key": "o{n}", "label": "-Option {n}" }}"#))
            .collect();
        let options = options.join(",");
        serde_json::from_str(&format!(
            r#"{{ "key": "topic", "type": "choice", "text": "?", "options": [{options}] }}"#
        ))
        .unwrap()
    }

    #[test]
    fn a_label_is_known_as_csv_writes_it() {
        let question = question(2);
        let key = |cell| named(&question, cell).map(|key| key.to_string());
        assert_eq!(key("-Option 1").as_deref(), Some("o1"));
        assert_eq!(key(" '-Option 1").as_deref(), Some("o1"));
        assert_eq!(key("'o1"), None);
        assert_eq!(key("''-Option 1"), None);
    }

    #[test]
    fn an_error_is_short_whatever_the_cell_holds() {
        let cell = |outcome: &str| MarkCell {
            question: QuestionKey::parse("topic").unwrap(),
            outcome: outcome.to_owned(),
        };
        let error = |outcome: &str, options| {
            let question = question(options);
            let checked = checked(&cell(outcome), VersionNumber::FIRST, Some(&question));
            checked.unwrap_err().to_string()
        };
        assert_eq!(
            error(" a\u{1b}[31m\nb ", 2),
            "topic: 'a[31mb' is no outcome in version 1, which has o0, o1, other, \
             insufficient_information"
        );
        let long = error(&"漢".repeat(5_000), 253);
        assert!(long.contains(&format!("'{}…' is no", "漢".repeat(40))));
        assert!(long.ends_with("o18, o19, …"), "{long}");
        let gone = checked(&cell("a"), VersionNumber::FIRST, None).unwrap_err();
        assert_eq!(
            gone.to_string(),
            "topic: version 1, which answered, has no such question"
        );
    }
}
