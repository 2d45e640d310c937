//! What a browser leaves behind, on systems that list processes in `/proc`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use refract_test_support::browser::{Browser, BrowserSettings};

#[tokio::test]
async fn a_dropped_browser_leaves_neither_processes_nor_files() {
    if !Browser::available() || !Path::new("/proc/self/environ").exists() {
        return;
    }
    let browser = Browser::start(BrowserSettings::default()).await;
    let folder = browser.folder().to_path_buf();
    // the driver, Chromium, and at least one process that shows pages
    assert!(processes_of(&folder).len() > 2);

    drop(browser);
    assert!(!folder.exists());
    let deadline = Instant::now() + Duration::from_secs(20);
    while !processes_of(&folder).is_empty() {
        assert!(Instant::now() < deadline, "{:?}", processes_of(&folder));
        thread::yield_now();
    }
}

/// The running processes whose home is this folder, as folders of `/proc`.
fn processes_of(folder: &Path) -> Vec<PathBuf> {
    let home = format!("HOME={}", folder.display());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let paths = processes.map(|process| process.path());
    paths
        .filter(|path| {
            let variables = fs::read(path.join("environ")).unwrap_or_default();
            variables
                .split(|byte| *byte == 0)
                .any(|variable| variable == home.as_bytes())
        })
        .collect()
}
