//! A process whose memory is watched until it ends.

use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

/// Between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Waits for its good end; the most memory that it ever had, in KiB.
pub(crate) fn wait_and_watch(mut child: Child) -> u32 {
    let mut peak = 0;
    loop {
        peak = peak_of(child.id()).unwrap_or(peak);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return peak;
        }
        sleep(BETWEEN_LOOKS);
    }
}

fn peak_of(process: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
