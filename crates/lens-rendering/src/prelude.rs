//! Everything needed to render results, for one `use` line: the renderer, and the types of
//! `refract-domain` for prism versions, lenses and results.

pub use refract_domain::answer::probability::Probability;
pub use refract_domain::answer::{Answer, Answers};
pub use refract_domain::ids::ResultId;
pub use refract_domain::key::{ColumnName, FieldKey, OutcomeKey, QuestionKey};
pub use refract_domain::lens::cutoffs::Cutoffs;
pub use refract_domain::lens::{Column, Lens, Output};
pub use refract_domain::prism::field::Field;
pub use refract_domain::prism::question::{Outcome, Question, QuestionKind};
pub use refract_domain::prism::{PrismVersion, VersionNumber};
pub use refract_domain::result::ResultStatus;
pub use refract_domain::result::view::{ResultView, RowColumns};
pub use refract_domain::submission::FieldValues;

pub use crate::{Format, RowFormat, RowWriter, render};
