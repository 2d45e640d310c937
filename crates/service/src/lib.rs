//! The use cases of Refract: create, read and retry a result, and what an operator does to prisms,
//! API keys and results.
//!
//! This is the only place where the order of checks lives. A use case asks the domain what is
//! allowed, the database what is stored and the gateway what a model answers. It knows nothing of
//! HTTP, SQL or the protocols of model servers.
//!
//! A call has three forms here: a [`CreateCall`] is what the caller sent, each value valid; a
//! `CheckedCall` passed every check; a `NewResult` is what the database saves. The caller gets a
//! [`ReadableResult`], the saved result with everything that its formats need.

pub mod api_keys;
mod ask_and_save;
mod authentication;
mod caller;
mod checked_call;
mod column_value;
pub mod comparison;
mod create_result;
pub mod evaluation;
mod event_stamp;
pub mod events;
pub mod examples;
mod export;
mod export_event;
mod failure_threshold;
mod file_rows;
mod first_calls;
pub mod forgetting;
mod lens_draft;
mod made_by;
pub mod marks;
mod metrics;
mod option_orders;
mod order_check;
pub mod people;
mod presented_key;
mod prism_lens;
mod prism_results;
pub mod prisms;
mod read_result;
mod readable_result;
mod refract;
mod refusal;
pub mod result_counts;
mod result_details;
pub mod result_search;
mod retry_failed;
mod retry_result;
mod save_backoff;
mod secrets;
mod trial;
mod versions;

pub use ask_and_save::AnsweredCall;
pub use caller::{Caller, Maker};
pub use column_value::{
    ColumnNotSearchable, ColumnValue, SearchableColumn, SearchableValue, searchable_columns,
};
pub use create_result::CreateCall;
pub use event_stamp::event_stamp;
pub use export::{ExportError, export, export_chunks};
pub use failure_threshold::failure_threshold;
pub use file_rows::{HeldRow, PinnedPrism, RowAnswering, RunFacts, RunRows, UnansweredRow};
pub use first_calls::FirstCalls;
pub use lens_draft::{DRAFT_RESULTS, DRAFT_ROWS, DraftCell, DraftRow, LensDraft};
pub use made_by::made_by;
pub use metrics::{ServiceMetrics, register_database, register_model};
pub use option_orders::{OptionOrders, OrdersAsking, OrdersReport, OrdersStop, QuestionInOrders};
pub use order_check::{AnswerInOrder, ChoiceInOrders, OrderCheck, OrderCheckCost};
pub use presented_key::{CallKeyId, PresentedKey};
pub use prism_lens::PrismLens;
pub use prism_results::{PrismResults, newest_answered};
pub use readable_result::ReadableResult;
pub use refract::Refract;
// the app reads what a prism is, and knows no database
pub use refract_persistence::{PrismRow, Provenance, ResultOrder};
// file runs hand these through, and know neither the gateway nor the database
pub use refract_model_gateway::{CostEstimate, Estimator, ModelGateway, ModelReport};
pub use refusal::{InternalError, Refusal};
pub use result_details::ResultDetails;
pub use retry_failed::{Retried, RetryFailed, RetryStop};
pub use save_backoff::SaveBackoff;
pub use secrets::SecretFailed;
pub use trial::{DraftTrialCost, TRIAL_TEXTS, TrialFailure, TrialPair};
