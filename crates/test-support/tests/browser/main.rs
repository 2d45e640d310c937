//! Tests of the test browser, with pages of this suite. Without a browser they pass at once.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails where its server or its picture is not as it must be"
)]

mod by_text;
mod page_server;
mod pages;
mod processes;
