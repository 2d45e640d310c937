//! The output of a run: its format, and the rows in the order of the file.

pub(crate) mod finished_rows;
pub(crate) mod held_output;
pub(crate) mod parquet_rows;
pub(crate) mod row_layout;
