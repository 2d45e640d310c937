//! The use cases of Refract: create, read and retry a result, and what an operator does to prisms.
//!
//! [`file_run`] asks a prism about every row of a file.
//!
//! The only place where the order of checks lives. A use case asks the domain what is right, the
//! persistence what is so and the gateway what a model says; it knows nothing of HTTP, of SQL or
//! of any model server's protocol.

pub mod api_keys;
mod ask;
mod create_result;
mod cutoff_steps;
mod export;
pub mod file_run;
mod lens_preview;
mod lens_tally;
mod metrics;
mod model_away;
mod patience;
mod prism_results;
pub mod prisms;
mod read_result;
mod readable;
mod refusal;
mod retry_failed;
mod retry_result;

use std::time::Duration;

pub use create_result::CreateCall;
pub use cutoff_steps::{CutoffStep, CutoffSteps, LabelCounts};
pub use export::{ExportError, export};
pub use lens_preview::{ColumnPreview, LensPreview};
pub use lens_tally::{CellTally, Counted};
pub use metrics::AnsweringMetrics;
pub use patience::Patience;
pub use prism_results::PrismResults;
pub use readable::ReadableResult;
use refract_model_gateway::Model;
use refract_persistence::Database;
pub use refusal::{InternalError, Refusal};
pub use retry_failed::{Retried, RetryFailed, RetryStop};

use crate::api_keys::KeyUses;

/// How long whoever asks whether a node is ready is kept waiting.
const MOMENT: Duration = Duration::from_secs(3);

/// The use cases that callers have, with what they need.
///
/// One per worker thread, since the model's connections belong to their thread; clones are cheap.
#[derive(Clone)]
pub struct Answering {
    database: Database,
    model: Model,
    key_uses: KeyUses,
    metrics: AnsweringMetrics,
    patience: Patience,
}

impl Answering {
    /// The use cases over a database and this thread's connections to the model.
    pub fn new(
        database: Database,
        model: Model,
        key_uses: KeyUses,
        metrics: AnsweringMetrics,
    ) -> Self {
        Self {
            database,
            model,
            key_uses,
            metrics,
            patience: Patience::default(),
        }
    }

    /// The same with another patience than the default.
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// Whether the database answers, and does so in a moment.
    pub async fn is_ready(&self) -> bool {
        let ping = tokio::time::timeout(MOMENT, self.database.ping());
        matches!(ping.await, Ok(Ok(())))
    }
}
