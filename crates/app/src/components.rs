//! The components of pages. Debug builds show them all at `/components`.

mod answer_bars;
pub(crate) mod bar;
pub(crate) mod curl;
mod definition;
pub(crate) mod differences;
mod example_state;
pub(crate) mod fault_sentence;
pub(crate) mod field;
pub(crate) mod file_run;
pub(crate) mod form_errors;
mod histogram;
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

pub(crate) use self::answer_bars::{answer_bars, bars_of, cutoffs, describe_answer};
pub(crate) use self::bar::{bar, share_bar, yes_no_bar};
pub(crate) use self::definition::{definition, fields_and_context, type_name};
pub(crate) use self::differences::{differences, differences_in_short};
pub(crate) use self::example_state::{
    answer_in_short, broken_examples, example_state, outcome_label,
};
pub(crate) use self::fault_sentence::{fault_sentence, sentence};
pub(crate) use self::field::FormField;
pub(crate) use self::file_run::{run_address, state_tag, state_words};
pub(crate) use self::form_errors::{FormErrors, at_paths, describe};
pub(crate) use self::histogram::{DrawnCutoffs, day_chart, histogram, short_percent};

pub(crate) use self::lens_change::lens_change;
pub(crate) use self::list_filters::ListFilters;
pub(crate) use self::list_pages::{
    NEWER, OLDER, TEXT_FORMATS, downloads, media_type, neighbours, output_format,
    output_media_type, page_address, page_of, row_format, table_style, table_style_choice,
};
pub(crate) use self::moment::moment;
pub(crate) use self::notice::{NoticeKind, empty_state, key_reminders, notice};
pub(crate) use self::number::{count, counted, measured_percent, percent, share, to_percent};
pub(crate) use self::prism_tabs::{AFTER_TABS, PrismTab, prism_address, prism_heading};
pub(crate) use self::table::{stacked_table, stacked_table_with, table, table_with};
pub(crate) use self::texts::{
    COPY_SCRIPT, beginning, clamped, copyable, more_characters, whole_text,
};
