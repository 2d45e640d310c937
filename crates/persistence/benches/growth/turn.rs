//! One turn: reads, creates and pages against one database, by several callers at once.

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
use refract_persistence::{Database, NewResult, Provenance, ResultFilter};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::filling::Filled;
use crate::processor;

/// Callers at once.
const CALLERS: u64 = 8;
/// Reads of each caller in a turn.
const READS: u64 = 250;
/// Creates of each caller in a turn.
const CREATES: u64 = 30;
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
    pub(crate) reads: Rate,
    pub(crate) creates: Rate,
    pub(crate) exported_a_second: f64,
}

impl Turn {
    pub(crate) async fn take(filled: &Filled, turn: usize) -> Self {
        let seed = u64::try_from(turn).unwrap() * 7_919;
        let hash = filled.key.hash;
        let ids = (0..CALLERS * READS).map(|n| filled.id((seed + n) * 2_654_435_761 % (1 << 40)));
        let reads = run(
            filled,
            ids.collect(),
            move |database, id: ResultId| async move {
                let found = database.find_result_call(&hash, id).await.unwrap();
                assert!(found.unwrap().result.is_some(), "it is there");
            },
        );
        let reads = reads.await;
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
            creates: creates.await,
            exported_a_second: export(filled, seed).await,
        }
    }

    /// Keeps of each figure the better one, and of processor time the sum.
    pub(crate) fn keep_the_better(&mut self, other: &Self) {
        for (mine, other) in [
            (&mut self.reads, &other.reads),
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

/// Does the work with so many callers, each of which takes every so-manieth piece.
async fn run<W, F>(
    filled: &Filled,
    work: Vec<W>,
    call: impl Fn(Database, W) -> F + Clone + Send + Sync + 'static,
) -> Rate
where
    W: Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send,
{
    let (total, work) = (work.len(), Arc::new(work));
    let mut callers = JoinSet::new();
    let (begin, before) = (Instant::now(), processor::time(filled.server));
    for caller in 0..usize::try_from(CALLERS).unwrap() {
        let (work, database, call) = (Arc::clone(&work), filled.database.clone(), call.clone());
        callers.spawn(async move {
            let mut took = Vec::new();
            for piece in work
                .iter()
                .skip(caller)
                .step_by(usize::try_from(CALLERS).unwrap())
            {
                let begin = Instant::now();
                call(database.clone(), piece.clone()).await;
                took.push(begin.elapsed());
            }
            took
        });
    }
    let mut took: Vec<Duration> = callers.join_all().await.into_iter().flatten().collect();
    let elapsed = begin.elapsed();
    let processor = processor::time(filled.server).saturating_sub(before);
    took.sort_unstable();
    let slow = took.get(total * 99 / 100).copied().unwrap_or_default();
    Rate {
        a_second: f64::from(u32::try_from(total).unwrap()) / elapsed.as_secs_f64(),
        p99_ms: slow.as_secs_f64() * 1_000.0,
        calls: u64::try_from(total).unwrap(),
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
