//! Drafts of people: kept until they are saved or discarded, and never overwritten by an older tab.

use futures_util::future::join_all;
use refract_domain::account::{Email, Role};
use refract_domain::ids::{PersonId, PrismId};
use refract_identity::people::AccountActor;
use refract_service::drafts::{DraftKind, DraftOutcome, DraftPlace, DraftRevision, StoredDraft};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::Fixture;

on_both!(
    a_draft_is_kept_by_person_prism_and_kind,
    an_older_tab_overwrites_nothing_and_gets_the_present_draft,
    a_discarded_draft_is_not_brought_back_by_a_late_request,
    of_many_changes_of_one_revision_one_is_saved,
    a_text_that_is_sent_twice_is_saved,
    a_draft_of_a_removed_person_fails_without_a_row,
);

async fn place(it: &Fixture, email: &str) -> DraftPlace {
    let operator = AccountActor::operator(it.account);
    let email = Email::parse(email).unwrap();
    let inviting = it.refract.people().invite(&operator, &email, Role::Editor);
    DraftPlace {
        person: inviting.await.unwrap().person,
        prism: Some(PrismId::new(Uuid::from_u128(7))),
        kind: DraftKind::Version,
    }
}

async fn save(it: &Fixture, place: DraftPlace, seen: DraftRevision, text: &str) -> DraftOutcome {
    let drafts = it.refract.drafts();
    drafts.save(place, seen, text.to_owned()).await.unwrap()
}

async fn find(it: &Fixture, place: DraftPlace) -> StoredDraft {
    it.refract.drafts().find(place).await.unwrap()
}

fn text(draft: &StoredDraft) -> Option<&str> {
    draft.content.as_ref().map(|content| content.text.as_str())
}

fn saved(outcome: DraftOutcome) -> DraftRevision {
    match outcome {
        DraftOutcome::Saved(revision) => revision,
        DraftOutcome::Meanwhile(draft) => panic!("{draft:?}"),
    }
}

async fn a_draft_is_kept_by_person_prism_and_kind(it: Fixture) {
    let ada = place(&it, "ada@example.com").await;
    let bob = place(&it, "bob@example.com").await;
    let places = [
        ada,
        bob,
        DraftPlace { prism: None, ..ada },
        DraftPlace {
            kind: DraftKind::Lens,
            ..ada
        },
    ];
    for (place, words) in places.iter().zip(["a", "b 🦊", "new", "lens"]) {
        assert_eq!(find(&it, *place).await, StoredDraft::default());
        saved(save(&it, *place, DraftRevision::default(), words).await);
    }
    for (place, words) in places.iter().zip(["a", "b 🦊", "new", "lens"]) {
        assert_eq!(text(&find(&it, *place).await), Some(words));
    }
}

async fn an_older_tab_overwrites_nothing_and_gets_the_present_draft(it: Fixture) {
    let ada = place(&it, "ada@example.com").await;
    let first = saved(save(&it, ada, DraftRevision::default(), "one").await);
    let second = saved(save(&it, ada, first, "two").await);
    for seen in [DraftRevision::default(), first] {
        let DraftOutcome::Meanwhile(present) = save(&it, ada, seen, "older").await else {
            panic!("an older tab was saved");
        };
        assert_eq!((text(&present), present.revision), (Some("two"), second));
    }
    saved(save(&it, ada, second, "three").await);
}

async fn a_discarded_draft_is_not_brought_back_by_a_late_request(it: Fixture) {
    let ada = place(&it, "ada@example.com").await;
    let first = saved(save(&it, ada, DraftRevision::default(), "one").await);
    let drafts = it.refract.drafts();
    let discarded = saved(drafts.discard(ada, first).await.unwrap());
    assert!(matches!(
        save(&it, ada, first, "late").await,
        DraftOutcome::Meanwhile(StoredDraft { content: None, .. })
    ));
    let found = find(&it, ada).await;
    assert_eq!((text(&found), found.revision), (None, discarded));
    saved(save(&it, ada, discarded, "anew").await);
    assert_eq!(text(&find(&it, ada).await), Some("anew"));
}

async fn of_many_changes_of_one_revision_one_is_saved(it: Fixture) {
    let ada = place(&it, "ada@example.com").await;
    let mut seen = DraftRevision::default();
    for round in 0..5 {
        let texts: Vec<_> = (0..8).map(|number| format!("{round} {number}")).collect();
        let saves = texts.iter().map(|text| save(&it, ada, seen, text));
        let outcomes = join_all(saves).await;
        let won = outcomes.iter().zip(&texts).filter_map(|(outcome, text)| {
            let DraftOutcome::Saved(revision) = outcome else {
                return None;
            };
            Some((*revision, text.as_str()))
        });
        let won: Vec<_> = won.collect();
        let found = find(&it, ada).await;
        assert_eq!(won, [(found.revision, text(&found).unwrap())]);
        seen = found.revision;
    }
}

async fn a_text_that_is_sent_twice_is_saved(it: Fixture) {
    let ada = place(&it, "ada@example.com").await;
    let first = saved(save(&it, ada, DraftRevision::default(), "one").await);
    let again = saved(save(&it, ada, DraftRevision::default(), "one").await);
    assert_eq!(again, first);
    let discarded = saved(it.refract.drafts().discard(ada, again).await.unwrap());
    let late = save(&it, ada, first, "one").await;
    assert!(matches!(late, DraftOutcome::Meanwhile(_)), "{late:?}");
    assert_eq!(find(&it, ada).await.revision, discarded);
}

async fn a_draft_of_a_removed_person_fails_without_a_row(it: Fixture) {
    let nobody = DraftPlace {
        person: PersonId::new(Uuid::from_u128(9)),
        prism: None,
        kind: DraftKind::Version,
    };
    let drafts = it.refract.drafts();
    let saving = drafts.save(nobody, DraftRevision::default(), "x".to_owned());
    assert!(saving.await.is_err());
    assert_eq!(find(&it, nobody).await, StoredDraft::default());
}
