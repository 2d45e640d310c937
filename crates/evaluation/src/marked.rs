//! Stored answers with the correct outcomes, as judged by people.

pub mod answer;
pub mod answers;
