//! The components of pages, one file each. Debug builds show them all at `/components`.

pub(crate) mod answer_bars;
pub(crate) mod bar;
pub(crate) mod clamped;
pub(crate) mod copyable;
pub(crate) mod curl;
pub(crate) mod day_chart;
pub(crate) mod definition;
pub(crate) mod describe_answer;
pub(crate) mod differences;
pub(crate) mod empty_state;
pub(crate) mod fault_sentence;
pub(crate) mod field;
pub(crate) mod form_errors;
pub(crate) mod histogram;
pub(crate) mod interval_bar;
pub(crate) mod list_filters;
pub(crate) mod list_pages;
pub(crate) mod moment;
pub(crate) mod notice;
pub(crate) mod number;
pub(crate) mod plot;
pub(crate) mod prism_tabs;
pub(crate) mod share_bar;
pub(crate) mod table;
pub(crate) mod whole_text;
