//! The arguments that say which results of a prism a command is about.

use clap::{Args, ValueEnum};
use refract_persistence::ResultFilter;

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

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Status {
    Ok,
    Failed,
}

impl FilterArgs {
    pub(super) fn filter(&self) -> ResultFilter {
        ResultFilter {
            is_ok: self.status.map(|status| status == Status::Ok),
            ..self.period.filter()
        }
    }
}
