//! Changes of marks: each person's mark beside those of others, and which of them counts. The table
//! `marks` has the one that counts, so that its readers need no rule; `other_marks` has the others.
//! And questions of results that a person could not decide.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::upsert::excluded;
use refract_boxed_futures::boxed;
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::{Abstention, Annotator, Mark, MarkNote, Marker, QuestionMarks};

use crate::connections::{Transaction, for_no_key_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::marks::insert::{MarkTable, save_rows};
use crate::queries::marks::row::{MarkRow, SavedMarkColumns, marker, other_mark};
use crate::schema::sql_types::Bind;
use crate::schema::{abstentions, marks, other_marks, results};

/// Number of results whose marks are changed at once.
const AT_ONCE: usize = 1_000;

/// A mark of a person that is withdrawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithdrawnMark {
    /// The marked question.
    pub question: QuestionKey,
    /// Who made the mark.
    pub by: Annotator,
    /// Whether it is the mark with which the person settled a disagreement.
    pub is_adjudicated: bool,
}

/// A change of the marks of one question of one result.
enum Edit {
    Save(Mark),
    Withdraw(WithdrawnMark),
}

/// The mark of a result and question that counts, and those beside it, as they are saved.
type SavedMarks = (Option<Mark>, Vec<Mark>);

/// The edits of the questions of one result.
type Edits = BTreeMap<QuestionKey, Vec<Edit>>;

#[boxed]
impl Database {
    /// Saves marks of a prism's results, which are in the order of their ids, all or none, in one
    /// transaction, and returns how many are new or [change](Mark::changes) the person's saved ones.
    /// If anything changes, an event of the import is saved too.
    ///
    /// # Errors
    /// When a result no longer exists, or the database fails.
    pub async fn save_marks(
        &self,
        prism: PrismId,
        marks: Arc<[Mark]>,
        stamp: EventStamp,
    ) -> Result<usize, PersistenceError> {
        self.begin(async move |mut tx| {
            let (mut rest, mut changed) = (&*marks, 0);
            while !rest.is_empty() {
                let edits = next_edits(&mut rest);
                changed += edit(&mut tx, prism, edits).await?;
            }
            if changed > 0 {
                add_event(&mut tx, imported(prism, changed, stamp)).await?;
            }
            tx.commit().await?;
            Ok(changed)
        })
        .await
    }

    /// Saves marks of one result and withdraws people's marks of some of its questions. A mark that
    /// does not [change](Mark::changes) the saved one leaves it as it is. Abstentions from these
    /// questions are withdrawn too.
    ///
    /// One transaction, and one at a time for each result: of two concurrent changes, the later one
    /// sees everything that the earlier one did.
    ///
    /// # Errors
    /// When the result of a mark no longer exists, or the database fails. Nothing was changed then.
    pub async fn change_marks(
        &self,
        prism: PrismId,
        result: ResultId,
        saved: &[Mark],
        withdrawn: &[WithdrawnMark],
    ) -> Result<(), PersistenceError> {
        let mut edits = Edits::new();
        for withdrawn in withdrawn {
            let of_question = edits.entry(withdrawn.question.clone()).or_default();
            of_question.push(Edit::Withdraw(withdrawn.clone()));
        }
        for mark in saved {
            let of_question = edits.entry(mark.question.clone()).or_default();
            of_question.push(Edit::Save(mark.clone()));
        }
        let questions = saved.iter().map(|mark| &mark.question);
        let questions = questions.chain(withdrawn.iter().map(|it| &it.question));
        let questions: BTreeSet<String> = questions.map(ToString::to_string).collect();
        self.begin(async move |mut tx| {
            edit(&mut tx, prism, BTreeMap::from([(result, edits)])).await?;
            for question in questions {
                let abstention = abstentions::table.find((Bind(result), question));
                on!(tx, execute(diesel::delete(abstention)))?;
            }
            Ok(tx.commit().await?)
        })
        .await
    }
}

/// The edits that save the marks of the next results, which it takes from the `rest`.
fn next_edits(rest: &mut &[Mark]) -> BTreeMap<ResultId, Edits> {
    let results = rest.chunk_by(|one, next| one.result == next.result);
    let count = results.take(AT_ONCE).map(<[Mark]>::len).sum();
    let (some, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
    *rest = after;
    let mut edits: BTreeMap<ResultId, Edits> = BTreeMap::new();
    for mark in some {
        let of_result = edits.entry(mark.result).or_default();
        let of_question = of_result.entry(mark.question.clone()).or_default();
        of_question.push(Edit::Save(mark.clone()));
    }
    edits
}

/// The event of an import that changed this many marks.
fn imported(prism: PrismId, changed: usize, stamp: EventStamp) -> Event {
    let number = u64::try_from(changed).unwrap_or(u64::MAX);
    let stamp = stamp.noted(EventDetail::counted(number, "mark"));
    stamp.event(EventAction::MarksImported, EventTarget::Prism(prism))
}

/// Carries out the edits of a few thousand results, and returns how many marks are new or changed.
async fn edit(
    tx: &mut Transaction,
    prism: PrismId,
    edits: BTreeMap<ResultId, Edits>,
) -> Result<usize, PersistenceError> {
    let mut changed = 0;
    let ids: Vec<ResultId> = edits.keys().copied().collect();
    let mut saved = lock_marks(tx, &ids).await?;
    let mut rows = ChangedRows::default();
    for (result, questions) in edits {
        for (question, edits) in questions {
            let before = saved
                .remove(&(result, question.clone()))
                .unwrap_or_default();
            let (counting, beside) = before.clone();
            let mut after = QuestionMarks::new(counting, beside);
            for edit in edits {
                match edit {
                    Edit::Save(mark) => changed += usize::from(after.add(mark)),
                    Edit::Withdraw(it) => after.withdraw(&it.by, it.is_adjudicated),
                }
            }
            rows.add(prism, (result, &question), before, after);
        }
    }
    rows.save(tx).await?;
    Ok(changed)
}

/// Locks the marks of some results against concurrent changes, and reads them. Retries of the
/// results do not wait.
async fn lock_marks(
    tx: &mut Transaction,
    ids: &[ResultId],
) -> Result<HashMap<(ResultId, QuestionKey), SavedMarks>, PersistenceError> {
    let ids = || ids.iter().copied().map(Bind).collect::<Vec<_>>();
    let locked = results::table.filter(results::id.eq_any(ids()));
    let locked = locked.order(results::id).select(results::id);
    let _: Vec<ResultId> = on!(tx, load(for_no_key_update(locked)))?;
    let query = marks::table.filter(marks::result_id.eq_any(ids()));
    let counting: Vec<SavedMarkColumns> = on!(tx, load(query) as SavedMarkColumns)?;
    let query = other_marks::table
        .filter(other_marks::result_id.eq_any(ids()))
        .order(other_marks::marked_at)
        .select(other_mark());
    let beside: Vec<SavedMarkColumns> = on!(tx, load(query))?;
    let mut found: HashMap<_, SavedMarks> = HashMap::new();
    for columns in beside {
        let mark = Mark::try_from(columns)?;
        let key = (mark.result, mark.question.clone());
        found.entry(key).or_default().1.push(mark);
    }
    for columns in counting {
        let mark = Mark::try_from(columns)?;
        let key = (mark.result, mark.question.clone());
        found.entry(key).or_default().0 = Some(mark);
    }
    Ok(found)
}

/// The rows of marks that edits change.
#[derive(Default)]
struct ChangedRows {
    counting: Vec<MarkRow>,
    beside: Vec<MarkRow>,
    /// The results and questions that no mark is left of.
    unmarked: Vec<(ResultId, String)>,
    /// The keys of marks that stand beside no longer.
    gone: Vec<(ResultId, String, String)>,
}

impl ChangedRows {
    fn add(
        &mut self,
        prism: PrismId,
        (result, question): (ResultId, &QuestionKey),
        (counted, stood): SavedMarks,
        after: QuestionMarks,
    ) {
        let (counting, beside) = after.split();
        match &counting {
            Some(mark) if counting != counted => self.counting.push(MarkRow::new(prism, mark)),
            None if counted.is_some() => self.unmarked.push((result, question.to_string())),
            Some(_) | None => {}
        }
        let new = beside.iter().filter(|mark| !stood.contains(mark));
        self.beside
            .extend(new.map(|mark| MarkRow::new(prism, mark)));
        let keys: BTreeSet<String> = beside.iter().map(marker).collect();
        let gone = stood.iter().map(marker).filter(|key| !keys.contains(key));
        let gone = gone.map(|key| (result, question.to_string(), key));
        self.gone.extend(gone);
    }

    async fn save(self, tx: &mut Transaction) -> Result<(), PersistenceError> {
        save_rows(tx, MarkTable::Counting, self.counting).await?;
        save_rows(tx, MarkTable::Beside, self.beside).await?;
        for (result, question) in self.unmarked {
            let row = marks::table.find((Bind(result), question));
            on!(tx, execute(diesel::delete(row)))?;
        }
        for (result, question, marker) in self.gone {
            let row = other_marks::table.find((Bind(result), question, marker));
            on!(tx, execute(diesel::delete(row)))?;
        }
        Ok(())
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = abstentions)]
struct SavedAbstentionColumns {
    result_id: ResultId,
    question: String,
    abstained_by: Option<String>,
    abstained_at: DateTime<Utc>,
    note: Option<String>,
}

#[boxed]
impl Database {
    /// Saves that a person could not decide a question of a prism's result. An earlier abstention
    /// is replaced, and a mark stays.
    ///
    /// # Errors
    /// When the result no longer exists, or the database fails.
    pub async fn save_abstention(
        &self,
        prism: PrismId,
        abstention: Abstention,
    ) -> Result<(), PersistenceError> {
        let row = (
            abstentions::result_id.eq(Bind(abstention.result)),
            abstentions::question.eq(abstention.question.to_string()),
            abstentions::prism_id.eq(Bind(prism)),
            abstentions::abstained_by.eq(abstention.abstained_by.map(|name| name.to_string())),
            abstentions::abstained_at.eq(Bind(abstention.abstained_at)),
            abstentions::note.eq(abstention.note.map(|note| note.to_string())),
        );
        let insert = diesel::insert_into(abstentions::table)
            .values(row)
            .on_conflict((abstentions::result_id, abstentions::question))
            .do_update()
            .set((
                abstentions::abstained_by.eq(excluded(abstentions::abstained_by)),
                abstentions::abstained_at.eq(excluded(abstentions::abstained_at)),
                abstentions::note.eq(excluded(abstentions::note)),
            ));
        self.execute(insert).await?;
        Ok(())
    }

    /// Withdraws an abstention, if there is one.
    pub async fn withdraw_abstention(
        &self,
        result: ResultId,
        question: &QuestionKey,
    ) -> Result<(), PersistenceError> {
        let gone = abstentions::table.find((Bind(result), question.to_string()));
        self.execute(diesel::delete(gone)).await?;
        Ok(())
    }

    /// The questions of several results that people could not decide, in no particular order. A few
    /// thousand results at most.
    pub async fn list_abstentions_of(
        &self,
        results: Vec<ResultId>,
    ) -> Result<Vec<Abstention>, PersistenceError> {
        let results: Vec<_> = results.into_iter().map(Bind).collect();
        let query = abstentions::table.filter(abstentions::result_id.eq_any(results));
        load_as!(self, query, SavedAbstentionColumns).await
    }
}

impl TryFrom<SavedAbstentionColumns> for Abstention {
    type Error = PersistenceError;

    fn try_from(columns: SavedAbstentionColumns) -> Result<Self, PersistenceError> {
        let column = "abstentions.question";
        let question = QuestionKey::parse(&columns.question);
        Ok(Self {
            result: columns.result_id,
            question: question.map_err(|_| PersistenceError::Unreadable { column })?,
            abstained_by: columns.abstained_by.map(Marker::saved),
            abstained_at: columns.abstained_at,
            note: columns.note.map(MarkNote::saved),
        })
    }
}
