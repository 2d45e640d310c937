//! Marks: what people say the right outcomes of saved results are, taken from the rows of a file
//! and given back as rows.
//!
//! An import checks every row before anything is saved: [`check_rows`] returns either marks that
//! are ready to be saved, or every fault. Its memory grows with the marks of the file, not with the
//! results of the prism.

mod check;
mod columns;
mod export;
mod faults;
mod find_results;
mod mark_result;
mod questions;
mod rows;
mod said;

pub use self::check::{CheckedMarks, MarksRefusal, check_rows};
pub use self::columns::{MarkedColumns, MarkedNameTaken};
pub use self::export::export_marks;
pub use self::faults::{MarkFault, MarkFaults};
pub use self::mark_result::{MarkChange, mark_result};
pub use self::questions::questions;
pub use self::rows::{MarkCell, MarksRow, NamedResult};
