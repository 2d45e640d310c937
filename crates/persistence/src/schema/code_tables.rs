//! The tables of one-time codes.

use super::stored::table;
use crate::schema::{accounts, invitations, people, provider_sessions, sessions};

table! {
    one_time_codes (person_id) {
        person_id -> Id,
        secret -> Binary,
        created_at -> Moment,
        on_since -> Nullable<Moment>,
        last_step -> BigInt,
    }
}

table! {
    recovery_codes (person_id, hash) {
        person_id -> Id,
        hash -> Binary,
    }
}

table! {
    pending_sign_ins (hash) {
        hash -> Binary,
        person_id -> Id,
        created_at -> Moment,
        tries -> Integer,
    }
}

diesel::allow_tables_to_appear_in_same_query!(one_time_codes, people);
diesel::allow_tables_to_appear_in_same_query!(one_time_codes, provider_sessions);
diesel::allow_tables_to_appear_in_same_query!(one_time_codes, accounts);
diesel::allow_tables_to_appear_in_same_query!(one_time_codes, sessions);
diesel::allow_tables_to_appear_in_same_query!(one_time_codes, invitations);
diesel::allow_tables_to_appear_in_same_query!(pending_sign_ins, one_time_codes);
diesel::allow_tables_to_appear_in_same_query!(pending_sign_ins, people);
