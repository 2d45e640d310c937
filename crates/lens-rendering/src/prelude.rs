//! Everything needed to render results, for one `use` line: the renderer, and the types of
//! `refract-domain` for prism versions, lenses and results. A program that uses them needs no other
//! entry for `refract-domain` in its manifest.

pub use refract_domain::answer::matching::AnswersMismatch;
pub use refract_domain::answer::probability::Probability;
pub use refract_domain::answer::{Answer, Answers, Distribution};
pub use refract_domain::ids::ResultId;
pub use refract_domain::key::{ColumnName, FieldKey, OutcomeKey, QuestionKey};
pub use refract_domain::lens::cutoffs::{Cutoff, Cutoffs};
pub use refract_domain::lens::{Column, Lens, Output};
pub use refract_domain::prism::field::Field;
pub use refract_domain::prism::question::{Outcome, Question, QuestionKind, QuestionType};
pub use refract_domain::prism::{PrismVersion, VersionNumber};
pub use refract_domain::problem::{Problem, Problems, ValidationError};
pub use refract_domain::result::ResultStatus;
pub use refract_domain::result::view::{ResultView, RowColumns};
pub use refract_domain::submission::{FieldMismatch, FieldValues, SentFields};

pub use crate::{Format, RawResult, RawResultError, RowFormat, RowWriter, cell_text, render};
