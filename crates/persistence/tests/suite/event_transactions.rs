//! A change and its event are saved together or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use diesel::sql_types::Text;
use diesel::{Connection as _, QueryableByName, RunQueryDsl as _, SqliteConnection, sql_query};
use refract_domain::account::{Role, TokenHash};
use refract_domain::event::{Actor, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, EventId, PersonId, ResultId};
use refract_domain::lens::Lens;
use refract_persistence::{AccountRow, CopiedExamples, DeletionEvent};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::changes::{Change, Things};
use crate::events::events;
use crate::fixture::{Fixture, answered, lens_details, moment};
use crate::joined_people::{alive, link, new_person};
use crate::schemas::{postgres_client, postgres_columns, sqlite_columns};

on_both!(
    every_change_has_its_events,
    a_change_whose_event_cannot_be_saved_is_not_made,
    what_changes_nothing_has_no_event,
    of_changes_at_once_each_that_is_made_has_one_event,
    a_deletion_records_how_many_results_it_deleted,
    a_person_is_notified_of_what_somebody_else_changed,
);

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    row: String,
}

/// Every row of every table.
async fn all_rows(it: &Fixture) -> BTreeMap<String, Vec<String>> {
    let mut rows = BTreeMap::new();
    if let Some(path) = it.url.strip_prefix("sqlite://") {
        let mut connection = SqliteConnection::establish(path).unwrap();
        let mut cells: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (table, column) in sqlite_columns(&mut connection).into_keys() {
            let cell = format!("quote({column})");
            cells.entry(table).or_default().push(cell);
        }
        for (table, cells) in cells {
            let row = cells.join(" || '|' || ");
            let query = format!("SELECT {row} AS row FROM {table} ORDER BY 1");
            let found: Vec<Row> = sql_query(query).load(&mut connection).unwrap();
            rows.insert(table, found.into_iter().map(|row| row.row).collect());
        }
        return rows;
    }
    let client = postgres_client(&it.url).await;
    for (table, _) in postgres_columns(&client).await.into_keys() {
        let query = format!("SELECT t::text FROM {table} t ORDER BY 1");
        let found = client.query(&query, &[]).await.unwrap();
        rows.insert(table, found.iter().map(|row| row.get(0)).collect());
    }
    rows
}

/// The events that a change must add: action, old value, new value.
fn expected(change: Change) -> Vec<(EventAction, Option<String>, Option<String>)> {
    let entry = |action, from: &str, to: &str| {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        (action, text(from), text(to))
    };
    match change {
        Change::Account => vec![entry(EventAction::AccountCreated, "", "")],
        Change::Budget => vec![entry(EventAction::BudgetSet, "", "200")],
        Change::Key => vec![entry(EventAction::KeyCreated, "", "")],
        Change::KeyNetworks => vec![entry(
            EventAction::KeyChanged,
            "from any network",
            "from 10.0.0.0/8, ::1/128",
        )],
        Change::Revocation => vec![entry(EventAction::KeyRevoked, "", "")],
        Change::Prism => vec![entry(EventAction::PrismCreated, "", "1")],
        Change::Rename => vec![entry(EventAction::PrismRenamed, "Triage", "Sorting")],
        Change::Archiving => vec![entry(EventAction::PrismArchived, "", "")],
        Change::Restoring => vec![entry(EventAction::PrismRestored, "", "")],
        Change::Lens => vec![entry(EventAction::LensSet, "revision 0", "revision 1")],
        Change::LensReset => vec![entry(EventAction::LensReset, "revision 0", "revision 1")],
        Change::Version => vec![
            entry(EventAction::VersionSaved, "1", "2"),
            entry(
                EventAction::PrismRenamed,
                "Sorting",
                "Renamed with a version",
            ),
            entry(EventAction::LensReset, "revision 2", "revision 3"),
        ],
        Change::Definitions => vec![
            entry(EventAction::VersionSaved, "2", "3"),
            entry(
                EventAction::PrismRenamed,
                "Renamed with a version",
                "Defined",
            ),
            entry(EventAction::LensSet, "revision 0", "revision 1"),
            entry(EventAction::PrismCreated, "", "1"),
        ],
        Change::Invitation => vec![entry(EventAction::PersonInvited, "", "editor")],
        Change::InvitationAgain => vec![
            entry(EventAction::PersonInvited, "", "owner"),
            entry(EventAction::RoleSet, "reviewer", "owner"),
        ],
        Change::Link => vec![entry(EventAction::LinkRenewed, "", "")],
        Change::SignInLink => vec![entry(EventAction::SignInLinkMade, "", "")],
        Change::SignInByLink | Change::SignIn => vec![entry(EventAction::SignedIn, "", "")],
        Change::SessionEnd | Change::OtherSessionsEnd => {
            vec![entry(EventAction::SessionEnded, "", "")]
        }
        Change::Name => vec![entry(EventAction::NameSet, "", "")],
        Change::NewPassword => vec![entry(EventAction::PasswordChanged, "", "")],
        Change::WrongTry => vec![entry(EventAction::SignInRefused, "", ""); 2],
        Change::Joining => vec![entry(EventAction::PersonJoined, "", "owner")],
        Change::Password => vec![entry(EventAction::PasswordSet, "", "")],
        Change::Role => vec![entry(EventAction::RoleSet, "editor", "reviewer")],
        Change::Removal => vec![entry(EventAction::PersonRemoved, "reviewer", "")],
        Change::Marks => vec![entry(EventAction::MarksImported, "", "")],
        Change::Example => vec![entry(EventAction::ExampleAdded, "0 examples", "1 example")],
        Change::Deletion => vec![entry(EventAction::ResultsPurged, "", "")],
    }
}

async fn every_change_has_its_events(it: Fixture) {
    let things = Things::new(it).await;
    let (prism, key) = (things.it.prism.id, things.it.key.id);
    for change in Change::ALL {
        let added = things.added(change).await;
        let found: Vec<_> = added
            .iter()
            .map(|event| {
                let text = |detail: &Option<EventDetail>| detail.as_ref().map(ToString::to_string);
                let (from, to) = (text(&event.from), text(&event.to));
                (event.action, from, to)
            })
            .collect();
        assert_eq!(found, expected(change), "{change:?}");
        let target = match change {
            Change::Account | Change::Budget => EventTarget::Account(added[0].stamp.account),
            Change::KeyNetworks | Change::Revocation => EventTarget::Key(key),
            Change::Removal | Change::Role | Change::Password | Change::WrongTry => {
                EventTarget::Person(things.grace)
            }
            Change::Joining | Change::Link | Change::InvitationAgain => {
                EventTarget::Person(things.joan)
            }
            Change::SignInLink
            | Change::SignInByLink
            | Change::SignIn
            | Change::SessionEnd
            | Change::OtherSessionsEnd
            | Change::Name
            | Change::NewPassword => EventTarget::Person(things.ada),
            Change::Rename
            | Change::Archiving
            | Change::Restoring
            | Change::Lens
            | Change::LensReset
            | Change::Version
            | Change::Definitions
            | Change::Marks
            | Change::Example
            | Change::Deletion => EventTarget::Prism(prism),
            // created by the change
            Change::Key | Change::Prism | Change::Invitation => added[0].target,
        };
        let others = added.iter().filter(|event| event.target != target);
        // the prism that is created as well
        let made = usize::from(change == Change::Definitions);
        assert_eq!(others.count(), made, "{change:?}");
        assert_eq!(added[0].stamp.at, moment(20));
        let is_nodes = added[0].stamp.actor == Actor::Node;
        assert_eq!(is_nodes, change == Change::WrongTry, "{change:?}");
    }
}

async fn a_change_whose_event_cannot_be_saved_is_not_made(it: Fixture) {
    let things = Things::new(it).await;
    let taken = events(&things.it).await[0].stamp.id;
    for change in Change::ALL {
        let before = all_rows(&things.it).await;
        let stamp = EventStamp {
            id: taken,
            ..things.stamp(change)
        };
        let made = things.make(change, stamp).await;
        if change == Change::Restoring {
            // there is nothing to restore, so no event is expected
            made.unwrap();
        } else {
            let is_made = made.is_ok();
            // these need a link that an earlier change makes
            let lacks_link = matches!(change, Change::Joining | Change::SignInByLink);
            assert_eq!(is_made, lacks_link, "{change:?}");
        }
        assert_eq!(all_rows(&things.it).await, before, "{change:?}");
    }
    // each of them succeeds on its own
    for change in Change::ALL {
        assert!(!things.added(change).await.is_empty(), "{change:?}");
    }
}

async fn what_changes_nothing_has_no_event(it: Fixture) {
    let things = Things::new(it).await;
    for change in [
        Change::KeyNetworks,
        Change::Budget,
        Change::Revocation,
        Change::Rename,
        Change::Archiving,
        Change::OtherSessionsEnd,
        Change::Name,
        Change::NewPassword,
        Change::Password,
        Change::Role,
        Change::Marks,
        Change::Removal,
    ] {
        assert_eq!(things.added(change).await.len(), 1, "{change:?}");
        assert_eq!(things.added(change).await, [], "{change:?} again");
    }
    let (database, account) = (&things.it.database, things.it.account);
    let before = events(&things.it).await;
    let stranger = PersonId::new(Uuid::now_v7());
    let [one, two, three, four, five] = [1; 5].map(|_| things.it.stamp(1));
    let setting = database.set_person_role(stranger, Role::Owner, one);
    setting.await.unwrap();
    // the last owner stays
    database.remove_person(things.ada, two).await.unwrap();
    let demoting = database.set_person_role(things.ada, Role::Editor, three);
    demoting.await.unwrap();
    let again = new_person(&things.it, "ada@example.com", Role::Owner);
    database.invite_person(&again, link(9), four).await.unwrap();
    // a lens that another person has changed
    let read = things.prism().await;
    assert_eq!(things.added(Change::Lens).await.len(), 1);
    let lens = Lens::Custom(Vec::new());
    let saving = database.save_lens(&read, &lens, lens_details(), five);
    saving.await.unwrap();
    assert_eq!(events(&things.it).await.len(), before.len() + 1);
    let same_name = AccountRow {
        id: AccountId::new(Uuid::now_v7()),
        name: "tests".to_owned(),
        created_at: moment(0),
    };
    let stamp = EventStamp {
        account: same_name.id,
        ..things.it.stamp(1)
    };
    database.create_account(&same_name, stamp).await.unwrap();
    assert_eq!(things.events_of(same_name.id).await, []);
    assert_ne!(account, same_name.id);
}

async fn of_changes_at_once_each_that_is_made_has_one_event(it: Fixture) {
    let things = Arc::new(Things::new(it).await);
    for change in [
        Change::KeyNetworks,
        Change::Budget,
        Change::Revocation,
        Change::Rename,
        Change::Archiving,
        Change::SessionEnd,
        Change::Name,
        Change::NewPassword,
        Change::Password,
        Change::Role,
        Change::Removal,
    ] {
        let before = events(&things.it).await.len();
        let making = (0..8).map(|_| {
            let things = Arc::clone(&things);
            tokio::spawn(async move { things.make(change, things.stamp(change)).await.unwrap() })
        });
        for making in making.collect::<Vec<_>>() {
            making.await.unwrap();
        }
        let added = events(&things.it).await.len() - before;
        assert_eq!(added, 1, "{change:?}");
    }
    // each of these changes something: the latest version and its number are the lock
    let before = events(&things.it).await.len();
    let making = (0..8).map(|_| {
        let things = Arc::clone(&things);
        tokio::spawn(async move {
            let stamp = things.stamp(Change::Version);
            things.make(Change::Version, stamp).await.unwrap();
        })
    });
    for making in making.collect::<Vec<_>>() {
        making.await.unwrap();
    }
    let added = events(&things.it).await;
    let added = &added[..added.len() - before];
    let versions = added.iter();
    let versions = versions.filter(|event| event.action == EventAction::VersionSaved);
    let saved = things.prism().await.latest_version.get() - 1;
    assert_eq!(versions.count(), usize::try_from(saved).unwrap());
}

async fn a_deletion_records_how_many_results_it_deleted(it: Fixture) {
    let mut ids = Vec::new();
    for _ in 0..3 {
        let new = it.result(answered(), None);
        it.database.save_result(&new).await.unwrap();
        ids.push(new.result.id);
    }
    let target = EventTarget::Prism(it.prism.id);
    let event = |action| it.stamp(1).event(action, target);
    let ended = |before| DeletionEvent::Ended {
        event: event(EventAction::ResultsPurged),
        before,
    };
    let begun = || DeletionEvent::Begun(event(EventAction::PurgeStarted));
    let unknown = ResultId::new(Uuid::now_v7());
    for (ids, deletion) in [
        (vec![unknown], begun()),
        (vec![unknown], ended(0)),
        (vec![ids[0]], begun()),
        (vec![ids[1]], DeletionEvent::Elsewhere),
        (vec![ids[2], unknown], ended(2)),
    ] {
        let copied = CopiedExamples::Kept;
        let deleting = it.database.delete_results(ids, copied, deletion);
        deleting.await.unwrap();
    }
    let listed = events(&it).await;
    let entry: Vec<_> = listed[..2]
        .iter()
        .map(|event| (event.action, event.stamp.note.clone()))
        .collect();
    let number = EventDetail::counted(3, "result");
    let expected = [
        (EventAction::ResultsPurged, Some(number)),
        (EventAction::PurgeStarted, None),
    ];
    assert_eq!(entry, expected);
    assert_eq!(listed[2].action, EventAction::PrismCreated);
}

async fn a_person_is_notified_of_what_somebody_else_changed(it: Fixture) {
    let things = Things::new(it).await;
    let (database, account) = (&things.it.database, things.it.account);
    let (ada, grace) = (things.ada, things.grace);
    let unseen = async |session: u8| {
        let found = database.find_session(TokenHash::new([session; 32]), alive(0, 0));
        found.await.unwrap().unwrap().first_unseen_event
    };
    let seen = async |person, up_to| database.save_seen(account, person, up_to).await.unwrap();
    let set = async |person, role, by| {
        let stamp = things.it.stamp_of(by, 30);
        let id = stamp.id;
        let setting = database.set_person_role(person, role, stamp).await;
        setting.unwrap();
        id
    };
    assert_eq!((unseen(1).await, unseen(2).await), (None, None));
    let first = set(grace, Role::Owner, ada).await;
    let second = set(grace, Role::Editor, ada).await;
    set(grace, Role::Editor, ada).await;
    assert_eq!(unseen(2).await, Some(first), "the first is kept");
    assert_eq!(unseen(1).await, None);
    seen(grace, first).await;
    assert_eq!(unseen(2).await, Some(second), "came after what was shown");
    seen(grace, first).await;
    seen(ada, second).await;
    assert_eq!(unseen(2).await, Some(second));
    seen(grace, second).await;
    assert_eq!(unseen(2).await, None);
    // a person's own changes are not announced to them
    set(grace, Role::Owner, ada).await;
    seen(grace, set(grace, Role::Reviewer, grace).await).await;
    assert_eq!(unseen(2).await, None);
    assert_eq!(things.added(Change::NewPassword).await.len(), 1);
    assert_eq!(things.added(Change::Name).await.len(), 1);
    assert_eq!(unseen(15).await, None);
    // link 3 is an operator's
    assert_eq!(things.added(Change::Password).await.len(), 1);
    assert!(unseen(12).await.is_some());
    seen(grace, EventId::new(Uuid::max())).await;
    let own = things.it.stamp_of(grace, 40);
    let renewing = database.renew_link(grace, link(13), EventAction::LinkRenewed, own);
    assert!(renewing.await.unwrap());
    let stamp = things.it.stamp_of(grace, 40);
    things.accept(13, 14, stamp).await.unwrap();
    assert_eq!(unseen(14).await, None);
    // changes before they joined are not announced: they never had another role
    assert_eq!(things.added(Change::Link).await.len(), 1);
    set(things.joan, Role::Editor, ada).await;
    assert_eq!(things.added(Change::Joining).await.len(), 1);
    assert_eq!(unseen(11).await, None);
}
