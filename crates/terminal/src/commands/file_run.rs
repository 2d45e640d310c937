//! Shared by commands that ask about every row of a file: arguments, progress, stopping and
//! reports.

mod arguments;
mod input_errors;
pub(crate) mod report;
mod watching;

pub(crate) use self::arguments::{AskedPrism, FileRunArgs};
pub(crate) use self::input_errors::{refused, stopped};
pub(crate) use self::watching::{check_watched, pace, stop, watched};
