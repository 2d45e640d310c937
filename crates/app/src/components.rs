//! The components of pages. Debug builds show them all at `/components`.

mod bars;
pub(crate) mod curl;
pub(crate) mod definition;
mod example_state;
mod form_fields;
mod lists;
pub(crate) mod notice;
mod plots;
mod prism_tabs;
mod readable;
pub(crate) mod report;

pub(crate) use self::bars::{
    answer_bars, bar, bars_of, cutoffs, describe_answer, interval_bar, proportion_range, share_bar,
    yes_no_bar,
};
pub(crate) use self::definition::{
    definition, differences, differences_in_short, fields_and_context, lens_change, type_name,
};
pub(crate) use self::example_state::{
    answer_in_short, broken_examples, example_state, outcome_label,
};
pub(crate) use self::form_fields::{FormErrors, FormField, at_paths, describe};
pub(crate) use self::lists::{
    ListFilters, NEWER, OLDER, TEXT_FORMATS, downloads, media_type, neighbours, output_format,
    output_media_type, page_address, page_of, row_format, stacked_table, stacked_table_with, table,
    table_style, table_style_choice, table_with,
};
pub(crate) use self::notice::{
    NoticeKind, empty_state, fault_sentence, key_reminders, notice, sentence,
};
pub(crate) use self::plots::{DrawnCutoffs, Plot, PlotAxis, day_chart, histogram, short_percent};
pub(crate) use self::prism_tabs::{
    AFTER_TABS, PrismTab, RETEST_TITLE, STATE, asked_version, left_out, price, prism_address,
    prism_heading, retest_address, retest_tag, retests_address, run_address, state_tag,
    state_words,
};
pub(crate) use self::readable::{
    COPY_SCRIPT, beginning, clamped, copyable, count, counted, fitting, in_short, measured_percent,
    moment, more_characters, percent, share, to_percent, whole_text, with_moments,
};
pub(crate) use self::report::{label, marks_noun, report, report_table, without_outcome};
