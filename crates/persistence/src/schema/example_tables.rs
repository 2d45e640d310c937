//! The tables of example texts.

use super::prisms;
use super::stored::table;

table! {
    prism_examples (id) {
        id -> Id,
        prism_id -> Id,
        text_hash -> Binary,
        fields -> Text,
        context -> Nullable<Text>,
        reference -> Nullable<Text>,
        expected -> Text,
        note -> Nullable<Text>,
        result_id -> Nullable<Id>,
        changed_by -> Nullable<Id>,
        changed_at -> Moment,
    }
}

table! {
    example_checks (example_id, wording_hash) {
        example_id -> Id,
        wording_hash -> Binary,
        checked_at -> Moment,
        answers -> Nullable<Text>,
        error -> Nullable<Text>,
    }
}

diesel::allow_tables_to_appear_in_same_query!(example_checks, prism_examples);
diesel::allow_tables_to_appear_in_same_query!(prism_examples, prisms);
