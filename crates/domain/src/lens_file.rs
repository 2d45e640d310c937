//! The lens file.
