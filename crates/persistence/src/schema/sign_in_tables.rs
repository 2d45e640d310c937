//! The tables of one-time codes and of sign-on by a provider.

use crate::schema::stored::table;

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

table! {
    provider_subjects (issuer, subject) {
        issuer -> Text,
        subject -> Text,
        person_id -> Id,
        created_at -> Moment,
    }
}

table! {
    provider_sessions (hash) {
        hash -> Binary,
        issuer -> Text,
        subject -> Text,
        sealed_grant -> Binary,
        checked_at -> Moment,
        next_check_at -> Nullable<Moment>,
        asked_at -> Nullable<Moment>,
        second_factor_at -> Nullable<Moment>,
    }
}
