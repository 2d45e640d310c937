//! What is asked of the database: a file per table or use. Knows no kind of connection, but for
//! `insert_results` and `insert_marks`: inserting many rows at once is another statement on each
//! database.
//!
//! Each method of [`Database`] is one query unless it says otherwise, written as
//! `self.read(async move |mut connection| …)` or `self.write(…)`.

mod accept_invitation;
mod accounts;
mod answer_pages;
mod api_keys;
mod cache;
mod calls;
mod candidate_range;
mod candidates;
mod database;
mod event_filter;
mod event_names;
mod events;
mod forget_results;
mod forgotten_counts;
mod held_rows;
mod insert_marks;
mod insert_results;
mod invitations;
mod leases;
mod lenses;
mod maker;
mod mark_changes;
mod mark_row;
mod markable_results;
mod marked_pages;
mod marks;
mod model_names;
mod new_result;
mod people;
mod prism_changes;
mod prism_events;
mod prism_row;
mod prism_versions;
mod prisms;
mod provenance;
mod purgeable_results;
mod result_counts;
mod result_filter;
mod result_lists;
mod result_pages;
mod result_row;
mod results;
mod save_result;
mod sessions;
mod sign_in_tries;
mod telling_events;
mod untold_changes;

pub use self::accounts::{AccountRow, Creation, DEFAULT_ACCOUNT};
pub use self::answer_pages::{AnswerPages, StoredAnswers};
pub use self::api_keys::{ApiKeyRow, NewApiKey, UncountedKeyRow};
pub use self::calls::{CreateCallRow, KeyRow, ResultCallRow};
pub use self::candidates::SearchCandidate;
pub use self::database::{Database, DatabaseSettings};
pub use self::event_filter::{EventActors, EventFilter, EventRange};
pub use self::event_names::PrismNameRow;
pub use self::forget_results::DeletionEvent;
pub use self::held_rows::HeldRows;
pub use self::invitations::{InvitationRow, Inviting, NewInvitation, NewPerson};
pub use self::maker::ResultMaker;
pub use self::markable_results::MarkableResult;
pub use self::marked_pages::{MarkedPages, MarkedResult};
pub use self::new_result::NewResult;
pub use self::people::{PersonNameRow, PersonRow, PersonWriting};
pub use self::prism_changes::{ChangeKind, PrismChangeRow, VersionRow};
pub use self::prism_row::{PrismRow, Writing};
pub use self::prism_versions::{NewVersion, PrismHistory};
pub use self::prisms::NewPrism;
pub use self::provenance::Provenance;
pub use self::purgeable_results::{PurgeRange, PurgeableResult};
pub use self::result_counts::{KeptCounts, KeyCount, NewCounts};
pub use self::result_filter::ResultFilter;
pub use self::result_lists::ResultOrder;
pub use self::result_pages::ResultPages;
pub use self::results::FoundResult;
pub use self::save_result::Saving;
pub use self::sessions::{NewSession, PasswordRow, SessionRow};
pub use self::sign_in_tries::SignInTry;
