//! The tables of both databases, as queries see them.

mod other_tables;
pub(crate) mod sql_types;
pub(crate) mod stored;

pub(crate) use self::other_tables::{
    account_budgets, budget_holds, counted_results, example_checks, file_runs, one_time_codes,
    pending_sign_ins, prism_examples, provider_sessions, provider_subjects, recovery_codes,
    retest_answers, retests, upload_pieces, uploads, watch_hours,
};
use self::stored::table;

table! {
    accounts (id) {
        id -> Id,
        name -> Text,
        created_at -> Moment,
        codes_required_at -> Nullable<Moment>,
    }
}

table! {
    api_keys (id) {
        id -> Id,
        account_id -> Id,
        name -> Text,
        hash -> Binary,
        first_characters -> Text,
        created_at -> Moment,
        last_used_at -> Nullable<Moment>,
        revoked_at -> Nullable<Moment>,
        made_by -> Nullable<Id>,
        expires_at -> Nullable<Moment>,
        networks -> Nullable<Text>,
        last_used_from -> Nullable<Text>,
        replaces -> Nullable<Id>,
    }
}

table! {
    prisms (id) {
        id -> Id,
        account_id -> Id,
        slug -> Text,
        name -> Text,
        latest_version -> Integer,
        lens_revision -> Integer,
        lens -> Nullable<Text>,
        created_at -> Moment,
        archived_at -> Nullable<Moment>,
    }
}

table! {
    prism_versions (prism_id, version) {
        prism_id -> Id,
        version -> Integer,
        definition -> Text,
        created_at -> Moment,
        made_by -> Nullable<Id>,
    }
}

table! {
    results (id) {
        id -> Id,
        account_id -> Id,
        prism_id -> Id,
        version -> Integer,
        api_key_id -> Nullable<Id>,
        reference -> Nullable<Text>,
        idempotency_key -> Nullable<Text>,
        status -> Text,
        answers -> Nullable<Text>,
        error -> Nullable<Text>,
        fields -> Text,
        context -> Nullable<Text>,
        took_ms -> BigInt,
        created_at -> Moment,
        retry_of -> Nullable<Id>,
        model_protocol -> Nullable<Text>,
        model_name -> Nullable<Text>,
        prompt_version -> Nullable<Integer>,
        input_tokens -> Nullable<BigInt>,
        output_tokens -> Nullable<BigInt>,
        model_requests -> Nullable<BigInt>,
        model_attempts -> Nullable<BigInt>,
        on_codes_millionths -> Nullable<Integer>,
        unread_millionths -> Nullable<Integer>,
        made_by -> Nullable<Id>,
        host_request_id -> Nullable<Text>,
        cached_tokens -> Nullable<BigInt>,
        cost_nanos -> Nullable<BigInt>,
        cost_attos -> Nullable<BigInt>,
        truncated_to -> Nullable<BigInt>,
        file_run_id -> Nullable<Id>,
    }
}

table! {
    marks (result_id, question) {
        result_id -> Id,
        question -> Text,
        prism_id -> Id,
        outcome -> Text,
        marked_by -> Nullable<Text>,
        marked_at -> Moment,
        source -> Nullable<Text>,
        note -> Nullable<Text>,
        person_id -> Nullable<Id>,
        marked_as -> Nullable<Text>,
    }
}

table! {
    other_marks (result_id, question, marker) {
        result_id -> Id,
        question -> Text,
        marker -> Text,
        prism_id -> Id,
        outcome -> Text,
        marked_by -> Nullable<Text>,
        marked_at -> Moment,
        source -> Nullable<Text>,
        note -> Nullable<Text>,
        person_id -> Nullable<Id>,
        marked_as -> Nullable<Text>,
    }
}

table! {
    abstentions (result_id, question) {
        result_id -> Id,
        question -> Text,
        prism_id -> Id,
        abstained_by -> Nullable<Text>,
        abstained_at -> Moment,
        note -> Nullable<Text>,
    }
}

table! {
    review_sittings (id) {
        id -> Id,
        person_id -> Id,
        prism_id -> Id,
        state -> Text,
        used_at -> Moment,
        showing -> Nullable<Id>,
        shown_until -> Nullable<Moment>,
    }
}

table! {
    people (id) {
        id -> Id,
        account_id -> Id,
        email -> Text,
        name -> Nullable<Text>,
        role -> Text,
        password -> Nullable<Text>,
        created_at -> Moment,
        removed_at -> Nullable<Moment>,
        #[sql_name = "untold_event"]
        first_unseen_event -> Nullable<Id>,
        by_link_since -> Nullable<Moment>,
    }
}

table! {
    invitations (hash) {
        hash -> Binary,
        person_id -> Id,
        created_at -> Moment,
        expires_at -> Moment,
    }
}

table! {
    sessions (hash) {
        hash -> Binary,
        person_id -> Id,
        created_at -> Moment,
        last_used_at -> Moment,
    }
}

table! {
    sign_in_tries (id) {
        id -> Id,
        email_hash -> Binary,
        tried_at -> Moment,
        network -> Nullable<Text>,
        browser_hash -> Nullable<Binary>,
        refused_at -> Nullable<Moment>,
    }
}

table! {
    known_browsers (hash, person_id) {
        hash -> Binary,
        person_id -> Id,
        signed_in_at -> Moment,
    }
}

table! {
    prism_changes (id) {
        id -> Id,
        prism_id -> Id,
        change -> Text,
        made_by -> Nullable<Id>,
        made_at -> Moment,
    }
}

table! {
    lens_revisions (prism_id, revision) {
        prism_id -> Id,
        revision -> Integer,
        lens -> Nullable<Text>,
        made_by -> Nullable<Id>,
        made_at -> Nullable<Moment>,
        note -> Nullable<Text>,
    }
}

table! {
    leases (name) {
        name -> Text,
        holder -> Id,
        expires_at -> Moment,
    }
}

table! {
    events (id) {
        id -> Id,
        account_id -> Id,
        at -> Moment,
        actor_kind -> Text,
        actor_id -> Id,
        action -> Text,
        target_kind -> Text,
        target_id -> Id,
        changed_from -> Nullable<Text>,
        changed_to -> Nullable<Text>,
        note -> Nullable<Text>,
        request_id -> Nullable<Text>,
    }
}

table! {
    retention_rounds (name) {
        name -> Text,
        cleared_before -> Moment,
        ended_at -> Moment,
    }
}

table! {
    server_facts (servers) {
        servers -> Text,
        facts -> Text,
        learned_at -> Moment,
    }
}

table! {
    retention_doubts (name) {
        name -> Text,
        since -> Moment,
    }
}

table! {
    drafts (person_id, prism_id, kind) {
        person_id -> Id,
        prism_id -> Id,
        kind -> Text,
        revision -> Integer,
        content -> Nullable<Text>,
        saved_at -> Moment,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    accounts,
    api_keys,
    events,
    file_runs,
    lens_revisions,
    people,
    prism_changes,
    prism_versions,
    prisms,
    results,
    retest_answers,
    retests,
    sessions,
    invitations,
    known_browsers,
    provider_sessions,
    provider_subjects,
);

diesel::allow_tables_to_appear_in_same_query!(marks, other_marks, people);
diesel::allow_tables_to_appear_in_same_query!(one_time_codes, people);
diesel::allow_tables_to_appear_in_same_query!(one_time_codes, provider_sessions);
diesel::allow_tables_to_appear_in_same_query!(one_time_codes, accounts);
diesel::allow_tables_to_appear_in_same_query!(one_time_codes, sessions);
diesel::allow_tables_to_appear_in_same_query!(one_time_codes, invitations);
diesel::allow_tables_to_appear_in_same_query!(pending_sign_ins, one_time_codes);
diesel::allow_tables_to_appear_in_same_query!(pending_sign_ins, people);
diesel::allow_tables_to_appear_in_same_query!(example_checks, prism_examples);
diesel::allow_tables_to_appear_in_same_query!(prism_examples, prisms);
