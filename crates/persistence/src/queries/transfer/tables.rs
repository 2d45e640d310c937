//! The tables that an account has, in the order in which an import fills them: a row comes after the
//! rows that it refers to.

mod definitions;
mod results;

use super::account_table::{AccountTable, OF_PRISM, StoredColumn, id, json, moment, text, whole};

/// Tables that no export has, each with the reason.
pub const TABLES_LEFT_OUT: &[(&str, &str)] = &[
    ("invitations", "secrets: people are invited again"),
    ("sessions", "secrets: people sign in again"),
    ("known_browsers", "secrets: people sign in again"),
    ("one_time_codes", "secrets: people set them up again"),
    ("recovery_codes", "secrets: people set them up again"),
    ("pending_sign_ins", "secrets: people sign in again"),
    ("provider_sessions", "secrets: people sign in again"),
    (
        "provider_subjects",
        "the provider links people again when they sign in",
    ),
    ("sign_in_tries", "belong to no account"),
    ("review_sittings", "last for as long as somebody reviews"),
    ("uploads", "files that people have, deleted after a month"),
    (
        "upload_pieces",
        "files that people have, deleted after a month",
    ),
    ("budget_holds", "belong to nodes"),
    ("leases", "belong to nodes"),
    ("retention_rounds", "belong to nodes"),
    ("retention_doubts", "belong to nodes"),
    ("server_facts", "belong to nodes"),
    ("__diesel_schema_migrations", "belongs to the database"),
];

/// Every table that an account has.
pub const ACCOUNT_TABLES: &[AccountTable] = &[
    definitions::ACCOUNTS,
    definitions::PRISMS,
    // with the prisms, so that no node counts from the beginning what the two tables of counts have
    COUNTED_RESULTS,
    definitions::PRISM_VERSIONS,
    definitions::LENS_REVISIONS,
    definitions::PRISM_CHANGES,
    definitions::PEOPLE,
    definitions::DRAFTS,
    definitions::API_KEYS,
    definitions::ACCOUNT_BUDGETS,
    USAGE_DAYS,
    WATCH_HOURS,
    DELETED_USAGE,
    results::FILE_RUNS,
    results::RETESTS,
    results::RESULTS,
    results::MARKS,
    results::OTHER_MARKS,
    results::ABSTENTIONS,
    definitions::PRISM_EXAMPLES,
    definitions::EXAMPLE_CHECKS,
    results::RETEST_ANSWERS,
    definitions::EVENTS,
];

pub(super) const COUNTED_RESULTS: AccountTable = AccountTable {
    name: "counted_results",
    owner: OF_PRISM,
    key: "prism_id",
    since: None,
    columns: &[id("prism_id"), id("up_to"), id("watched_to")],
};

pub(super) const WATCH_HOURS: AccountTable = AccountTable {
    name: "watch_hours",
    owner: OF_PRISM,
    key: "prism_id, hour, version, model_name, prompt_version",
    since: None,
    columns: &[
        id("prism_id"),
        whole("hour"),
        whole("version"),
        text("model_name"),
        whole("prompt_version"),
        moment("first_at"),
        json("counts"),
    ],
};

pub(super) const USAGE_DAYS: AccountTable = usage("usage_days");

pub(super) const DELETED_USAGE: AccountTable = usage("deleted_usage");

const fn usage(name: &'static str) -> AccountTable {
    AccountTable {
        name,
        owner: OF_PRISM,
        key: "prism_id, day, api_key_id, made_by, file_run_id, model_name",
        since: None,
        columns: USAGE_COLUMNS,
    }
}

const USAGE_COLUMNS: &[StoredColumn] = &[
    id("prism_id"),
    whole("day"),
    id("api_key_id"),
    id("made_by"),
    id("file_run_id"),
    text("model_name"),
    whole("calls"),
    whole("failed"),
    whole("model_requests"),
    whole("input_tokens"),
    whole("cached_tokens"),
    whole("output_tokens"),
    whole("cost_nanos"),
    whole("cost_attos"),
];
