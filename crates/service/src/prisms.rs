//! Prisms and their lenses: what operators and people do to them.

mod apply;
mod change;
mod definition;
mod draft;
mod earlier;
mod find;
mod history;
mod lens;
mod list;
mod meanwhile;
mod overview;
mod planned_definition;
mod refusal;
mod repeat;
mod save;

pub use self::apply::{Apply, ApplyRefusal, apply};
pub use self::change::{rename, set_archived};
pub use self::definition::{AppliedDefinition, ApplyOutcome, DefinitionFault, DefinitionFile};
pub use self::draft::VersionDraft;
pub use self::find::{find, find_lens, find_version};
pub use self::history::{ChangeOfPrism, PrismChange, history};
pub use self::lens::{reset_lens, set_lens};
pub use self::list::{ListedPrism, list};
pub use self::meanwhile::{SavedMeanwhile, saved_meanwhile};
pub use self::overview::{
    COMPARED_VERSIONS, PrismOverview, VersionOverview, overview, version_overview,
};
pub use self::refusal::PrismRefusal;
pub use self::repeat::repeats_version_before;
pub use self::save::{create, save_version};
