//! Test databases and a scripted model server, for tests only.

pub mod postgres;
