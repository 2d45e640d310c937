//! The app of Refract: pages for the people who own decisions.
//!
//! How a request travels: `routing` finds the route in its table, makes the checks common to all
//! routes (draining, origin, session, role), and calls the handler in `pages`. The handler reads
//! its input from `requests`, calls a use case, and builds one of the `replies` from `components`.
//! Pages are HTML that works without scripts; `assets` holds the scripts that improve them.
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

pub use routing::{RouteFacts, route_table};
pub use server::{APP_WORKERS, AppSettings, serve};
