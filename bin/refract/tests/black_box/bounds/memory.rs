//! The memory limit of a node, and its peak memory.

use std::fs;
use std::path::PathBuf;

use refract_test_stack::node::Node;

/// The folders of control groups: version 1 for memory, and version 2.
const FOLDERS: [&str; 2] = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"];
/// The files of the limit and of the peak, in either version.
const LIMITS: [&str; 2] = ["memory.limit_in_bytes", "memory.max"];
const PEAKS: [&str; 2] = ["memory.max_usage_in_bytes", "memory.peak"];

/// A control group around a node, removed when the value is dropped.
pub(crate) struct MemoryLimit {
    folder: PathBuf,
}

impl MemoryLimit {
    /// Limits a node to this memory; `None` if this process cannot create a control group.
    pub(crate) fn around(node: &Node, bytes: usize) -> Option<Self> {
        let pid = node.child().id().expect("it runs");
        FOLDERS.iter().zip(LIMITS).find_map(|(folder, limit)| {
            let folder = PathBuf::from(folder).join(format!("refract-bounds-{pid}"));
            fs::create_dir(&folder).ok()?;
            let made = Self { folder };
            fs::write(made.folder.join(limit), bytes.to_string()).ok()?;
            fs::write(made.folder.join("cgroup.procs"), pid.to_string()).ok()?;
            Some(made)
        })
    }

    /// The group's peak memory, including the kernel's memory for it.
    pub(crate) fn peak_mib(&self) -> Option<usize> {
        let read = |file| fs::read_to_string(self.folder.join(file)).ok();
        let bytes: usize = PEAKS.iter().find_map(read)?.trim().parse().ok()?;
        Some(bytes / 1024 / 1024)
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        // the group can be removed once the node has ended
        for _ in 0..200 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// The node's peak memory so far.
pub(crate) fn peak_mib(node: &Node) -> usize {
    let status = format!("/proc/{}/status", node.child().id().expect("it runs"));
    let status = fs::read_to_string(status).expect("the node lives");
    let mut lines = status.lines();
    let peak = lines.find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.expect("the node lives").trim().trim_end_matches(" kB");
    kib.parse::<usize>().unwrap() / 1024
}
