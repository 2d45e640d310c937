//! The app of Refract: pages for the people who own decisions.
//!
//! The path of a request: `dispatch` finds the route in the table of `routes`, makes the checks that
//! all routes have (draining, origin, session, role), and calls the handler among the `pages`, which
//! asks a use case and writes a `page` out of `components`. Pages are HTML that works without
//! scripts; what scripts add stands in `assets`.
//!
//! This crate knows neither the database nor model servers, and decides nothing about prisms or
//! results.

mod app_site;
mod assets;
mod browser_cookie;
mod components;
mod curl;
mod days;
mod dispatch;
mod form;
mod form_size;
mod kept;
mod origin;
mod page;
mod page_body;
mod page_refusal;
mod page_reply;
mod pages;
mod path_values;
mod policy;
mod refusal_page;
mod request_record;
mod route;
mod route_table;
mod routes;
mod sent;
mod sent_cookies;
mod server;
mod session_cookie;
mod visit;
mod visitor;

pub use route_table::{RouteFacts, route_table};
pub use server::{APP_WORKERS, AppSettings, serve};
