//! Changes of every kind that has an event, made one by one.

use refract_domain::account::{KeyNetworks, MonthBudget, PersonName, Role, TokenHash};
use refract_domain::event::{
    Actor, Event, EventAction, EventStamp, EventTarget, LensChangeDetails,
};
use refract_domain::ids::{AccountId, PersonId, PrismId, ResultId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::lens::Lens;
use refract_domain::prism::{DisplayName, Slug};
use refract_domain::result::mark::{Annotator, Mark};
use refract_persistence::{
    AccountRow, CopiedExamples, DefinedPrism, DeletionEvent, EmailHash, EndedSessions, EventFilter,
    EventRange, ExampleSource, NewPrism, NewVersion, PasswordRow, PersistenceError, Prism,
    PrismDefinition, SignInTry, WrongTry,
};
use uuid::Uuid;

use crate::example_texts::example;
use crate::fixture::{Fixture, answered, lens_details, moment, new_key, slugs, version};
use crate::joined_people::{
    alive, email, invite, joined, link, new_person, new_session, password_of, renew,
};
use crate::sign_in_tries::{attempt, network, window};

/// Everything that the changes concern.
pub(crate) struct Things {
    pub(crate) it: Fixture,
    /// An owner who has joined.
    pub(crate) ada: PersonId,
    /// An editor who has joined and has link 3.
    pub(crate) grace: PersonId,
    /// A person who was invited by link 4.
    pub(crate) joan: PersonId,
    /// Ada's first password.
    password: PasswordRow,
    /// A sign-in try as Grace.
    tried: SignInTry,
    result: ResultId,
}

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Account,
    Budget,
    Key,
    KeyNetworks,
    Revocation,
    Prism,
    Rename,
    Archiving,
    Restoring,
    Lens,
    LensReset,
    Version,
    Definitions,
    Invitation,
    InvitationAgain,
    Link,
    SignInLink,
    SignInByLink,
    SignIn,
    SessionEnd,
    OtherSessionsEnd,
    Name,
    NewPassword,
    WrongTry,
    Joining,
    Password,
    Role,
    Removal,
    Marks,
    Example,
    Deletion,
}

impl Change {
    pub(crate) const ALL: [Self; 31] = [
        Self::Account,
        Self::Budget,
        Self::Key,
        Self::KeyNetworks,
        Self::Revocation,
        Self::Prism,
        Self::Rename,
        Self::Archiving,
        Self::Restoring,
        Self::Lens,
        Self::LensReset,
        Self::Version,
        Self::Definitions,
        Self::Invitation,
        Self::InvitationAgain,
        Self::Link,
        Self::SignInLink,
        Self::SignInByLink,
        Self::SignIn,
        Self::SessionEnd,
        Self::OtherSessionsEnd,
        Self::Name,
        Self::NewPassword,
        Self::WrongTry,
        Self::Password,
        Self::Joining,
        Self::Role,
        Self::Removal,
        Self::Marks,
        Self::Example,
        Self::Deletion,
    ];
}

impl Things {
    pub(crate) async fn new(it: Fixture) -> Self {
        let ada = joined(&it, "ada@example.com", Role::Owner, 1).await;
        let grace = joined(&it, "grace@example.com", Role::Editor, 2).await;
        assert!(renew(&it, it.account, grace, 3).await);
        let joan = invite(&it, "joan@example.com", Role::Reviewer, 4).await;
        let new = it.result(answered(), None);
        it.database.save_result(&new).await.unwrap();
        let password = password_of(&it, "ada@example.com").await.unwrap();
        let tried = attempt("grace@example.com", network("a"), 1);
        let saving = it.database.save_sign_in_try(tried.clone(), window(0, 9, 9));
        saving.await.unwrap();
        Self {
            it,
            ada,
            grace,
            joan,
            password,
            tried,
            result: new.result.id,
        }
    }

    pub(crate) async fn prism(&self) -> Prism {
        let found = self.it.database.find_prism_by_id(self.it.prism.id).await;
        found.unwrap().unwrap()
    }

    /// Makes this change with this stamp.
    #[expect(
        clippy::too_many_lines,
        reason = "it is a list: a few lines for each change"
    )]
    pub(crate) async fn make(
        &self,
        change: Change,
        stamp: EventStamp,
    ) -> Result<(), PersistenceError> {
        let (database, prism) = (&self.it.database, self.it.prism.id);
        match change {
            Change::Account => {
                let row = AccountRow {
                    id: stamp.account,
                    name: format!("account {}", stamp.account),
                    created_at: moment(0),
                };
                database.create_account(&row, stamp).await.map(drop)
            }
            Change::Budget => {
                let budget = MonthBudget::parse("200").unwrap();
                database.set_budget(Some(budget), stamp).await.map(drop)
            }
            Change::Key => {
                let key = new_key(self.it.account, 9);
                database.create_api_key(&key, stamp).await
            }
            Change::KeyNetworks => {
                let networks = KeyNetworks::parse("10.0.0.0/8 ::1").unwrap();
                let key = self.it.key.id;
                let setting = database.set_key_networks(key, networks.as_ref(), stamp);
                setting.await.map(drop)
            }
            Change::Revocation => {
                let revoking = database.revoke_api_key(self.it.key.id, stamp);
                revoking.await.map(drop)
            }
            Change::Prism => {
                let name = DisplayName::parse("Another").unwrap();
                let new = NewPrism {
                    id: PrismId::new(Uuid::now_v7()),
                    name: &name,
                    version: &version(&["angry"]),
                    stamp,
                };
                database
                    .create_prism(&new, &mut slugs("Another"))
                    .await
                    .map(drop)
            }
            Change::Rename => {
                let name = DisplayName::parse("Sorting").unwrap();
                database.rename_prism(prism, &name, stamp).await
            }
            Change::Archiving => database.set_prism_archived(prism, true, stamp).await,
            Change::Restoring => database.set_prism_archived(prism, false, stamp).await,
            Change::Lens => {
                let (read, custom) = (self.prism().await, Lens::Custom(Vec::new()));
                let saving = database.save_lens(&read, &custom, lens_details(), stamp);
                saving.await.map(drop)
            }
            Change::LensReset => {
                let read = self.prism().await;
                let details = lens_details();
                let saving = database.save_lens(&read, &Lens::Automatic, details, stamp);
                saving.await.map(drop)
            }
            Change::Version => {
                let name = DisplayName::parse("Renamed with a version").unwrap();
                let new = NewVersion {
                    name: &name,
                    version: &version(&["calm"]),
                    lens: Some((&Lens::Automatic, LensChangeDetails::between(2, &[], &[]))),
                    stamp,
                };
                let read = self.prism().await;
                database.save_version(&read, &new).await.map(drop)
            }
            Change::Definitions => self.define(stamp).await,
            Change::Invitation => {
                let new = new_person(&self.it, "kay@example.com", Role::Editor);
                database.invite_person(&new, link(5), stamp).await.map(drop)
            }
            Change::InvitationAgain => {
                let new = new_person(&self.it, "joan@example.com", Role::Owner);
                database.invite_person(&new, link(6), stamp).await.map(drop)
            }
            Change::Link => {
                let action = EventAction::LinkRenewed;
                let renewing = database.renew_link(self.joan, link(7), action, stamp);
                renewing.await.map(drop)
            }
            Change::SignInLink => {
                let action = EventAction::SignInLinkMade;
                let renewing = database.renew_link(self.ada, link(8), action, stamp);
                renewing.await.map(drop)
            }
            Change::SignInByLink => {
                let (hash, session) = (TokenHash::new([8; 32]), new_session(13));
                let beginning = database.begin_session_by_link(hash, session, stamp);
                beginning.await.map(drop)
            }
            Change::SignIn => {
                let checked = self.password.clone();
                let beginning = database.begin_session(checked, new_session(14), stamp);
                beginning.await.map(drop)
            }
            Change::SessionEnd => {
                let one = EndedSessions::One(TokenHash::new([1; 32]));
                let (ada, alive) = (self.ada, alive(0, 0));
                database.end_own_sessions(ada, one, alive, stamp).await
            }
            Change::OtherSessionsEnd => {
                let others = EndedSessions::AllBut(TokenHash::new([14; 32]));
                let (ada, alive) = (self.ada, alive(0, 0));
                database.end_own_sessions(ada, others, alive, stamp).await
            }
            Change::Name => {
                let name = PersonName::parse("Countess").unwrap();
                database.set_person_name(self.ada, &name, stamp).await
            }
            Change::NewPassword => {
                let (checked, session) = (self.password.clone(), new_session(15));
                let address = EmailHash::of(&email("ada@example.com"));
                let changing = database.change_password(checked, address, "new", session, stamp);
                changing.await.map(drop)
            }
            Change::WrongTry => {
                let wrong = WrongTry {
                    tried: self.tried.clone(),
                    refused_at: moment(2),
                    window: window(0, 9, 9),
                    stopping: 1,
                };
                let person = Some((self.grace, stamp));
                database.refuse_sign_in_try(wrong, person).await
            }
            Change::Joining => self.accept(7, 11, stamp).await,
            Change::Password => self.accept(3, 12, stamp).await,
            Change::Role => {
                let setting = database.set_person_role(self.grace, Role::Reviewer, stamp);
                setting.await.map(drop)
            }
            Change::Removal => database.remove_person(self.grace, stamp).await.map(drop),
            Change::Marks => {
                let mark = Mark {
                    result: self.result,
                    question: QuestionKey::parse("angry").unwrap(),
                    outcome: OutcomeKey::parse("yes").unwrap(),
                    marked_by: Annotator::default(),
                    marked_at: moment(1),
                    source: None,
                    note: None,
                    is_adjudicated: false,
                };
                database
                    .save_marks(prism, [mark].into(), stamp)
                    .await
                    .map(drop)
            }
            Change::Example => {
                let new = vec![example("An example")];
                let source = ExampleSource::Form;
                let saving = database.save_examples(prism, new, 9, source, stamp);
                saving.await.map(drop)
            }
            Change::Deletion => {
                let event = DeletionEvent::Ended {
                    event: stamp.event(EventAction::ResultsPurged, EventTarget::Prism(prism)),
                    before: 4,
                };
                let (ids, copied) = (vec![self.result], CopiedExamples::Kept);
                let deleting = database.delete_results(ids, copied, event);
                deleting.await.map(drop)
            }
        }
    }

    /// Makes a prism, and gives the other one a version, a name and a lens with this stamp.
    async fn define(&self, stamp: EventStamp) -> Result<(), PersistenceError> {
        let (read, slug) = (self.prism().await, Slug::parse("defined").unwrap());
        let (name, lens) = (
            DisplayName::parse("Defined").unwrap(),
            Lens::Custom(Vec::new()),
        );
        let version = version(&["calm"]);
        let made = DefinedPrism::New {
            id: PrismId::new(Uuid::now_v7()),
            slug: &slug,
        };
        let definition = |prism, lens, stamp| PrismDefinition {
            prism,
            name: &name,
            version: Some(&version),
            lens,
            stamp,
        };
        let changed = DefinedPrism::Read(&read);
        let definitions = [
            definition(made, None, self.it.stamp_of(self.ada, 20)),
            definition(changed, Some((&lens, lens_details())), stamp),
        ];
        let saving = self.it.database.save_definitions(&definitions);
        saving.await.map(drop)
    }

    pub(crate) async fn accept(
        &self,
        byte: u8,
        session: u8,
        stamp: EventStamp,
    ) -> Result<(), PersistenceError> {
        let name = PersonName::parse("Somebody").unwrap();
        let (hash, session) = (TokenHash::new([byte; 32]), new_session(session));
        let database = &self.it.database;
        let accepting = database.accept_invitation(hash, &name, Some("new hash"), session, stamp);
        accepting.await.map(drop)
    }

    /// The stamp of a change, by Ada unless only another person can make it.
    pub(crate) fn stamp(&self, change: Change) -> EventStamp {
        let stamp = self.it.stamp_of(self.ada, 20);
        if change == Change::Account {
            let account = AccountId::new(Uuid::now_v7());
            return EventStamp { account, ..stamp };
        }
        if change == Change::Joining {
            return self.it.stamp_of(self.joan, 20);
        }
        if change == Change::Password {
            return self.it.stamp_of(self.grace, 20);
        }
        if change == Change::WrongTry {
            let actor = Actor::Node;
            return EventStamp { actor, ..stamp };
        }
        stamp
    }

    /// The events that a change added, oldest first.
    pub(crate) async fn added(&self, change: Change) -> Vec<Event> {
        let stamp = self.stamp(change);
        let account = stamp.account;
        let before = self.events_of(account).await.len();
        self.make(change, stamp).await.unwrap();
        let mut added = self.events_of(account).await;
        added.truncate(added.len() - before);
        added.reverse();
        added
    }

    pub(crate) async fn events_of(&self, account: AccountId) -> Vec<Event> {
        let (filter, range) = (EventFilter::default(), EventRange::Newest);
        let listing = self.it.database.list_events(account, filter, range, 1_000);
        listing.await.unwrap()
    }
}
