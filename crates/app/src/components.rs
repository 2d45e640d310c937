//! The components of pages. Debug builds show them all at `/components`.

pub(crate) mod answer_bars;
pub(crate) mod bar;
pub(crate) mod curl;
pub(crate) mod definition;
pub(crate) mod differences;
pub(crate) mod example_state;
pub(crate) mod fault_sentence;
pub(crate) mod field;
pub(crate) mod file_run;
pub(crate) mod form_errors;
pub(crate) mod histogram;
pub(crate) mod key_reminders;
pub(crate) mod lens_change;
pub(crate) mod list_filters;
pub(crate) mod list_pages;
pub(crate) mod moment;
pub(crate) mod notice;
pub(crate) mod number;
pub(crate) mod plot;
pub(crate) mod prism_tabs;
pub(crate) mod report;
pub(crate) mod retest;
pub(crate) mod table;
pub(crate) mod texts;
