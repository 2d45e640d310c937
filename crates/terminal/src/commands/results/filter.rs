//! The arguments that select results of a prism.

use clap::{Args, ValueEnum};
use refract_service::results::ResultFilter;

use super::super::period::PeriodArgs;

/// The arguments that choose results by status and time.
#[derive(Args)]
pub(super) struct FilterArgs {
    /// Only results that are `ok`, or only `failed` ones
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,

    #[command(flatten)]
    period: PeriodArgs,
}

/// The status of results.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Status {
    /// The model answered every question.
    Ok,
    /// The model gave no usable answer.
    Failed,
}

impl Status {
    pub(super) fn is_ok(self) -> bool {
        self == Self::Ok
    }
}

impl FilterArgs {
    pub(super) fn filter(&self) -> ResultFilter {
        ResultFilter {
            is_ok: self.status.map(Status::is_ok),
            ..self.period.filter()
        }
    }
}
