//! Events: records of what was changed in an account, by whom and when. An event is never changed
//! or deleted.
//!
//! An event contains names, numbers and ids. It never contains texts, contexts, refs, passwords,
//! keys, tokens, or people's names and addresses: people and keys appear as ids.
//! Its action is what was done in the account.

mod actor;
mod detail;

use std::fmt;

use chrono::{DateTime, Utc};

use crate::ids::{AccountId, EventId};

pub use self::actor::{Actor, ActorKind, EventRequest, EventTarget, TargetKind};
pub use self::detail::{EventDetail, LensChangeDetails};

/// Actor, account, moment and request of a change: an event without its action and target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventStamp {
    /// `UUIDv7`; events are ordered by it.
    pub id: EventId,
    /// The account that is changed.
    pub account: AccountId,
    /// The moment of the change.
    pub at: DateTime<Utc>,
    /// Who makes the change.
    pub actor: Actor,
    /// The request that makes the change; `None` for commands and for nodes.
    pub request: Option<EventRequest>,
    /// The actor's reason for the change; `None` when none was given.
    pub note: Option<EventDetail>,
}

/// A change in an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The actor, moment, request and note of the change.
    pub stamp: EventStamp,
    /// What was done.
    pub action: EventAction,
    /// The prism, key, person or account that was changed.
    pub target: EventTarget,
    /// The target's earlier state, if it is a name or a number.
    pub from: Option<EventDetail>,
    /// The target's new state, if it is a name or a number.
    pub to: Option<EventDetail>,
}

impl EventStamp {
    /// An event with this stamp and neither an earlier nor a new state.
    pub fn event(self, action: EventAction, target: EventTarget) -> Event {
        Event {
            stamp: self,
            action,
            target,
            from: None,
            to: None,
        }
    }

    /// The stamp for another event of one change: its id directly follows this one's, and it has no
    /// note.
    #[must_use]
    pub fn further(&self) -> Self {
        Self {
            id: self.id.just_after(),
            note: None,
            ..self.clone()
        }
    }

    /// The stamp with a note, appended to the existing one if there is one.
    #[must_use]
    pub fn noted(self, note: impl Into<EventDetail>) -> Self {
        let note = note.into();
        let note = match self.note {
            None => note,
            Some(earlier) => earlier.and(&note),
        };
        Self {
            note: Some(note),
            ..self
        }
    }
}

macro_rules! actions {
    ($($(#[$doc:meta])* $action:ident = $name:literal, $words:literal;)*) => {
        /// An action in an account. The names are stable: they are saved, exported and read by
        /// programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventAction {
            $($(#[$doc])* $action,)*
            /// An action of a newer version of this program, since nodes of both versions may share
            /// a database. It is read and never saved.
            Unknown,
        }

        impl EventAction {
            /// Every action of this version.
            pub const ALL: &'static [Self] = &[$(Self::$action,)*];

            /// The action's name in snake case, such as `lens_set`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$action => $name,)*
                    Self::Unknown => "unknown",
                }
            }

            /// The action in words that follow the actor's name, such as `changed the lens`.
            pub const fn label(self) -> &'static str {
                match self {
                    $(Self::$action => $words,)*
                    Self::Unknown => "did what only a newer version knows",
                }
            }
        }
    };
}

actions! {
    /// An account was made.
    AccountCreated = "account_created", "made the account";
    /// The account's budget for a month was set or removed.
    BudgetSet = "budget_set", "set the budget";
    /// A share of the month's budget was used: 80 % or all of it.
    BudgetReached = "budget_reached", "saw the budget being used";
    /// Everything that an account has was exported.
    AccountExported = "account_exported", "exported the account";
    /// An import of an exported account began.
    AccountImportStarted = "account_import_started", "began to import an account";
    /// An exported account was imported.
    AccountImported = "account_imported", "imported an account";
    /// A prism was made, with its first version.
    PrismCreated = "prism_created", "made the prism";
    /// The next version of a prism was saved.
    VersionSaved = "version_saved", "saved a version";
    /// A prism got another name.
    PrismRenamed = "prism_renamed", "renamed the prism";
    /// A prism was archived.
    PrismArchived = "prism_archived", "archived the prism";
    /// An archived prism was restored.
    PrismRestored = "prism_restored", "restored the prism";
    /// A prism's columns or cutoffs were changed.
    LensSet = "lens_set", "changed the lens";
    /// A prism returned to the automatic lens.
    LensReset = "lens_reset", "reset the lens";
    /// An example text was added to a prism.
    ExampleAdded = "example_added", "added an example";
    /// The expected outcomes or the note of an example text were changed.
    ExampleChanged = "example_changed", "changed an example";
    /// An example text was removed from a prism.
    ExampleRemoved = "example_removed", "removed an example";
    /// A file of example texts was added to a prism.
    ExamplesUploaded = "examples_uploaded", "uploaded examples";
    /// The example texts of a prism were downloaded.
    ExamplesExported = "examples_exported", "exported examples";
    /// Example texts were erased on request.
    ExamplesErased = "examples_erased", "erased examples";
    /// An API key was made.
    KeyCreated = "key_created", "made the key";
    /// The networks or the end of an API key were changed.
    KeyChanged = "key_changed", "changed the key";
    /// An API key was revoked.
    KeyRevoked = "key_revoked", "revoked the key";
    /// A person was invited.
    PersonInvited = "person_invited", "invited the person";
    /// A link for choosing a password was made for a person.
    LinkRenewed = "link_renewed", "made a new link";
    /// A link that signs in without a password was made for a person.
    SignInLinkMade = "sign_in_link_made", "made a link that signs in";
    /// A person joined through a link.
    PersonJoined = "person_joined", "joined";
    /// A person signed in by a provider for the first time, and is known by it from then on.
    ProviderLinked = "provider_linked", "signed in by the provider for the first time";
    /// A person was removed.
    PersonRemoved = "person_removed", "removed the person";
    /// A person's role was changed.
    RoleSet = "role_set", "set the role";
    /// A person chose another name.
    NameSet = "name_set", "chose another name";
    /// A person set a password through a link.
    PasswordSet = "password_set", "chose a password by a link";
    /// A person changed their password and confirmed it with the current one.
    PasswordChanged = "password_changed", "changed the password";
    /// A person switched on one-time codes.
    CodesOn = "codes_on", "switched on one-time codes";
    /// A person switched off their one-time codes.
    CodesOff = "codes_off", "switched off one-time codes";
    /// The one-time codes of a person were removed: by an owner, an operator or a link.
    CodesRemoved = "codes_removed", "removed the one-time codes";
    /// A person made new recovery codes, which replace the earlier ones.
    RecoveryCodesMade = "recovery_codes_made", "made new recovery codes";
    /// A person used a recovery code in place of a one-time code.
    RecoveryCodeUsed = "recovery_code_used", "used a recovery code";
    /// One-time codes became required or optional in an account.
    CodesRequirementSet = "codes_requirement_set", "set whether one-time codes are required";
    /// A person signed in.
    SignedIn = "signed_in", "signed in";
    /// A sign-in as a person was refused.
    SignInRefused = "sign_in_refused", "refused a sign-in";
    /// A session of a person was ended.
    SessionEnded = "session_ended", "ended a session";
    /// Results were downloaded or exported.
    ResultsExported = "results_exported", "exported results";
    /// Marks were exported.
    MarksExported = "marks_exported", "exported marks";
    /// Events were downloaded.
    EventsExported = "events_exported", "exported events";
    /// A file of marks was imported.
    MarksImported = "marks_imported", "imported marks";
    /// A purge of more than one transaction began.
    PurgeStarted = "purge_started", "began to purge results";
    /// Results were purged because of their age.
    ResultsPurged = "results_purged", "purged results";
    /// An erasure of more than one transaction began.
    ErasureStarted = "erasure_started", "began to erase results";
    /// Results were erased on request.
    ResultsErased = "results_erased", "erased results";
    /// A file was uploaded for runs.
    FileUploaded = "file_uploaded", "uploaded a file";
    /// An uploaded file was deleted. Results of its runs are kept.
    FileDeleted = "file_deleted", "deleted an uploaded file";
    /// A run of an uploaded file was made, which has yet to start.
    FileRunMade = "file_run_made", "made a file run";
    /// The state of a run of an uploaded file was changed.
    FileRunChanged = "file_run_changed", "changed a file run";
    /// A file run began to ask the model.
    FileRunStarted = "file_run_started", "started a file run";
    /// A file run ended.
    FileRunEnded = "file_run_ended", "ended a file run";
    /// A retest was started, whose texts a node will ask about.
    RetestStarted = "retest_started", "started a retest";
    /// A retest was stopped before its last text.
    RetestStopped = "retest_stopped", "stopped a retest";
    /// A retest that had ended was continued.
    RetestContinued = "retest_continued", "continued a retest";
    /// A retest ended: every text was asked about, or the model stayed away.
    RetestEnded = "retest_ended", "ended a retest";
}

impl EventAction {
    /// The action with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        let mut found = Self::ALL.iter().filter(|action| action.name() == name);
        found.next().copied()
    }
}

impl fmt::Display for EventAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_a_name_of_its_own_by_which_it_is_found() {
        for action in EventAction::ALL {
            let name = action.name();
            assert_eq!(EventAction::named(name), Some(*action), "{name}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
        }
        assert_eq!(EventAction::named("Lens_set"), None);
        assert_eq!(EventAction::named(EventAction::Unknown.name()), None);
    }
}
