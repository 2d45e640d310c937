//! The limits of the specification's section 8: this file alone defines these numbers.
//!
//! Lengths count Unicode code points.

use std::ops::RangeInclusive;

/// Longest value of one field, and of `text` (spec 8).
pub const FIELD_VALUE_CHARS: usize = 100_000;
/// Longest `context` of one call (spec 8).
pub const CALL_CONTEXT_CHARS: usize = 100_000;
/// The highest token estimate of one question with its text (spec 8).
pub const TOKEN_BUDGET: usize = 26_000;
/// Characters of JSON for each estimated token (spec 8).
pub const CHARS_PER_TOKEN: usize = 4;
/// Largest request body in bytes: 1 MiB (spec 8).
pub const BODY_BYTES: usize = 1_048_576;
/// Length of a `ref` after trimming (spec 8).
pub const REF_CHARS: RangeInclusive<usize> = 1..=200;
/// Length of an `idempotency_key` after trimming (spec 8).
pub const IDEMPOTENCY_KEY_CHARS: RangeInclusive<usize> = 1..=200;
/// Highest version number (spec 8).
pub const VERSION_MAX: i32 = i32::MAX;
/// Longest `{prism}` in a path (spec 8), which bounds slugs too.
pub const PRISM_PATH_CHARS: usize = 64;
/// Longest context of a prism (spec 8).
pub const PRISM_CONTEXT_CHARS: usize = 8_000;
/// Fields of one prism (spec 8).
pub const FIELDS: RangeInclusive<usize> = 1..=8;
/// Questions of one prism (spec 8).
pub const QUESTIONS: RangeInclusive<usize> = 1..=100;
/// Options of one Choice question, without the built-in outcomes (spec 8).
pub const OPTIONS: RangeInclusive<usize> = 2..=253;
/// Levels of one Scale question (spec 8).
pub const LEVELS: RangeInclusive<usize> = 2..=10;
/// Longest key of a field, question, option or level (spec 2.2).
pub const KEY_CHARS: usize = 64;
/// Length of names and labels after trimming (readings).
pub const LABEL_CHARS: RangeInclusive<usize> = 1..=200;
/// Length of a question's text (readings).
pub const QUESTION_TEXT_CHARS: RangeInclusive<usize> = 1..=8_000;
/// Longest instructions of a question (readings).
pub const INSTRUCTIONS_CHARS: usize = 8_000;
/// Longest description of an option or level (readings).
pub const DESCRIPTION_CHARS: usize = 8_000;
/// Longest name of a lens column (readings).
pub const COLUMN_NAME_CHARS: usize = 80;
/// Columns of one custom lens (readings).
pub const LENS_COLUMNS: RangeInclusive<usize> = 1..=300;
