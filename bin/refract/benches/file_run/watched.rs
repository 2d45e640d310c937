//! Watches the memory of a process until it ends.

use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

/// Interval at which the peak is read.
const INTERVAL: Duration = Duration::from_millis(20);

/// Waits for the process to succeed and returns its peak memory in KiB.
pub(crate) fn wait_and_watch(mut child: Child) -> u32 {
    let mut peak = 0;
    loop {
        peak = peak_of(child.id()).unwrap_or(peak);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return peak;
        }
        sleep(INTERVAL);
    }
}

/// The peak memory of a running process in KiB.
pub(crate) fn peak_of(process: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
