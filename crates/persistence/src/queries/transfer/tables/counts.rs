//! Counts of results.

use super::super::account_table::{AccountTable, OF_PRISM};
use super::super::columns::{StoredColumn, id, json, moment, text, whole};

pub(super) const COUNTED_RESULTS: AccountTable = AccountTable {
    name: "counted_results",
    owner: OF_PRISM,
    key: "prism_id",
    since: None,
    columns: &[id("prism_id"), id("up_to")],
};

pub(super) const WATCHED_RESULTS: AccountTable = AccountTable {
    name: "watched_results",
    owner: OF_PRISM,
    key: "prism_id",
    since: None,
    columns: &[id("prism_id"), id("up_to")],
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
