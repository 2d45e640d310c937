//! The kinds of call that are compared, and the raw statements, in SQL that both databases take.

use std::fmt;

/// A kind of call.
#[derive(Clone, Copy)]
pub enum CallKind {
    Read,
    Create,
    Replay,
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Replay => "replay",
        })
    }
}

/// The columns of a result that a call reads.
const RESULT: &str = "r.id, r.prism_id, r.version, r.api_key_id, r.reference, r.idempotency_key, \
    r.status, r.answers, r.error, r.fields, r.context, r.took_ms, r.created_at, r.retry_of";

const PRISM: &str = "p.id, p.slug, p.name, p.latest_version, p.lens_revision, p.archived_at";

const KEY: &str = "k.id, k.account_id, k.revoked_at IS NOT NULL";

/// Values of a saved result that inserted results repeat, with ids in the driver's type.
pub struct Template<Id> {
    pub account: Id,
    pub prism: Id,
    pub api_key: Id,
    pub answers: String,
    pub fields: String,
    pub protocol: String,
}

/// Reads the columns of a [`Template`], in its order, by a result's id.
pub const TEMPLATE: &str = "SELECT account_id, prism_id, api_key_id, answers, fields, model_protocol \
    FROM results WHERE id = $1";

/// Reads a result by the key's hash and the result's id.
pub fn read() -> String {
    format!(
        "SELECT {RESULT}, {PRISM}, {KEY}, x.id FROM api_keys k \
         LEFT JOIN results r ON r.account_id = k.account_id AND r.id = $2 \
         LEFT JOIN prisms p ON p.id = r.prism_id LEFT JOIN results x ON x.retry_of = r.id \
         WHERE k.hash = $1"
    )
}

/// Reads the prism before a create, by the key's hash and the prism's slug.
pub fn before_create() -> String {
    format!(
        "SELECT {PRISM}, {KEY} FROM api_keys k \
         LEFT JOIN prisms p ON p.account_id = k.account_id AND p.slug = $2 WHERE k.hash = $1"
    )
}

/// Reads the result of a replay by the key's hash, the prism's slug and the idempotency key.
pub fn replay() -> String {
    format!(
        "SELECT {RESULT}, {PRISM}, {KEY} FROM api_keys k \
         LEFT JOIN prisms p ON p.account_id = k.account_id AND p.slug = $2 \
         LEFT JOIN results r ON r.account_id = k.account_id AND r.idempotency_key = $3 \
         WHERE k.hash = $1"
    )
}

/// Inserts a result, with a parameter for each column.
pub const CREATE: &str = "INSERT INTO results (id, account_id, prism_id, version, api_key_id, \
    reference, idempotency_key, status, answers, error, fields, context, took_ms, created_at, \
    retry_of, model_protocol, model_name, prompt_version, input_tokens, output_tokens, \
    model_requests, model_attempts) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, \
    $13, $14, $15, $16, $17, $18, $19, $20, $21, $22) ON CONFLICT DO NOTHING";
