//! Lenses: read, changed, and drafted over saved results.

pub(crate) mod change;
pub(crate) mod count;
pub(crate) mod draft;
mod history;
pub(crate) mod prism_lens;

pub use self::change::LensSaveOutcome;
pub use self::draft::{
    DRAFT_RESULTS, DRAFT_ROWS, DraftCell, DraftRows, LensDraft, LensDraftRow, LensSample,
    SampledResult,
};
pub use self::history::{LensHistory, LensState, LensStateOrigin};
pub use self::prism_lens::PrismLens;
use crate::Refract;

/// The use cases of lenses, from [`Refract::lenses`](crate::Refract::lenses).
#[derive(Clone, Copy)]
pub struct Lenses<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Lenses, and drafts of lenses.
    pub fn lenses(&self) -> Lenses<'_> {
        Lenses { refract: self }
    }
}
