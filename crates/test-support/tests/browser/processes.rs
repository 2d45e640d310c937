//! What a browser leaves behind, on systems with `/proc`.

use std::fs;
use std::path::{Path, PathBuf};

use refract_test_support::browser::{Browser, BrowserSettings};

#[tokio::test]
async fn a_dropped_browser_leaves_neither_processes_nor_files() {
    if !Browser::available() || !Path::new("/proc/self/environ").exists() {
        return;
    }
    let browser = Browser::start(BrowserSettings::default()).await;
    let folder = browser.folder().to_path_buf();
    // the driver, Chromium, and its processes that fetch and show pages
    assert!(processes_of(&folder).len() > 3);

    drop(browser);
    assert_eq!(processes_of(&folder), Vec::<PathBuf>::new());
    assert!(!folder.exists());
}

/// The running processes that work in this folder, as folders of `/proc`.
fn processes_of(folder: &Path) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let paths = processes.map(|process| process.path());
    paths
        .filter(|path| {
            let place = fs::read_link(path.join("cwd")).unwrap_or_default();
            place.starts_with(folder)
        })
        .collect()
}
