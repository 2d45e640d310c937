//! The tables of retests and of their new answers.

use super::stored::table;

table! {
    retests (id) {
        id -> Id,
        account_id -> Id,
        prism_id -> Id,
        version -> Nullable<Integer>,
        model -> Text,
        drawn -> Text,
        state -> Text,
        reason -> Nullable<Text>,
        flips -> Nullable<BigInt>,
        slot -> Nullable<Integer>,
        made_by -> Nullable<Id>,
        made_at -> Moment,
        ended_at -> Nullable<Moment>,
        changed_at -> Moment,
        lease_holder -> Nullable<Id>,
        lease_until -> Nullable<Moment>,
        fence -> BigInt,
    }
}

table! {
    retest_answers (retest_id, result_id) {
        retest_id -> Id,
        result_id -> Id,
        answers -> Nullable<Text>,
        failure -> Nullable<Text>,
    }
}
