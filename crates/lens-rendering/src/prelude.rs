//! Everything needed to render results, for one `use` line: the renderer, and the types of
//! `refract-domain` and `chrono` that it takes. A program that renders needs neither of the two in its
//! manifest.

pub use chrono::{DateTime, Utc};
pub use refract_domain::answer::matching::AnswersMismatch;
pub use refract_domain::answer::probability::Probability;
pub use refract_domain::answer::{Answer, Answers, Distribution};
pub use refract_domain::ids::ResultId;
pub use refract_domain::json::Malformed;
pub use refract_domain::key::{ColumnName, FieldKey, OutcomeKey, QuestionKey};
pub use refract_domain::lens::cutoffs::{Cutoff, Cutoffs, YesNoLabel};
pub use refract_domain::lens::{Average, Column, Lens, Output, Value};
pub use refract_domain::prism::field::Field;
pub use refract_domain::prism::question::{Outcome, Question, QuestionKind, QuestionType};
pub use refract_domain::prism::{PrismVersion, VersionNumber};
pub use refract_domain::problem::{Problem, Problems, ValidationError};
pub use refract_domain::result::ResultStatus;
pub use refract_domain::result::view::{AnswersView, ResultView, RowColumns};
pub use refract_domain::submission::{FieldMismatch, FieldValues, SentFields};

pub use crate::{Format, RawResult, RawResultError, RowFormat, RowWriter, cell_text, render};
