//! File runs of Refract: ask a prism about every row of a file, and save each row as a result.
//!
//! [`FileRun::open`] fixes what must not change during a run: the prism, the answering version, and
//! the columns of the output. [`FileRun::check`] reads the whole file once without asking the
//! model. [`FileRun::run`] reads the file again and asks. The idempotency key of a row is a hash of
//! the run, the row's position and the row's content. So a stopped run continues when it is started
//! again: answered rows are read back, failed rows are retried.
//!
//! A [`GoldRun`] is a file run over texts with known correct answers. It hands over these answers
//! together with the results. A [`GoldFile`] is such a file as a list of texts, read and written.
//!
//! [`MarksFile`] reads files of marks: the outcomes that people judge correct.
//!
//! Without the features `parquet` and `workbooks`, files of these formats are refused with a sentence.
//!
//! This crate knows nothing of command lines, terminals, HTTP or SQL. It reaches the database and
//! the model only through the use cases of `refract-service`.

#![cfg_attr(
    not(all(feature = "parquet", feature = "workbooks")),
    allow(dead_code, reason = "what only the formats that are left out use")
)]

mod check;
mod comparison;
mod file_run;
mod gold;
mod input;
mod marks_file;
mod output;
pub mod row_schema;
mod run;
mod worker;

pub use check::{FileCheck, FileCheckError, RefusedRow, ShownRow};
pub use comparison::{ColumnComparison, CompareRunsError, ComparedRuns, DifferingRow};
pub use file_run::{FileRun, OpenRunError, RunOrder};
pub use gold::{
    ExampleFileProblem, ExpectedOutcome, GoldCheck, GoldFile, GoldFormat, GoldProblem, GoldRun,
    GoldText, WrongCell,
};
pub use input::{
    ColumnMapping, InputColumns, InputEncoding, InputError, InputFile, InputKind, InputOutline,
    InputSource, KeptOutline, MappingError, OddCells, QuoteError, SheetChoice, StoredContent,
    StoredInput, WorkbookBudget, WorkbookError, WorkbookSheets, binary_kind, outline,
    suggest_columns,
};
pub use marks_file::{MarksFile, MarksFileError, MarksFileRows};
pub use output::{
    FinishedRow, HeldOutput, HeldOutputError, MarksWorkbook, NoRowFormat, OutputFormat,
    RefusedList, RowLayout, RunSummary, TypedRows, WORKBOOK_ROWS, format_of_name,
};
pub use run::RunFiles;
pub use run::error::RunError;
pub use run::settings::ReachedLimit;
pub use run::settings::{NoShard, RunSettings, Shard};
pub use run::tally::{RunCounts, RunTally};
pub use worker::progress::CheckFacts;
pub use worker::{FileRunWorker, RUN_CONCURRENCY, StartedWorker, WorkerSettings};
