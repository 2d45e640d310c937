//! What a process holds: memory and descriptors.

use std::fmt;
use std::time::{Duration, Instant};

use crate::http::PATIENCE;
use crate::node::Node;

/// Growth of memory that is no leak whatever the share: caches and arenas of a small process.
const SLACK_KIB: u64 = 4096;
/// Growth of the mean number of descriptors that is no leak: connections come and go.
const SLACK_DESCRIPTORS: u64 = 4;

/// The resident memory and the open descriptors of a process at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) memory_kib: u64,
    pub(crate) descriptors: u64,
    /// Those of the descriptors that are sockets.
    pub(crate) sockets: u64,
}

impl Held {
    /// What a node holds now.
    pub(crate) fn by(node: &Node) -> Self {
        let process = format!("/proc/{}", node.child.id().expect("it runs"));
        let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
        let mut lines = status.lines();
        let memory = lines.find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = memory.unwrap().trim().trim_end_matches(" kB");
        let (mut descriptors, mut sockets) = (0, 0);
        for descriptor in std::fs::read_dir(format!("{process}/fd")).unwrap() {
            descriptors += 1;
            // one that is closed meanwhile leads nowhere
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

/// Fails when a run's last quarter holds a tenth more memory or descriptors than its second quarter,
/// in the mean.
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

/// Waits until a node holds no more sockets than `before`, but for some that it keeps for reuse.
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
