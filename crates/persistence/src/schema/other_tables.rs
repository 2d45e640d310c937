//! The tables of counts and what results used and cost, of example texts, of uploaded files and
//! file runs, and of retests; of one-time codes and of sign-on by a provider.

use crate::schema::stored::table;

table! {
    counted_results (prism_id) {
        prism_id -> Id,
        up_to -> Id,
        watched_to -> Nullable<Id>,
    }
}

table! {
    watch_hours (prism_id, hour, version, model_name, prompt_version) {
        prism_id -> Id,
        hour -> Integer,
        version -> Integer,
        model_name -> Text,
        prompt_version -> Integer,
        first_at -> Moment,
        counts -> Text,
    }
}

table! {
    account_budgets (account_id) {
        account_id -> Id,
        budget_nanos -> BigInt,
        month -> Integer,
        announced_percent -> Integer,
    }
}

table! {
    budget_holds (holder) {
        holder -> Id,
        account_id -> Id,
        held_nanos -> BigInt,
        expires_at -> Moment,
    }
}

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
