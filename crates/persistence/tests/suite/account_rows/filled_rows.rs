//! A row of every table, with values that break what is not careful.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A text that breaks what is not careful.
const ODD: &str = "a\u{0301}\u{1f469}\u{200d}\u{1f680} \u{202e}\u{2028}\"\\\n\t'); DROP \u{7f}";

pub(super) fn id(number: u32) -> String {
    format!("0190b8f2-0000-7000-8000-{number:012}")
}

pub(super) const ACCOUNT: u32 = 1;
const PRISM: u32 = 2;
pub(super) const PERSON: u32 = 3;
pub(super) const KEY: u32 = 4;
pub(super) const RUN: u32 = 5;
pub(super) const RETEST: u32 = 6;
const EXAMPLE: u32 = 7;
const FAILED: u32 = 20;
const RETRY: u32 = 21;
/// A retry by a node whose clock was behind.
const EARLY: u32 = 18;
const OF_EARLY: u32 = 22;
const NIL: &str = "00000000-0000-0000-0000-000000000000";
pub(super) const AT: &str = "2026-05-04T09:00:00.123Z";

/// Rows of every table, as they come out again.
pub(super) fn rows() -> BTreeMap<&'static str, Vec<Value>> {
    let parts = [definitions(), facts(), answers(), examples()];
    parts.into_iter().flatten().collect()
}

type TableRows = (&'static str, Vec<Value>);

/// Prisms, lenses and people.
fn definitions() -> Vec<TableRows> {
    vec![
        (
            "accounts",
            vec![json!({
                "id": id(ACCOUNT), "name": "taken", "created_at": AT, "codes_required_at": AT,
            })],
        ),
        (
            "prisms",
            vec![json!({
                "id": id(PRISM), "slug": "odd", "name": ODD, "latest_version": 1,
                "lens_revision": 2, "lens": [{"name": ODD}], "created_at": AT,
                "archived_at": AT,
            })],
        ),
        (
            "counted_results",
            vec![json!({"prism_id": id(PRISM), "up_to": id(RETRY), "watched_to": id(FAILED)})],
        ),
        (
            "prism_versions",
            vec![json!({
                "prism_id": id(PRISM), "version": 1,
                "definition": {"z": 1.50, "a": ODD, "m": null}, "created_at": AT, "made_by": null,
            })],
        ),
        (
            "lens_revisions",
            vec![
                json!({
                    "prism_id": id(PRISM), "revision": 1, "lens": null, "made_by": id(PERSON),
                    "made_at": AT, "note": ODD,
                }),
                json!({
                    "prism_id": id(PRISM), "revision": 2, "lens": [], "made_by": null,
                    "made_at": null, "note": null,
                }),
            ],
        ),
        (
            "prism_changes",
            vec![json!({
                "id": id(8), "prism_id": id(PRISM), "change": "archived", "made_by": id(PERSON),
                "made_at": AT,
            })],
        ),
        (
            "people",
            vec![json!({
                "id": id(PERSON), "email": "ada@example.com", "name": null, "role": "owner",
                "created_at": AT, "removed_at": null, "untold_event": id(9),
            })],
        ),
        (
            "drafts",
            vec![json!({
                "person_id": id(PERSON), "prism_id": NIL, "kind": "version", "revision": 4,
                "content": ODD, "saved_at": AT,
            })],
        ),
    ]
}

/// Keys, counts, runs and retests.
fn facts() -> Vec<TableRows> {
    vec![
        (
            "api_keys",
            vec![json!({
                "id": id(KEY), "name": ODD, "first_characters": "rk_abc", "created_at": AT,
                "last_used_at": null, "revoked_at": AT, "made_by": id(PERSON), "expires_at": AT,
                "networks": "10.0.0.0/8,::1/128", "last_used_from": "10.0.0.1", "replaces": id(9),
            })],
        ),
        (
            "account_budgets",
            vec![json!({
                "budget_nanos": i64::MAX, "month": 20_000, "announced_percent": 80,
            })],
        ),
        (
            "usage_days",
            vec![json!({
                "prism_id": id(PRISM), "day": 20_000, "api_key_id": NIL, "made_by": NIL,
                "file_run_id": id(RUN), "model_name": "", "calls": 9, "failed": 8,
                "model_requests": 7, "input_tokens": 6, "cached_tokens": 5, "output_tokens": 4,
                "cost_nanos": 3, "cost_attos": 2,
            })],
        ),
        (
            "watch_hours",
            vec![json!({
                "prism_id": id(PRISM), "hour": 480_000, "version": 1, "model_name": "",
                "prompt_version": 0, "first_at": AT, "counts": {"b": {}, "a": 1},
            })],
        ),
        (
            "deleted_usage",
            vec![json!({
                "prism_id": id(PRISM), "day": 20_000, "api_key_id": id(KEY), "made_by": NIL,
                "file_run_id": NIL, "model_name": ODD, "calls": 1, "failed": 0,
                "model_requests": 2, "input_tokens": 3, "cached_tokens": 4, "output_tokens": 5,
                "cost_nanos": null, "cost_attos": null,
            })],
        ),
        (
            "file_runs",
            vec![json!({
                "id": id(RUN), "prism_id": id(PRISM), "version": 1, "file_name": ODD,
                "file_sha256": "00", "mappings": [], "state": "done", "reason": ODD,
                "most_model_requests": 1, "most_tokens": 2, "most_failed_rows": 3,
                "file_check": {"rows": 1}, "progress": {"rows": 1}, "made_by": id(PERSON),
                "made_at": AT, "started_at": AT, "ended_at": AT, "changed_at": AT,
            })],
        ),
        (
            "retests",
            vec![json!({
                "id": id(RETEST), "prism_id": id(PRISM), "version": null, "model": ODD,
                "drawn": {}, "state": "failed", "reason": ODD, "flips": 1,
                "made_by": null, "made_at": AT, "ended_at": AT, "changed_at": AT,
            })],
        ),
    ]
}

/// Results and judgements.
fn answers() -> Vec<TableRows> {
    let result = |number: u32, retry_of: Option<u32>, ok: bool| {
        json!({
            "id": id(number), "prism_id": id(PRISM), "version": 1, "api_key_id": id(KEY),
            "reference": ODD, "idempotency_key": retry_of.map(|_| ODD.to_owned() + &id(number)),
            "status": if ok { "ok" } else { "failed" },
            "answers": ok.then(|| json!({"z": {"a": 1}, "b": [ODD]})),
            "error": (!ok).then_some(ODD), "fields": {"text": ODD, "a": ""}, "context": ODD,
            "took_ms": 12, "created_at": AT, "retry_of": retry_of.map(id),
            "model_protocol": "chat", "model_name": ODD, "prompt_version": 3,
            "input_tokens": i64::MAX, "output_tokens": 0, "model_requests": 1,
            "model_attempts": 2, "on_codes_millionths": 999_999, "unread_millionths": 0,
            "made_by": id(PERSON), "host_request_id": "req_1", "cached_tokens": 5,
            "cost_nanos": 6, "cost_attos": 7, "truncated_to": null, "file_run_id": id(RUN),
        })
    };
    vec![
        (
            "results",
            vec![
                result(EARLY, Some(OF_EARLY), true),
                result(FAILED, None, false),
                result(RETRY, Some(FAILED), true),
                result(OF_EARLY, None, false),
            ],
        ),
        (
            "marks",
            vec![json!({
                "result_id": id(RETRY), "question": "topic", "prism_id": id(PRISM),
                "outcome": "billing", "marked_by": ODD, "marked_at": AT, "source": "random",
                "note": ODD, "person_id": id(PERSON), "marked_as": null,
            })],
        ),
        (
            "other_marks",
            vec![json!({
                "result_id": id(RETRY), "question": "topic", "marker": ODD,
                "prism_id": id(PRISM), "outcome": "billing", "marked_by": ODD, "marked_at": AT,
                "source": "random", "note": ODD, "person_id": id(PERSON),
                "marked_as": "adjudicator",
            })],
        ),
        (
            "abstentions",
            vec![json!({
                "result_id": id(RETRY), "question": "angry", "prism_id": id(PRISM),
                "abstained_by": ODD, "abstained_at": AT, "note": null,
            })],
        ),
    ]
}

/// Example texts, new answers and events.
fn examples() -> Vec<TableRows> {
    vec![
        (
            "prism_examples",
            vec![json!({
                "id": id(EXAMPLE), "prism_id": id(PRISM), "text_hash": "00ff", "fields": {"text": ODD},
                "context": null, "reference": ODD, "expected": {"topic": "billing"}, "note": ODD,
                "result_id": id(RETRY), "changed_by": id(PERSON), "changed_at": AT,
            })],
        ),
        (
            "example_checks",
            vec![json!({
                "example_id": id(EXAMPLE), "wording_hash": "abcd", "checked_at": AT,
                "answers": null, "error": ODD,
            })],
        ),
        (
            "retest_answers",
            vec![json!({
                "retest_id": id(RETEST), "result_id": id(RETRY), "answers": {"topic": 1},
                "failure": null,
            })],
        ),
        (
            "events",
            vec![json!({
                "id": id(9), "at": AT, "actor_kind": "person", "actor_id": id(PERSON),
                "action": "account_created", "target_kind": "account", "target_id": id(ACCOUNT),
                "changed_from": ODD, "changed_to": null, "note": ODD, "request_id": "r-1",
            })],
        ),
    ]
}
