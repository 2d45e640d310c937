//! The processes of one browser and their folder: the driver, the browser, and the browser's children.
//! The paths of the programs are in variables, which `.ci/with-browser` sets.

#![expect(
    clippy::panic,
    reason = "a test whose browser cannot be set up fails here with the reason"
)]

use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Upper bound on attempts to start the driver.
const STARTS: usize = 5;

/// The kind of a browser, which decides the commands outside the `WebDriver` standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// Chromium or another browser of its family, by `chromedriver`.
    Chromium,
    /// Firefox, by `geckodriver`.
    Firefox,
}

/// The programs that a test drives pages with.
#[derive(Debug)]
pub(super) struct BrowserPrograms {
    pub(super) engine: Engine,
    pub(super) browser: PathBuf,
    driver: PathBuf,
}

impl BrowserPrograms {
    /// The programs that the variables name: Firefox before Chromium; `None` without a pair.
    pub(super) fn find() -> Option<Self> {
        let pair = |engine, browser, driver| {
            let (browser, driver) = named(browser).zip(named(driver))?;
            Some(Self {
                engine,
                browser,
                driver,
            })
        };
        let firefox = pair(
            Engine::Firefox,
            "REFRACT_TEST_FIREFOX",
            "REFRACT_TEST_GECKODRIVER",
        );
        firefox.or_else(|| {
            pair(
                Engine::Chromium,
                "REFRACT_TEST_CHROMIUM",
                "REFRACT_TEST_CHROMEDRIVER",
            )
        })
    }

    /// The programs, for a test that cannot do without.
    ///
    /// # Panics
    ///
    /// When no browser is available.
    pub(super) fn required() -> Self {
        Self::find().unwrap_or_else(|| {
            panic!("no browser here: run `make test`, or put `.ci/with-browser` before the command")
        })
    }
}

/// A driver on a free port of the loopback interface, and the browser that it started. Dropping
/// this value kills both and removes their folder.
///
/// The processes stay in the test's process group, so killing the group ends them too. The browser
/// also ends by itself when its driver ends.
#[derive(Debug)]
pub(super) struct BrowserProcesses {
    driver: Child,
    /// Kept open, so that the driver can write.
    output: BufReader<ChildStdout>,
    address: String,
    browser: Option<Pid>,
    folder: PathBuf,
}

impl BrowserProcesses {
    /// Starts the driver.
    ///
    /// # Panics
    ///
    /// When the driver does not start.
    pub(super) fn start_driver(programs: &BrowserPrograms) -> Self {
        Self::start(&programs.driver)
    }

    /// Starts this driver, and retries when it ends before it is ready: it picks a free IPv4 port,
    /// and ends if another program has the same port on IPv6.
    fn start(program: &Path) -> Self {
        let mut started = (0..STARTS).map(|_| Self::start_once(program));
        let started = started.find_map(|started| started);
        started.unwrap_or_else(|| panic!("{} did not start", program.display()))
    }

    /// Starts this driver; `None` if it ended before it was ready.
    fn start_once(program: &Path) -> Option<Self> {
        let folder = tempfile::Builder::new()
            .prefix("refract-browser.")
            .tempdir();
        let folder = folder.map(TempDir::keep);
        let folder = folder.unwrap_or_else(|error| panic!("no folder for a browser: {error}"));
        let spawned = Command::new(program)
            .arg("--port=0")
            .current_dir(&folder)
            // hides the developer's environment: settings, caches, location and language
            .env("HOME", &folder)
            .env("TMPDIR", &folder)
            .env("TZ", "UTC")
            .env("LANGUAGE", "en_US")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut driver = spawned.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let Some(output) = driver.stdout.take() else {
            panic!("{} has no output", program.display());
        };
        let mut processes = Self {
            driver,
            output: BufReader::new(output),
            address: String::new(),
            browser: None,
            folder,
        };
        let port = port_in(&mut processes.output)?;
        processes.address = format!("http://127.0.0.1:{port}");
        Some(processes)
    }

    /// The address of the driver, `http://…`.
    pub(super) fn driver_address(&self) -> &str {
        &self.address
    }

    /// The browser's folder, which starts empty.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Remembers the process id of the browser that the driver has started.
    pub(super) fn started_browser(&mut self, process_id: Option<i32>) {
        self.browser = process_id.and_then(Pid::from_raw);
    }
}

impl Drop for BrowserProcesses {
    /// Kills the browser and the driver, then all remaining processes: some of a browser's children
    /// would write into the folder again before they end.
    fn drop(&mut self) {
        if let Some(browser) = self.browser {
            kill_process(browser, Signal::KILL).ok();
        }
        self.driver.kill().ok();
        self.driver.wait().ok();
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            let left = processes_in(&self.folder);
            for process in &left {
                kill_process(*process, Signal::KILL).ok();
            }
            if left.is_empty() && !self.folder.exists() {
                return;
            }
            fs::remove_dir_all(&self.folder).ok();
            thread::yield_now();
        }
    }
}

/// The processes with their working directory in this folder: the driver and all its descendants.
/// Empty on systems without `/proc`, where a browser's children end by themselves.
fn processes_in(folder: &Path) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let inside = entries.filter(|entry| {
        // Linux appends ` (deleted)` to the path of a removed folder
        let place = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let place = place.as_os_str().as_bytes();
        place.starts_with(folder.as_os_str().as_bytes())
    });
    inside
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// The port in the line that the driver prints when it has started.
fn port_in(output: &mut BufReader<ChildStdout>) -> Option<u16> {
    let mut lines = output.lines().map_while(Result::ok);
    let line = lines
        .find(|line| line.contains("started successfully") || line.contains("Listening on"))?;
    let port = line.rsplit([' ', ':']).next()?;
    port.trim_end_matches('.').parse().ok()
}

/// The file with axe-core, a script that finds accessibility violations in pages.
pub(super) fn axe() -> Option<PathBuf> {
    named("REFRACT_TEST_AXE")
}

fn named(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable)?;
    (!value.is_empty()).then(|| PathBuf::from(value))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::BrowserProcesses;

    #[test]
    fn a_driver_that_meets_a_taken_port_is_started_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let tries = folder.path().join("tries");
        let driver = folder.path().join("driver");
        let script = format!(
            "#!/bin/sh\necho >>{tries}\n[ $(wc -l <{tries}) -lt 3 ] && exit 1\n\
             echo 'ChromeDriver was started successfully on port 4711.'\nexec sleep 60\n",
            tries = tries.display()
        );
        fs::write(&driver, script).expect("the script is written");
        fs::set_permissions(&driver, Permissions::from_mode(0o700)).expect("it can be started");
        let processes = BrowserProcesses::start(&driver);
        assert_eq!(processes.driver_address(), "http://127.0.0.1:4711");
        assert_eq!(fs::read_to_string(&tries).expect("the tries").len(), 3);
    }
}
