//! The people of an account and their roles, the secrets of their one-time codes, and the hashes of
//! API keys and tokens.

pub mod one_time_secret;
pub mod person;
pub mod role;
pub mod secret_hash;
