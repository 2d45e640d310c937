//! Tests of the browser for tests, with pages of their own. Without a browser they pass at once.

mod page_server;
mod pages;
