//! Finds PostgreSQL's programs, an unprivileged user and a free port on this machine, for test
//! servers.
#![expect(
    clippy::panic,
    reason = "a test whose server cannot be set up fails here with the reason"
)]

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with `initdb`, `pg_ctl` and `pg_basebackup`.
///
/// # Panics
///
/// When there is no such folder.
pub(crate) fn postgres_binaries() -> PathBuf {
    let mut folders: Vec<PathBuf> = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default();
    for parent in ["/usr/lib/postgresql", "/usr/local/lib/postgresql"] {
        let versions = fs::read_dir(parent).into_iter().flatten().flatten();
        folders.extend(versions.map(|version| version.path().join("bin")));
    }
    for folder in ["/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql/bin"] {
        folders.push(PathBuf::from(folder));
    }
    let found = folders.into_iter().find(|folder| {
        ["initdb", "pg_ctl", "pg_basebackup"]
            .iter()
            .all(|program| folder.join(program).exists())
    });
    found.unwrap_or_else(|| {
        panic!(
            "no PostgreSQL here: install its server, or put `.ci/with-postgres` before the command"
        )
    })
}

/// The user and group for PostgreSQL when the tests run as root.
///
/// # Panics
///
/// When root is the only user.
pub(crate) fn unprivileged_user() -> (u32, u32) {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |name: &str| {
        let line = users.lines().find(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(':'))
        })?;
        let mut numbers = line.split(':').skip(2);
        let user = numbers.next()?.parse().ok()?;
        Some((user, numbers.next()?.parse().ok()?))
    };
    find("postgres")
        .or_else(|| find("nobody"))
        .unwrap_or_else(|| panic!("there is no user but root to run PostgreSQL as"))
}

/// A port that was free just now.
///
/// # Panics
///
/// When no port is free.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address
        .unwrap_or_else(|error| panic!("no port is free: {error}"))
        .port()
}

/// Runs a command to the end.
///
/// # Panics
///
/// When the command fails, with its output.
pub(crate) fn run(command: &mut Command) {
    let program = Path::new(command.get_program()).display().to_string();
    match command.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!(
            "{program}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => panic!("{program}: {error}"),
    }
}
