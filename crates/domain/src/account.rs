//! The people of an account and their roles, and the hashes of API keys and tokens.

pub mod person;
pub mod role;
pub mod secret_hash;
