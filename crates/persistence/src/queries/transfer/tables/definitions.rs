//! Accounts, prisms, people and keys.

use super::super::account_table::{AccountTable, OF_PERSON, OF_PRISM, Owner};
use crate::queries::transfer::account_table::ImportRule::{
    Account, AccountName, KeptOrAccount, KeptOrNow, Null, RemovedIfTaken, UnusableHash,
};
use crate::queries::transfer::account_table::{account, bytes, id, json, moment, text, whole};

pub(super) const ACCOUNTS: AccountTable = AccountTable {
    name: "accounts",
    owner: Owner::Itself,
    key: "id",
    since: None,
    columns: &[
        id("id").imported(Account),
        text("name").imported(AccountName),
        moment("created_at"),
        moment("codes_required_at"),
    ],
};

pub(super) const ACCOUNT_BUDGETS: AccountTable = AccountTable {
    name: "account_budgets",
    owner: Owner::Account,
    key: "account_id",
    since: None,
    columns: &[
        account(),
        whole("budget_nanos"),
        whole("month"),
        whole("announced_percent"),
    ],
};

pub(super) const PRISMS: AccountTable = AccountTable {
    name: "prisms",
    owner: Owner::Account,
    key: "id",
    since: None,
    columns: &[
        id("id"),
        account(),
        text("slug"),
        text("name"),
        whole("latest_version"),
        whole("lens_revision"),
        json("lens"),
        moment("created_at"),
        moment("archived_at"),
    ],
};

pub(super) const PRISM_VERSIONS: AccountTable = AccountTable {
    name: "prism_versions",
    owner: OF_PRISM,
    key: "prism_id, version",
    since: None,
    columns: &[
        id("prism_id"),
        whole("version"),
        json("definition"),
        moment("created_at"),
        id("made_by"),
    ],
};

pub(super) const LENS_REVISIONS: AccountTable = AccountTable {
    name: "lens_revisions",
    owner: OF_PRISM,
    key: "prism_id, revision",
    since: None,
    columns: &[
        id("prism_id"),
        whole("revision"),
        json("lens"),
        id("made_by"),
        moment("made_at"),
        text("note"),
    ],
};

pub(super) const PRISM_CHANGES: AccountTable = AccountTable {
    name: "prism_changes",
    owner: OF_PRISM,
    key: "id",
    since: None,
    columns: &[
        id("id"),
        id("prism_id"),
        text("change"),
        id("made_by"),
        moment("made_at"),
    ],
};

pub(super) const PEOPLE: AccountTable = AccountTable {
    name: "people",
    owner: Owner::Account,
    key: "id",
    since: None,
    columns: &[
        id("id"),
        account(),
        text("email"),
        // a person has a name and a password, or neither
        text("name").imported(Null),
        text("role"),
        text("password").left_out(Null),
        moment("created_at"),
        moment("removed_at").imported(RemovedIfTaken),
        id("untold_event"),
        moment("by_link_since").left_out(Null),
    ],
};

pub(super) const DRAFTS: AccountTable = AccountTable {
    name: "drafts",
    owner: OF_PERSON,
    key: "person_id, prism_id, kind",
    since: None,
    columns: &[
        id("person_id"),
        id("prism_id"),
        text("kind"),
        whole("revision"),
        text("content").submitted(),
        moment("saved_at"),
    ],
};

pub(super) const API_KEYS: AccountTable = AccountTable {
    name: "api_keys",
    owner: Owner::Account,
    key: "id",
    since: None,
    columns: &[
        id("id"),
        account(),
        text("name"),
        bytes("hash").left_out(UnusableHash),
        text("first_characters"),
        moment("created_at"),
        moment("last_used_at"),
        moment("revoked_at").imported(KeptOrNow),
        id("made_by"),
        moment("expires_at"),
        text("networks"),
        text("last_used_from"),
        id("replaces"),
    ],
};

pub(super) const PRISM_EXAMPLES: AccountTable = AccountTable {
    name: "prism_examples",
    owner: OF_PRISM,
    key: "id",
    since: None,
    columns: &[
        id("id"),
        id("prism_id"),
        bytes("text_hash"),
        json("fields").submitted(),
        text("context").submitted(),
        text("reference"),
        json("expected"),
        text("note").submitted(),
        id("result_id"),
        id("changed_by"),
        moment("changed_at"),
    ],
};

pub(super) const EXAMPLE_CHECKS: AccountTable = AccountTable {
    name: "example_checks",
    owner: Owner::Example,
    key: "example_id, wording_hash",
    since: None,
    columns: &[
        id("example_id"),
        bytes("wording_hash"),
        moment("checked_at"),
        json("answers"),
        text("error"),
    ],
};

pub(super) const EVENTS: AccountTable = AccountTable {
    name: "events",
    owner: Owner::Account,
    key: "id",
    since: Some("at"),
    columns: &[
        id("id"),
        account(),
        moment("at"),
        text("actor_kind"),
        id("actor_id"),
        text("action"),
        text("target_kind"),
        id("target_id").imported(KeptOrAccount),
        text("changed_from"),
        text("changed_to"),
        text("note"),
        text("request_id"),
    ],
};
