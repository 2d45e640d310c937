//! One turn: reads of any and of late results, creates and pages against one database, by several callers at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::Utc;
use refract_domain::answer::{Answer, Answers};
use refract_domain::call::IdempotencyKey;
use refract_domain::ids::ResultId;
use refract_domain::key::{FieldKey, QuestionKey};
use refract_domain::prism::VersionNumber;
use refract_domain::probability::Probability;
use refract_domain::result::{ResultStatus, SavedResult};
use refract_domain::submission::{FieldValues, Submission};
use refract_persistence::{Database, NewResult, Provenance, ResultFilter, ResultOrder};
use uuid::Uuid;

use crate::filling::Filled;
use crate::processor;

/// Callers at once.
const CALLERS: u64 = 8;
/// Reads of each caller in a turn, of each kind.
const READS: u64 = 250;
/// The latest results, which are read most.
const LATE: u64 = 10_000;
/// Creates of each caller in a turn.
const CREATES: u64 = 30;
/// Reads before anything is measured, at most.
const WARM_UP: u64 = 400_000;
/// Results of a page, as an export asks for them.
const PAGE: u32 = 500;
/// Pages of a turn.
const PAGES: u64 = 6;

/// How fast one kind of call went.
pub(crate) struct Rate {
    pub(crate) a_second: f64,
    pub(crate) p99_ms: f64,
    /// Calls, and the hundredths of a second of processor time that all of them took.
    pub(crate) calls: u64,
    pub(crate) processor: u64,
}

impl Rate {
    /// Processor time of one call, in microseconds.
    pub(crate) fn processor_us(&self) -> f64 {
        let number = |count: u64| f64::from(u32::try_from(count).unwrap());
        number(self.processor) * 10_000.0 / number(self.calls)
    }
}

/// What one turn showed.
pub(crate) struct Turn {
    /// Of any result.
    pub(crate) reads: Rate,
    /// Of one of the latest.
    pub(crate) late_reads: Rate,
    pub(crate) creates: Rate,
    pub(crate) exported_a_second: f64,
}

/// Reads for a while, so that every connection has met most of the pages that there are: the first
/// touch of each costs a page fault, once in the life of a connection, which in a node is long.
pub(crate) async fn warm_up(filled: &Filled) {
    let reads = (filled.results / 3).min(WARM_UP);
    let ids = (0..reads).map(|n| filled.id(scattered(n)));
    read(filled, ids.collect()).await;
}

impl Turn {
    pub(crate) async fn take(filled: &Filled, turn: usize) -> Self {
        let seed = u64::try_from(turn).unwrap() * 7_919;
        let numbers = (0..CALLERS * READS).map(|n| scattered(seed + n));
        let any = numbers.clone().map(|n| filled.id(n)).collect();
        let reads = read(filled, any).await;
        let before_late = filled.results.saturating_sub(LATE);
        let late = numbers.map(|n| filled.id(before_late + n % LATE)).collect();
        let late_reads = read(filled, late).await;
        let new = (0..CALLERS * CREATES).map(|_| new_result(filled));
        let creates = run(
            filled,
            new.collect(),
            |database, new: NewResult| async move {
                database.save_result(&new).await.unwrap();
            },
        );
        Self {
            reads,
            late_reads,
            creates: creates.await,
            exported_a_second: export(filled, seed).await,
        }
    }

    /// Keeps of each figure the better one, and of processor time the sum.
    pub(crate) fn keep_the_better(&mut self, other: &Self) {
        for (mine, other) in [
            (&mut self.reads, &other.reads),
            (&mut self.late_reads, &other.late_reads),
            (&mut self.creates, &other.creates),
        ] {
            mine.a_second = mine.a_second.max(other.a_second);
            mine.p99_ms = mine.p99_ms.min(other.p99_ms);
            mine.calls += other.calls;
            mine.processor += other.processor;
        }
        self.exported_a_second = self.exported_a_second.max(other.exported_a_second);
    }
}

/// Numbers that follow no order.
fn scattered(number: u64) -> u64 {
    number * 2_654_435_761 % (1 << 40)
}

async fn read(filled: &Filled, ids: Vec<ResultId>) -> Rate {
    let hash = filled.key.hash;
    run(filled, ids, move |database, id| async move {
        let found = database.find_result_call(&hash, id).await.unwrap();
        assert!(found.unwrap().result.is_some(), "it is there");
    })
    .await
}

/// Does the work with so many callers between the threads, each of which takes every so-manieth
/// piece.
async fn run<W, F>(
    filled: &Filled,
    work: Vec<W>,
    call: impl Fn(Database, W) -> F + Clone + Send + Sync + 'static,
) -> Rate
where
    W: Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (callers, threads) = (usize::try_from(CALLERS).unwrap(), filled.callers.count());
    let work = Arc::new(work);
    let of_thread = |thread: usize| {
        let (work, call) = (Arc::clone(&work), call.clone());
        move |database: Database| async move {
            let callers = (thread..callers).step_by(threads).map(|caller| {
                let (work, database, call) = (Arc::clone(&work), database.clone(), call.clone());
                tokio::spawn(async move {
                    let mut took = Vec::new();
                    for piece in work.iter().skip(caller).step_by(callers) {
                        let begin = Instant::now();
                        call(database.clone(), piece.clone()).await;
                        took.push(begin.elapsed());
                    }
                    took
                })
            });
            let callers: Vec<_> = callers.collect();
            let mut took = Vec::new();
            for caller in callers {
                took.extend(caller.await.unwrap());
            }
            took
        }
    };
    let (begin, before) = (Instant::now(), processor::time(filled.server));
    let mut took: Vec<Duration> = filled.callers.run(of_thread).await.concat();
    let elapsed = begin.elapsed();
    let processor = processor::time(filled.server).saturating_sub(before);
    took.sort_unstable();
    let slow = took.get(took.len() * 99 / 100).copied().unwrap_or_default();
    let calls = u64::try_from(took.len()).unwrap();
    Rate {
        a_second: f64::from(u32::try_from(calls).unwrap()) / elapsed.as_secs_f64(),
        p99_ms: slow.as_secs_f64() * 1_000.0,
        calls,
        processor,
    }
}

async fn export(filled: &Filled, seed: u64) -> f64 {
    let mut after = filled.id(seed * 13);
    let (mut rows, begin) = (0, Instant::now());
    for _ in 0..PAGES {
        let page = filled.database.list_results(
            filled.account,
            filled.prism.id,
            ResultFilter::default(),
            ResultOrder::OldestFirst,
            Some(after),
            PAGE,
        );
        let page = page.await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.id;
        rows += u32::try_from(page.len()).unwrap();
    }
    f64::from(rows) / begin.elapsed().as_secs_f64()
}

fn new_result(filled: &Filled) -> NewResult {
    let id = Uuid::now_v7();
    let answer = Answer::YesNo {
        probability: Probability::from_f64(0.25).unwrap(),
    };
    let answers = Answers::new(vec![(QuestionKey::parse("angry").unwrap(), answer)]);
    let field = (
        FieldKey::parse("text").unwrap(),
        "Where is my order?".repeat(12),
    );
    NewResult {
        account: filled.account,
        api_key: Some(filled.key.id),
        retry_of: None,
        provenance: Provenance {
            protocol: Some("systemone".to_owned()),
            model: Some("jev-1.13.0".to_owned()),
            prompt_version: None,
            input_tokens: Some(318),
            output_tokens: Some(34),
            requests: Some(1),
            attempts: Some(1),
        },
        result: SavedResult {
            id: ResultId(id),
            prism: filled.prism.id,
            version: VersionNumber::FIRST,
            reference: None,
            submission: Submission::saved(FieldValues(vec![field]), None),
            status: ResultStatus::Ok(answers),
            took_ms: 700,
            created_at: Utc::now(),
            idempotency_key: Some(IdempotencyKey::parse(&id.to_string()).unwrap()),
        },
    }
}
