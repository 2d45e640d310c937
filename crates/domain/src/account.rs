//! The people of an account and their roles, its budget, and the hashes of API keys and tokens.

pub mod month_budget;
pub mod person;
pub mod role;
pub mod secret_hash;
