//! The cost of a run: the model requests of the rows without an answer.
//!
//! The thread that reads the file sends rows in small batches, and each batch is looked up by its
//! idempotency keys. So memory does not grow with the file.

use refract_domain::submission::IdempotencyKey;
use refract_service::CallError;
use refract_service::model::CostEstimate;
use refract_service::runs::PinnedPrism;
use tokio::sync::mpsc;

/// Upper bound on the rows of a batch: one query looks up the answered ones.
const MOST_ROWS: usize = 128;
/// Number of batches in the queue for the lookup.
const AHEAD: usize = 4;

/// The cost of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunPrice {
    /// Rows with an answer from an earlier run.
    pub(crate) answered_before: u64,
    /// Requests to the model for the other rows; second attempts do not count.
    pub(crate) requests: u64,
    /// Estimated tokens of those requests.
    pub(crate) tokens: u64,
}

/// A row that the model may be asked about.
struct PricedRow {
    key: IdempotencyKey,
    cost: CostEstimate,
}

/// Gathers the rows of a file into batches.
pub(crate) struct PricedRows {
    rows: Vec<PricedRow>,
    batches: mpsc::Sender<Vec<PricedRow>>,
}

/// The batches of rows to price.
pub(crate) struct PricedBatches(mpsc::Receiver<Vec<PricedRow>>);

/// Creates both ends of a channel: a blocking thread puts rows into the first.
pub(crate) fn priced_rows() -> (PricedRows, PricedBatches) {
    let (batches, receiver) = mpsc::channel(AHEAD);
    let rows = PricedRows {
        rows: Vec::with_capacity(MOST_ROWS),
        batches,
    };
    (rows, PricedBatches(receiver))
}

impl PricedRows {
    /// Adds a row. Returns whether the price is still needed.
    pub(crate) fn add(&mut self, key: IdempotencyKey, cost: CostEstimate) -> bool {
        self.rows.push(PricedRow { key, cost });
        self.rows.len() < MOST_ROWS || self.send()
    }

    /// Sends the last batch.
    pub(crate) fn end(mut self) {
        self.send();
    }

    fn send(&mut self) -> bool {
        let batch = std::mem::replace(&mut self.rows, Vec::with_capacity(MOST_ROWS));
        self.batches.blocking_send(batch).is_ok()
    }
}

impl PricedBatches {
    /// Looks up the answered rows and sums the cost of the others.
    pub(crate) async fn price(mut self, prism: &PinnedPrism) -> Result<RunPrice, CallError> {
        let mut price = RunPrice::default();
        while let Some(batch) = self.0.recv().await {
            let keys: Vec<_> = batch.iter().map(|row| row.key.clone()).collect();
            let answered = prism.find_answered_keys(&keys).await?;
            for PricedRow { key, cost } in batch {
                if answered.contains(&key) {
                    price.answered_before += 1;
                } else {
                    price.requests += widened(cost.requests);
                    price.tokens += widened(cost.tokens);
                }
            }
        }
        Ok(price)
    }
}

fn widened(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
