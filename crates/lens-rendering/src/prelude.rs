//! Everything needed to render results, for one `use` line: the renderer, and the types of
//! `refract-domain` and `chrono` that it takes. A program that renders needs neither of the two in its
//! manifest.

pub use chrono::{DateTime, Utc};
pub use refract_domain::answer::{Answer, Answers, AnswersMismatch, Distribution, Probability};
pub use refract_domain::ids::ResultId;
pub use refract_domain::json::Malformed;
pub use refract_domain::key::{ColumnName, FieldKey, OutcomeKey, QuestionKey};
pub use refract_domain::lens::{Average, Column, Cutoff, Cutoffs, Lens, Output, Value, YesNoLabel};
pub use refract_domain::prism::{
    Field, Outcome, PrismVersion, Question, QuestionKind, QuestionType, VersionNumber,
};
pub use refract_domain::problem::{Problem, Problems, ValidationError};
pub use refract_domain::result::{AnswersView, ResultStatus, ResultView, RowColumns};
pub use refract_domain::submission::{FieldMismatch, FieldValues, SentFields};

pub use crate::{Format, RawResult, RawResultError, RowFormat, RowWriter, cell_text, render};
