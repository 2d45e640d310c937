//! Results, the work that makes them, and judgements.

use super::super::account_table::{AccountTable, OF_PRISM, OF_RETEST, Owner};
use crate::queries::transfer::account_table::ImportRule::{
    EndedFileRun, EndedRetest, KeptOrNow, LowerId, Null, Zero,
};
use crate::queries::transfer::account_table::{account, id, json, moment, text, whole};

pub(super) const FILE_RUNS: AccountTable = AccountTable {
    name: "file_runs",
    owner: Owner::Account,
    key: "id",
    since: None,
    columns: &[
        id("id"),
        account(),
        id("prism_id"),
        whole("version"),
        id("upload_id").left_out(Null),
        text("file_name"),
        text("file_sha256"),
        json("mappings"),
        text("state").imported(EndedFileRun),
        text("reason"),
        whole("most_model_requests"),
        whole("most_tokens"),
        whole("most_failed_rows"),
        json("file_check"),
        json("progress"),
        id("made_by"),
        moment("made_at"),
        moment("started_at"),
        moment("ended_at").imported(KeptOrNow),
        moment("changed_at"),
        id("lease_holder").left_out(Null),
        moment("lease_until").left_out(Null),
        whole("fence").left_out(Zero),
    ],
};

pub(super) const RETESTS: AccountTable = AccountTable {
    name: "retests",
    owner: Owner::Account,
    key: "id",
    since: None,
    columns: &[
        id("id"),
        account(),
        id("prism_id"),
        whole("version"),
        text("model"),
        json("drawn"),
        text("state").imported(EndedRetest),
        text("reason"),
        whole("flips"),
        whole("slot").left_out(Null),
        id("made_by"),
        moment("made_at"),
        moment("ended_at").imported(KeptOrNow),
        moment("changed_at"),
        id("lease_holder").left_out(Null),
        moment("lease_until").left_out(Null),
        whole("fence").left_out(Zero),
    ],
};

pub(super) const RESULTS: AccountTable = AccountTable {
    name: "results",
    owner: Owner::Account,
    key: "id",
    since: Some("created_at"),
    columns: &[
        id("id"),
        account(),
        id("prism_id"),
        whole("version"),
        id("api_key_id"),
        text("reference"),
        text("idempotency_key"),
        text("status"),
        json("answers"),
        text("error"),
        json("fields").submitted(),
        text("context").submitted(),
        whole("took_ms"),
        moment("created_at"),
        id("retry_of").imported(LowerId),
        text("model_protocol"),
        text("model_name"),
        whole("prompt_version"),
        whole("input_tokens"),
        whole("output_tokens"),
        whole("model_requests"),
        whole("model_attempts"),
        whole("on_codes_millionths"),
        whole("unread_millionths"),
        id("made_by"),
        text("host_request_id"),
        whole("cached_tokens"),
        whole("cost_nanos"),
        whole("cost_attos"),
        whole("truncated_to"),
        id("file_run_id"),
    ],
};

pub(super) const MARKS: AccountTable = AccountTable {
    name: "marks",
    owner: OF_PRISM,
    key: "result_id, question",
    since: None,
    columns: &[
        id("result_id"),
        text("question"),
        id("prism_id"),
        text("outcome"),
        text("marked_by"),
        moment("marked_at"),
        text("source"),
        text("note").submitted(),
        id("person_id"),
        text("marked_as"),
    ],
};

pub(super) const OTHER_MARKS: AccountTable = AccountTable {
    name: "other_marks",
    owner: OF_PRISM,
    key: "result_id, question, marker",
    since: None,
    columns: &[
        id("result_id"),
        text("question"),
        text("marker"),
        id("prism_id"),
        text("outcome"),
        text("marked_by"),
        moment("marked_at"),
        text("source"),
        text("note").submitted(),
        id("person_id"),
        text("marked_as"),
    ],
};

pub(super) const ABSTENTIONS: AccountTable = AccountTable {
    name: "abstentions",
    owner: OF_PRISM,
    key: "result_id, question",
    since: None,
    columns: &[
        id("result_id"),
        text("question"),
        id("prism_id"),
        text("abstained_by"),
        moment("abstained_at"),
        text("note").submitted(),
    ],
};

pub(super) const RETEST_ANSWERS: AccountTable = AccountTable {
    name: "retest_answers",
    owner: OF_RETEST,
    key: "retest_id, result_id",
    since: None,
    columns: &[
        id("retest_id"),
        id("result_id"),
        json("answers"),
        text("failure"),
    ],
};
