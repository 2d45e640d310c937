//! The tables of counts: of results and what they used by day, by hour, and of what a month cost.

use super::stored::table;

table! {
    counted_results (prism_id) {
        prism_id -> Id,
        up_to -> Id,
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
    watched_results (prism_id) {
        prism_id -> Id,
        up_to -> Id,
    }
}

table! {
    account_budgets (account_id) {
        account_id -> Id,
        budget_nanos -> BigInt,
        month -> Integer,
        counted_to -> Id,
        cost_nanos -> BigInt,
        cost_attos -> BigInt,
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
