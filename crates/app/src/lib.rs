//! The app of Refract: pages for the people who own decisions.
//!
//! The path of a request: `routing` finds the route in its table, makes the checks that all routes
//! have (draining, origin, session, role), and calls the handler among the `pages`, which reads the
//! one of `requests`, asks a use case and writes one of `replies` out of `components`. Pages are HTML
//! that works without scripts; what scripts add stands in `assets`.
//!
//! This crate knows neither the database nor model servers, and decides nothing about prisms or
//! results.

mod app_site;
mod assets;
mod components;
mod cookies;
mod pages;
mod replies;
mod requests;
mod routing;
mod server;

pub use routing::route_table::{RouteFacts, route_table};
pub use server::{APP_WORKERS, AppSettings, serve};
