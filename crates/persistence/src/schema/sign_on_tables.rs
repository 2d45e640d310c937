//! The tables of sign-on by a provider.

use super::stored::table;

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
