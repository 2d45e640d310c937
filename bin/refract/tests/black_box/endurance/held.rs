//! The resources of a process: memory and file descriptors.

use std::fmt;
use std::time::{Duration, Instant};

use refract_test_stack::http::PATIENCE;
use refract_test_stack::node::Node;

/// Growth of memory that never counts as a leak: caches and arenas of a small process.
const SLACK_KIB: u64 = 4096;
/// Growth of the mean number of file descriptors that never counts as a leak: connections vary.
const SLACK_DESCRIPTORS: u64 = 4;

/// The resident memory and the open file descriptors of a process at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) memory_kib: u64,
    pub(crate) descriptors: u64,
    /// The number of file descriptors that are sockets.
    pub(crate) sockets: u64,
}

impl Held {
    /// The resources of a node now.
    pub(crate) fn by(node: &Node) -> Self {
        let process = format!("/proc/{}", node.child().id().expect("it runs"));
        let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
        let mut lines = status.lines();
        let memory = lines.find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = memory.unwrap().trim().trim_end_matches(" kB");
        let (mut descriptors, mut sockets) = (0, 0);
        for descriptor in std::fs::read_dir(format!("{process}/fd")).unwrap() {
            descriptors += 1;
            // a descriptor closed meanwhile has no target
            let target = std::fs::read_link(descriptor.unwrap().path()).unwrap_or_default();
            sockets += u64::from(target.to_string_lossy().starts_with("socket:"));
        }
        Self {
            memory_kib: kib.parse().unwrap(),
            descriptors,
            sockets,
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.memory_kib * 10 / 1024;
        let (whole, tenth) = (tenths / 10, tenths % 10);
        let (descriptors, sockets) = (self.descriptors, self.sockets);
        write!(
            f,
            "{whole}.{tenth} MiB, {descriptors} descriptors, {sockets} of them sockets"
        )
    }
}

/// Fails if a run's last quarter uses on average a tenth more memory or descriptors than its second
/// quarter.
pub(crate) fn assert_flat(samples: &[Held]) {
    let quarter = samples.len() / 4;
    assert!(quarter > 0, "too short a run: {samples:?}");
    let second = mean(&samples[quarter..2 * quarter]);
    let last = mean(&samples[samples.len() - quarter..]);
    println!("in the mean, second quarter: {second}; last quarter: {last}");
    let most_kib = second.memory_kib * 11 / 10 + SLACK_KIB;
    let most_descriptors = second.descriptors * 11 / 10 + SLACK_DESCRIPTORS;
    assert!(last.memory_kib <= most_kib, "memory grows");
    assert!(last.descriptors <= most_descriptors, "descriptors grow");
}

fn mean(samples: &[Held]) -> Held {
    let number = u64::try_from(samples.len()).unwrap();
    let sum = |of: fn(&Held) -> u64| samples.iter().map(of).sum::<u64>();
    Held {
        memory_kib: sum(|held| held.memory_kib) / number,
        descriptors: sum(|held| held.descriptors) / number,
        sockets: sum(|held| held.sockets) / number,
    }
}

/// Waits until a node has at most `before` plus `kept` sockets; it keeps some for reuse.
pub(crate) async fn until_sockets_are_back(node: &Node, before: Held, kept: u64) -> Held {
    let end = Instant::now() + PATIENCE;
    loop {
        let now = Held::by(node);
        if now.sockets <= before.sockets + kept {
            return now;
        }
        assert!(Instant::now() < end, "before: {before}; still: {now}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
