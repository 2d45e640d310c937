//! The cost of calls on a server: processor time, and where the machine counts them, instructions
//! and cache misses.

use std::process::{Child, Command, Stdio};

use anyhow::Context as _;

const EVENTS: &str = "instructions,cache-misses";

/// A set of processes, watched from creation of the value.
pub struct Counted {
    pids: Vec<u32>,
    nanoseconds: u64,
    perf: Option<Child>,
}

/// The cost on the processes.
#[derive(Clone, Copy, Default)]
pub struct Spent {
    pub cpu_ms: f64,
    /// `None` if the machine does not count them, like most virtual machines.
    pub instructions: Option<f64>,
    pub cache_misses: Option<f64>,
}

impl Counted {
    /// Starts watching processes, with `perf` if it is installed.
    pub fn begin(pids: Vec<u32>) -> Self {
        let list: Vec<_> = pids.iter().map(u32::to_string).collect();
        let perf = Command::new("perf")
            .args(["stat", "-x,", "-e", EVENTS, "-p", &list.join(",")])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        Self {
            nanoseconds: nanoseconds(&pids),
            pids,
            perf: perf.ok(),
        }
    }

    /// Stops watching.
    pub fn end(self) -> anyhow::Result<Spent> {
        let spent = nanoseconds(&self.pids).saturating_sub(self.nanoseconds);
        let mut counts = [None, None];
        if let Some(perf) = self.perf {
            let pid = perf.id().to_string();
            // `perf` prints when it is interrupted
            Command::new("kill").args(["-INT", &pid]).status()?;
            let printed = String::from_utf8(perf.wait_with_output()?.stderr)?;
            for (count, event) in counts.iter_mut().zip(EVENTS.split(',')) {
                let line = printed.lines().find(|line| line.contains(event));
                *count = line.and_then(|line| line.split(',').next()?.parse().ok());
            }
        }
        let [instructions, cache_misses] = counts;
        Ok(Spent {
            cpu_ms: spent as f64 / 1e6,
            instructions,
            cache_misses,
        })
    }
}

impl Spent {
    /// The cost per call.
    pub fn of_one(self, calls: usize) -> Self {
        let calls = calls as f64;
        Self {
            cpu_ms: self.cpu_ms / calls,
            instructions: self.instructions.map(|count| count / calls),
            cache_misses: self.cache_misses.map(|count| count / calls),
        }
    }
}

/// The processes with a name, such as those of a database.
pub fn pids_of(name: &str) -> anyhow::Result<Vec<u32>> {
    let in_parentheses = format!("({name})");
    let mut pids = Vec::new();
    for process in std::fs::read_dir("/proc").context("no /proc")? {
        let process = process?;
        let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        if stat.contains(&in_parentheses)
            && let Ok(pid) = process.file_name().to_string_lossy().parse()
        {
            pids.push(pid);
        }
    }
    Ok(pids)
}

/// The time that the threads of processes have run, in nanoseconds: finer than the ticks of
/// `/proc/PID/stat`, too coarse for a few calls.
fn nanoseconds(pids: &[u32]) -> u64 {
    let tasks = pids
        .iter()
        .filter_map(|pid| std::fs::read_dir(format!("/proc/{pid}/task")).ok())
        .flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok())
        .filter_map(|stat| stat.split(' ').next()?.parse::<u64>().ok())
        .sum()
}
