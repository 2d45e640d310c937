//! The tables of uploaded files and file runs.

use super::stored::table;

table! {
    uploads (id) {
        id -> Id,
        account_id -> Id,
        uploaded_by -> Nullable<Id>,
        file_name -> Text,
        uploaded_at -> Moment,
        bytes -> Nullable<BigInt>,
        sha256 -> Nullable<Text>,
        outline -> Nullable<Text>,
    }
}

table! {
    upload_pieces (upload_id, number) {
        upload_id -> Id,
        number -> Integer,
        content -> Binary,
    }
}

table! {
    file_runs (id) {
        id -> Id,
        account_id -> Id,
        prism_id -> Id,
        version -> Integer,
        upload_id -> Nullable<Id>,
        file_name -> Text,
        file_sha256 -> Text,
        mappings -> Text,
        state -> Text,
        reason -> Nullable<Text>,
        most_model_requests -> Nullable<BigInt>,
        most_tokens -> Nullable<BigInt>,
        most_failed_rows -> Nullable<BigInt>,
        file_check -> Nullable<Text>,
        progress -> Text,
        made_by -> Nullable<Id>,
        made_at -> Moment,
        started_at -> Nullable<Moment>,
        ended_at -> Nullable<Moment>,
        changed_at -> Moment,
        lease_holder -> Nullable<Id>,
        lease_until -> Nullable<Moment>,
        fence -> BigInt,
    }
}
