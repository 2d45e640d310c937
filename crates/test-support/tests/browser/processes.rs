//! What a browser leaves behind, on systems that list processes in `/proc`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use refract_test_support::browser::{Browser, BrowserSettings};

#[tokio::test]
async fn a_dropped_browser_leaves_neither_processes_nor_files() {
    if !Browser::available() || !Path::new("/proc/self/cmdline").exists() {
        return;
    }
    // one browser's processes are told from those of other tests by the folder in their arguments
    let folder = env::temp_dir().join(format!("refract-processes.{}", process::id()));
    fs::create_dir(&folder).unwrap();
    let browser = Browser::start_in(&folder, BrowserSettings::default()).await;
    assert!(!processes_with(&folder).is_empty());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

    drop(browser);
    let deadline = Instant::now() + Duration::from_secs(20);
    while !processes_with(&folder).is_empty() {
        assert!(Instant::now() < deadline, "{:?}", processes_with(&folder));
        thread::yield_now();
    }
    // fails when anything is left in the folder
    fs::remove_dir(&folder).unwrap();
}
