//! Files of texts whose right answers are known.

pub(crate) mod cells;
pub(crate) mod run;
