//! The people of an account and their roles, and the hashes of what opens it.

pub mod person;
pub mod role;
pub mod secret_hash;
