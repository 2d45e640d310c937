//! Metrics of the process: its build, and the standard process metrics of Prometheus clients, read
//! from Linux' `/proc` at each scrape. On other systems only the build is exported.

use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::TypedMetric;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use rustix::process::{Resource, getrlimit};

/// Encodes the metrics of this process.
#[derive(Debug)]
pub struct ProcessCollector {
    /// The version of the program.
    pub version: &'static str,
    /// The commit that the program was built from; empty if unknown.
    pub commit: &'static str,
}

/// The operating system's figures for this process.
#[derive(Debug, PartialEq)]
struct ProcessUse {
    cpu_seconds: f64,
    resident_bytes: i64,
    virtual_bytes: i64,
    start_seconds: f64,
    open_descriptors: i64,
    most_descriptors: i64,
}

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let build = ConstGauge::new(1_i64);
        let metric = encoder.encode_descriptor(
            "refract_build_info",
            "1, with the version and the commit that the program was built from.",
            None,
            ConstGauge::<i64>::TYPE,
        );
        let mut metric = metric?;
        let labels = [("version", self.version), ("commit", self.commit)];
        build.encode(metric.encode_family(&labels)?)?;
        let Some(process) = ProcessUse::read() else {
            return Ok(());
        };
        encode(
            &mut encoder,
            "process_cpu_seconds",
            "Total user and system CPU time spent in seconds.",
            &ConstCounter::new(process.cpu_seconds),
        )?;
        encode(
            &mut encoder,
            "process_start_time_seconds",
            "Start time of the process since unix epoch in seconds.",
            &ConstGauge::new(process.start_seconds),
        )?;
        let gauges = [
            (
                "process_resident_memory_bytes",
                "Resident memory size in bytes.",
                process.resident_bytes,
            ),
            (
                "process_virtual_memory_bytes",
                "Virtual memory size in bytes.",
                process.virtual_bytes,
            ),
            (
                "process_open_fds",
                "Number of open file descriptors.",
                process.open_descriptors,
            ),
            (
                "process_max_fds",
                "Maximum number of open file descriptors.",
                process.most_descriptors,
            ),
        ];
        for (name, help, value) in gauges {
            encode(&mut encoder, name, help, &ConstGauge::new(value))?;
        }
        Ok(())
    }
}

fn encode<M: EncodeMetric + TypedMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    metric: &M,
) -> Result<(), std::fmt::Error> {
    metric.encode(encoder.encode_descriptor(name, help, None, M::TYPE)?)
}

impl ProcessUse {
    fn read() -> Option<Self> {
        let statistics = fs::read_to_string("/proc/self/stat").ok()?;
        let system = fs::read_to_string("/proc/stat").ok()?;
        // listing the directory takes one descriptor itself
        let open = fs::read_dir("/proc/self/fd").ok()?.count().checked_sub(1)?;
        let most = getrlimit(Resource::Nofile).current;
        Some(Self {
            open_descriptors: i64::try_from(open).ok()?,
            most_descriptors: most
                .and_then(|most| i64::try_from(most).ok())
                .unwrap_or(i64::MAX),
            ..Self::of(&statistics, &system)?
        })
    }

    /// Reads `/proc/self/stat` and the time of the system's start in `/proc/stat` (`proc(5)`).
    fn of(statistics: &str, system: &str) -> Option<Self> {
        // the program's name, in brackets, may contain any characters
        let (_, fields) = statistics.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        // fields are numbered from 1, and the third one is the first after the name
        let field = |number: usize| fields.get(number.checked_sub(3)?)?.parse::<u32>().ok();
        let large = |number: usize| fields.get(number.checked_sub(3)?)?.parse::<i64>().ok();
        let started = system.lines().find_map(|line| line.strip_prefix("btime "));
        let started: f64 = started?.trim().parse().ok()?;
        let ticks = u32::try_from(rustix::param::clock_ticks_per_second()).ok()?;
        let page = i64::try_from(rustix::param::page_size()).ok()?;
        let seconds = |of_ticks: u32| f64::from(of_ticks) / f64::from(ticks);
        Some(Self {
            cpu_seconds: seconds(field(14)?) + seconds(field(15)?),
            start_seconds: started + seconds(u32::try_from(large(22)?).ok()?),
            virtual_bytes: large(23)?,
            resident_bytes: large(24)?.checked_mul(page)?,
            open_descriptors: 0,
            most_descriptors: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_proc_are_read_behind_any_name() {
        let line = "7 (a) R b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 4 0 12345 \
            1048576 256 18446744073709551615 1 1";
        let read = ProcessUse::of(line, "cpu 1 2\nbtime 1700000000\nprocesses 9\n").unwrap();
        let ticks = f64::from(u32::try_from(rustix::param::clock_ticks_per_second()).unwrap());
        let page = i64::try_from(rustix::param::page_size()).unwrap();
        let near = |one: f64, other: f64| assert!((one - other).abs() < 0.001, "{one} {other}");
        near(read.cpu_seconds, 300.0 / ticks);
        near(read.start_seconds, 1_700_000_000.0 + 12_345.0 / ticks);
        assert_eq!(read.virtual_bytes, 1_048_576);
        assert_eq!(read.resident_bytes, 256 * page);
        assert_eq!(ProcessUse::of("7 (a) S 1", "btime 1"), None);
        assert_eq!(ProcessUse::of(line, "nothing"), None);
    }

    #[test]
    fn this_process_is_seen_where_there_is_proc() {
        let Some(read) = ProcessUse::read() else {
            assert!(!std::path::Path::new("/proc/self/stat").exists());
            return;
        };
        assert!(read.resident_bytes > 0 && read.virtual_bytes >= read.resident_bytes);
        assert!(read.open_descriptors >= 3 && read.most_descriptors > read.open_descriptors);
    }
}
