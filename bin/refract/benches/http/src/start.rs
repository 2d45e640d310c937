//! The time until a started node answers, and the cost of an idle node.

use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::paced::quantile;
use crate::process::{ServerProcess, cpu_seconds, resident_kib};

const STARTS: usize = 11;
const REST: Duration = Duration::from_secs(20);

/// Prints the time from the start of `refract serve` to its first answer, on a migrated database,
/// and the processor time and memory of an idle node. The app is on.
pub fn measure(binary: &Path, postgres: &str) -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let sqlite = format!("sqlite://{}", folder.path().join("start.db").display());
    println!("| database | first answer, median, ms | most, ms | at rest, % of a core | MiB |");
    println!("|---|--:|--:|--:|--:|");
    for (name, database) in [("SQLite", &sqlite), ("PostgreSQL", &postgres.to_owned())] {
        let settings = [
            ("DATABASE_URL", database.clone()),
            ("REFRACT_MODEL_URL", "builtin:lexical".to_owned()),
            ("REFRACT_APP_LISTEN", "127.0.0.1:0".to_owned()),
        ];
        // creates the tables
        drop(ServerProcess::start_refract(
            binary,
            folder.path(),
            &settings,
        )?);
        let mut milliseconds = Vec::new();
        for _ in 0..STARTS {
            let begun = Instant::now();
            let node = ServerProcess::start_refract(binary, folder.path(), &settings)?;
            let status = node.status("/v1")?;
            milliseconds.push(begun.elapsed().as_secs_f64() * 1000.0);
            anyhow::ensure!(status == 404, "an odd answer: {status}");
        }
        milliseconds.sort_by(f64::total_cmp);
        let node = ServerProcess::start_refract(binary, folder.path(), &settings)?;
        std::thread::sleep(Duration::from_secs(2));
        let before = cpu_seconds(node.pid())?;
        std::thread::sleep(REST);
        let share = (cpu_seconds(node.pid())? - before) / REST.as_secs_f64();
        println!(
            "| {name} | {:.1} | {:.1} | {:.3} | {:.1} |",
            quantile(&milliseconds, 0.5),
            quantile(&milliseconds, 1.0),
            share * 100.0,
            resident_kib(node.pid())? as f64 / 1024.0,
        );
    }
    Ok(())
}
