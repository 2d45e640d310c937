//! The people of an account and their roles, its API keys, its budget, and the hashes of keys and
//! tokens.

pub mod key_networks;
pub mod key_use;
pub mod month_budget;
pub mod person;
pub mod role;
pub mod secret_hash;
