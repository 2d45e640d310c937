//! Shared by commands that ask about every row of a file: arguments, progress, stopping and
//! reports.

mod arguments;
mod faults;
pub(crate) mod report;
mod watching;

pub(crate) use self::arguments::{AskedPrism, FileRunArgs};
pub(crate) use self::faults::{refused, stopped};
pub(crate) use self::watching::{check_watched, stop, watched};
