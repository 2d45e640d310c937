//! Takes pictures of every page of the app, using the demo. `make app-pictures` runs it and prints
//! where they are.
//!
//! The exit status is 1 if a page is wider than its window or has a barrier found by axe-core; each
//! such page is printed.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a tour that meets the unexpected ends there, and prints what it did"
)]

mod demo_program;
mod few_colours;
mod owner_pages;
mod picture_book;
mod prism_pages;
mod result_pages;
mod retest_pages;
mod run_pages;
mod stranger_pages;

use std::path::Path;
use std::process::ExitCode;

use refract_test_support::browser::Browser;

use crate::demo_program::{DemoProgram, failed_result, reset_path};
use crate::picture_book::PictureBook;

/// The folder of the pictures used in documents.
const DOCUMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pictures");

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    if !Browser::available() {
        println!("no pictures were made: there is no browser");
        return ExitCode::FAILURE;
    }
    let example = std::env::current_exe().expect("the example's own path");
    let profile = example.ancestors().nth(2).expect("the folder of a profile");
    let binary = profile.join("refract");
    let pictures = profile.join("../app-pictures");

    let folder = tempfile::tempdir().expect("a folder for the demo");
    let failed = failed_result(&binary, folder.path()).await;
    let demo = DemoProgram::start(&binary, folder.path()).await;
    let mut book = PictureBook::open(&demo.address, &pictures, Path::new(DOCUMENTS)).await;
    book.take_page("sign-in-link", &demo.sign_in_path).await;
    book.browser.follow("button.main").await;
    prism_pages::take(&mut book).await;
    result_pages::take(&mut book, &failed).await;
    run_pages::take(&mut book).await;
    retest_pages::take(&mut book).await;
    let link = owner_pages::take(&mut book).await;
    stranger_pages::take(&mut book, &link).await;
    let link = reset_path(&binary, folder.path(), stranger_pages::EMAIL).await;
    stranger_pages::take_notice(&mut book, &link).await;
    book.close(&pictures)
}
