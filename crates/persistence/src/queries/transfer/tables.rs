//! The tables that an account has, in the order in which an import fills them: a row comes after the
//! rows that it refers to.

mod counts;
mod definitions;
mod results;

use super::account_table::AccountTable;

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
    counts::COUNTED_RESULTS,
    counts::WATCHED_RESULTS,
    definitions::PRISM_VERSIONS,
    definitions::LENS_REVISIONS,
    definitions::PRISM_CHANGES,
    definitions::PEOPLE,
    definitions::DRAFTS,
    definitions::API_KEYS,
    definitions::ACCOUNT_BUDGETS,
    counts::USAGE_DAYS,
    counts::WATCH_HOURS,
    counts::DELETED_USAGE,
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
