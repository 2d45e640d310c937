//! Black-box tests of the built binary over real TCP, as callers and operators see it. Every test
//! has its own database and scripted model server, and uses no code of the program.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

mod collector;
mod description;
mod expected;
mod http;
mod marked_texts;
mod node;
mod order;
mod program;
mod service;
mod terminal;
mod varied;

/// Generates two tests for each behaviour, `sqlite::…` and `postgres::…`.
macro_rules! on_both {
    ($($behaviour:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $behaviour() {
                super::$behaviour(crate::service::Backend::Sqlite).await;
            })*
        }
        mod postgres {
            $(#[tokio::test]
            async fn $behaviour() {
                super::$behaviour(crate::service::Backend::Postgres).await;
            })*
        }
    };
}

mod app_browser;
mod app_crowd;
mod app_edit;
mod app_edit_browser;
mod app_forms;
mod app_me;
mod app_owners;
mod app_people;
mod app_sign_in;
mod app_tasks;
mod app_try;
mod app_walk;
mod apply;
mod authorization;
mod bodies;
mod bounded;
mod check;
mod check_faults;
mod check_orders;
mod command_line;
mod commands;
mod compare;
mod connections;
mod create_result;
mod database_files;
mod decisions;
mod demo;
mod evaluate;
mod evaluate_advice;
mod events;
mod events_of_app;
mod events_of_commands;
mod events_of_runs;
mod exports;
mod failed_results;
mod forgetting;
mod idempotency;
mod lens_work;
mod lifecycle;
mod logs;
mod marks;
mod marks_faults;
mod migrate;
mod model_check;
mod model_check_failures;
mod model_servers;
mod operations;
mod order_about_results;
mod order_of_create;
mod person;
mod prism_lint;
mod prisms;
mod provenance;
mod races;
mod results;
mod retention;
mod run;
mod run_faults;
mod run_files;
mod run_stops;
mod secret_files;
mod settings;
mod terminal_escapes;
mod told_and_ended;
mod tour;
mod traces;
mod traces_settings;
mod try_text;
mod unread;
