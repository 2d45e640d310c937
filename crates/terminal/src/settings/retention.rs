//! The retention period of results.

use std::num::NonZeroU32;

use clap::Args;
use refract_service::Refract;
use refract_service::retention::RetentionRounds;

use crate::arguments::{self, OnOrOff};

/// How long results are kept.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Results")]
pub struct RetentionArgs {
    /// Days after which results are purged in the background [default: never]
    #[arg(long, env = "REFRACT_RETENTION_DAYS", value_name = "DAYS", value_parser = arguments::days::<NonZeroU32>)]
    retention_days: Option<NonZeroU32>,

    /// `on` skips the check of the clock and of the share of results in the first round of purging
    /// after the start
    ///
    /// For retention that was just switched on or shortened, where most results are to go.
    #[arg(
        long,
        env = "REFRACT_RETENTION_UNCHECKED",
        default_value = "off",
        value_name = "ON_OR_OFF"
    )]
    retention_unchecked: OnOrOff,
}

impl RetentionArgs {
    /// The rounds of purging; `None` if results are kept forever.
    pub fn rounds(self, refract: &Refract) -> Option<RetentionRounds> {
        let rounds = refract.retention().rounds(self.retention_days?);
        Some(match self.retention_unchecked {
            OnOrOff::On => rounds.with_unchecked_first_round(),
            OnOrOff::Off => rounds,
        })
    }
}
