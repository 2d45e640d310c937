//! The app over HTTP and in a real Chromium, on both databases. Every test has its own service, whose
//! node runs in the test's process.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

mod chromium;
mod codes;
mod crowd;
mod draft_trials;
mod edit;
mod edit_drafts;
mod edit_in_chromium;
mod edit_of_large_prisms;
mod events_of_app;
mod every_form;
mod examples;
mod keys;
mod lens;
mod lens_history;
mod lens_meanwhile;
mod light_lists;
mod links;
mod me;
mod next_steps;
mod notices_and_ended_keys;
mod owners;
mod people;
mod quality;
mod results_page;
mod retests;
mod retests_in_chromium;
mod review;
mod runs;
mod runs_in_chromium;
mod sign_in;
mod sign_on;
mod tasks;
mod try_page;
mod unusual_files;
mod usage;
mod walk;

/// A behaviour starts a service of its own.
use std::future::ready as on;
