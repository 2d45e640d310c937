//! One-time codes: each change is made with its event or not at all, and only by the checked
//! password.

use refract_domain::account::{OneTimeSecret, Role, TokenHash};
use refract_domain::event::EventStamp;
use refract_persistence::{
    CodeProof, FinishedSignIn, NewCodes, NewPendingSignIn, OneTimeCodesRow, PasswordRow,
};
use refract_test_support::on_both;

use crate::events::events;
use crate::fixture::{Fixture, moment};
use crate::joined_people::{joined, new_session, password_of, signed_in};

on_both!(
    a_change_whose_event_cannot_be_saved_uses_no_code,
    codes_change_by_the_checked_password_alone,
);

const ADA: &str = "ada@example.com";
const SESSION: TokenHash = TokenHash::new([1; 32]);
const SECRET: OneTimeSecret = OneTimeSecret::new([1; 20]);

fn new_codes() -> NewCodes {
    NewCodes {
        secret: SECRET,
        step: 10,
        recovery: (1..=3).map(|byte| TokenHash::new([byte; 32])).collect(),
    }
}

fn step(step: i64) -> CodeProof {
    CodeProof::Step {
        secret: SECRET,
        step,
    }
}

fn pending() -> NewPendingSignIn {
    NewPendingSignIn {
        hash: TokenHash::new([50; 32]),
        created_at: moment(20),
    }
}

async fn codes(it: &Fixture, checked: &PasswordRow) -> OneTimeCodesRow {
    let found = it.database.find_one_time_codes(checked.person).await;
    found.unwrap().unwrap()
}

async fn a_change_whose_event_cannot_be_saved_uses_no_code(it: Fixture) {
    let ada = joined(&it, ADA, Role::Owner, 1).await;
    let checked = password_of(&it, ADA).await.unwrap();
    let database = &it.database;
    let taken = events(&it).await[0].stamp.id;
    let taken = || EventStamp {
        id: taken,
        ..it.stamp(30)
    };
    let begun = database.begin_codes_setup(ada, SECRET, moment(1)).await;
    assert!(begun.unwrap());
    let switching = database.switch_codes_on(checked.clone(), new_codes(), SESSION, taken());
    assert!(switching.await.is_err());
    let unfinished = codes(&it, &checked).await;
    assert_eq!((unfinished.on_since, unfinished.recovery_codes), (None, 0));
    let switching = database.switch_codes_on(checked.clone(), new_codes(), SESSION, it.stamp(30));
    assert!(switching.await.unwrap());
    let on = codes(&it, &checked).await;
    assert_eq!((on.on_since, on.recovery_codes), (Some(moment(30)), 3));

    let requiring = database.set_codes_required(true, taken());
    assert!(requiring.await.is_err());
    let are_required = database.are_codes_required(it.account).await;
    assert!(!are_required.unwrap());
    let renewing = database.renew_recovery_codes(checked.clone(), step(11), Vec::new(), taken());
    assert!(renewing.await.is_err());
    let switching = database.switch_codes_off(checked.clone(), step(11), taken());
    assert!(switching.await.is_err());
    assert!(database.remove_codes(ada, taken()).await.is_err());
    let beginning = database.begin_pending_sign_in(checked.clone(), pending(), moment(0));
    assert!(beginning.await.unwrap());
    let finished = FinishedSignIn {
        hash: pending().hash,
        begun_after: moment(10),
        person: ada,
        proof: step(11),
    };
    let finishing = database.finish_sign_in(finished, new_session(9), taken());
    assert!(finishing.await.is_err());
    assert_eq!(signed_in(&it, 9).await, None);
    assert_eq!(codes(&it, &checked).await, on);
    // the code and the sign-in are as they were
    let finishing = database.finish_sign_in(finished, new_session(9), it.stamp(40));
    assert!(finishing.await.unwrap());
    assert_eq!(signed_in(&it, 9).await, Some(ada));
    let again = database.finish_sign_in(finished, new_session(8), it.stamp(41));
    assert!(!again.await.unwrap());
}

async fn codes_change_by_the_checked_password_alone(it: Fixture) {
    let ada = joined(&it, ADA, Role::Owner, 1).await;
    let checked = password_of(&it, ADA).await.unwrap();
    let old = PasswordRow {
        hash: "an older hash".to_owned(),
        ..checked.clone()
    };
    let database = &it.database;
    let begun = database.begin_codes_setup(ada, SECRET, moment(1)).await;
    assert!(begun.unwrap());
    let early = database.begin_pending_sign_in(checked.clone(), pending(), moment(0));
    assert!(!early.await.unwrap(), "the codes are not on");
    for (row, is_done) in [(&old, false), (&checked, true)] {
        let switching = database.switch_codes_on(row.clone(), new_codes(), SESSION, it.stamp(30));
        assert_eq!(switching.await.unwrap(), is_done);
        let beginning = database.begin_pending_sign_in(row.clone(), pending(), moment(0));
        assert_eq!(beginning.await.unwrap(), is_done);
        let renewing =
            database.renew_recovery_codes(row.clone(), step(11), Vec::new(), it.stamp(31));
        assert_eq!(renewing.await.unwrap(), is_done);
    }
    let later = database.begin_codes_setup(ada, SECRET, moment(2)).await;
    assert!(!later.unwrap(), "the codes are on");
    // neither a used step nor an earlier one, nor a code of another secret
    let other = CodeProof::Step {
        secret: OneTimeSecret::new([2; 20]),
        step: 12,
    };
    for proof in [
        step(11),
        step(10),
        other,
        CodeProof::Recovery(pending().hash),
    ] {
        let switching = database.switch_codes_off(checked.clone(), proof, it.stamp(32));
        assert!(!switching.await.unwrap(), "{proof:?}");
    }
    let switching = database.switch_codes_off(old, step(12), it.stamp(33));
    assert!(!switching.await.unwrap());
    let switching = database.switch_codes_off(checked.clone(), step(12), it.stamp(34));
    assert!(switching.await.unwrap());
    let found = database.find_one_time_codes(ada).await;
    assert_eq!(found.unwrap(), None);
}
