//! Tests of the browser for tests, with pages of their own. Without a browser X
mod page_server;
mod pages;
mod processes;
