//! Processor time: what a call costs, however busy the machine is with other work. Linux only.
//!
//! What the server does beside its connections, such as vacuuming, is not counted.

use std::fs;

/// Hundredths of a second that this process and a server's connections have used so far.
pub(crate) fn time(server: Option<u32>) -> u64 {
    let own = std::process::id();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = processes.filter_map(|process| {
        let number: u32 = process.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(process.path().join("stat")).ok()?;
        // after the name, which may hold spaces: state, parent, and from the twelfth on the times
        let fields: Vec<String> = stat
            .rsplit_once(')')?
            .1
            .split_whitespace()
            .map(ToOwned::to_owned)
            .collect();
        let parent: u32 = fields.get(1)?.parse().ok()?;
        let is_connection = || {
            let title = fs::read_to_string(process.path().join("cmdline"));
            title.is_ok_and(|title| title.contains(" growth_"))
        };
        let counts = number == own || (Some(parent) == server && is_connection());
        let used = |index: usize| fields.get(index)?.parse::<u64>().ok();
        counts.then_some(used(11)? + used(12)?)
    });
    stats.sum()
}
