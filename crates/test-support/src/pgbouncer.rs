//! A connection pooler (`pgbouncer`) in front of a [`Cluster`], if one is installed.
#![expect(
    clippy::panic,
    reason = "a test whose pooler cannot be set up fails here with the reason"
)]

use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cluster::Cluster;
use crate::machine::free_port;

/// Paths where distributions install `pgbouncer`.
const PLACES: [&str; 3] = [
    "/usr/sbin/pgbouncer",
    "/usr/bin/pgbouncer",
    "/opt/homebrew/bin/pgbouncer",
];

/// A running pooler, killed when this value is dropped.
#[derive(Debug)]
pub struct PgBouncer {
    child: Child,
    port: u16,
}

impl PgBouncer {
    /// The version of the pooler at `REFRACT_TEST_PGBOUNCER`, or else of the installed one, such as
    /// `(1, 18)`; `None` without a pooler.
    pub fn installed() -> Option<(u32, u32)> {
        let output = Command::new(program()?).arg("--version").output().ok()?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = printed.lines().next()?.rsplit(' ').next()?.to_owned();
        let mut numbers = version.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }

    /// Starts a pooler with these lines in its configuration; they must set the pool mode.
    ///
    /// # Panics
    ///
    /// When the pooler is not installed or does not start.
    pub fn start(cluster: &Cluster, settings: &[&str]) -> Self {
        let port = free_port();
        let users = format!("\"refract\" \"{}\"\n", cluster.password());
        let users = cluster.write("pgbouncer-users", &users);
        let text = format!(
            "[databases]\npostgres = host=127.0.0.1 port={} dbname=postgres\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = plain\nauth_file = {}\n{}\n",
            cluster.port(),
            users.display(),
            settings.join("\n")
        );
        let configuration = cluster.write("pgbouncer.ini", &text);
        let program = program().unwrap_or_else(|| panic!("pgbouncer is not installed"));
        let mut command = cluster.as_owner(&program);
        let spawned = command
            .arg("--quiet")
            .arg(configuration)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = spawned.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let pooler = Self { child, port };
        pooler.wait_until_it_listens();
        pooler
    }

    /// The port of the pooler.
    pub fn port(&self) -> u16 {
        self.port
    }

    fn wait_until_it_listens(&self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            assert!(Instant::now() < deadline, "pgbouncer does not listen");
            std::thread::yield_now();
        }
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The program at `REFRACT_TEST_PGBOUNCER`, or else the installed one.
fn program() -> Option<PathBuf> {
    let named = std::env::var_os("REFRACT_TEST_PGBOUNCER").filter(|named| !named.is_empty());
    let mut installed = PLACES.iter().map(PathBuf::from);
    named
        .map(PathBuf::from)
        .or_else(|| installed.find(|program| program.exists()))
}
