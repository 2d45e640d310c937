//! A PostgreSQL server for one test. The test may stop, kill and restart the server, or promote a
//! standby.
//!
//! The server runs the installed binaries (`.ci/with-postgres` installs missing ones) in a folder
//! under `/tmp`. It listens only on the loopback interface, and is removed when its value is
//! dropped. All functions block: an async test must call them where blocking is allowed.
#![expect(
    clippy::panic,
    reason = "a test whose server cannot be set up fails here with the reason"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::machine::{free_port, postgres_binaries, run, unprivileged_user};

/// How to stop a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Rolls back transactions and notifies the clients.
    Fast,
    /// Stops like a crash: the next start recovers.
    Immediate,
}

/// A running PostgreSQL server and its files.
#[derive(Debug)]
pub struct Cluster {
    binaries: PathBuf,
    folder: TempDir,
    owner: Option<(u32, u32)>,
    port: u16,
    password: String,
}

impl Cluster {
    /// Creates and starts a server with these lines in its configuration. Durability is
    /// PostgreSQL's default.
    ///
    /// # Panics
    ///
    /// When the binaries are missing or fail.
    pub fn start(settings: &[&str]) -> Self {
        let mut cluster = Self::empty(uuid::Uuid::now_v7().simple().to_string());
        let password_file = cluster.write("password", &cluster.password);
        let arguments = [
            "--username=refract",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
        ];
        let mut command = cluster.command("initdb");
        command.arg(format!("--pgdata={}", cluster.data().display()));
        command.arg(format!("--pwfile={}", password_file.display()));
        run(command.args(arguments));
        let all = [
            "listen_addresses = '127.0.0.1'",
            "unix_socket_directories = ''",
            "max_connections = 200",
            "shared_buffers = 32MB",
            "timezone = 'UTC'",
        ];
        cluster.configure(&all);
        cluster.configure(settings);
        cluster.start_somewhere();
        cluster
    }

    /// Starts a standby named `standby` that follows this server by streaming replication.
    ///
    /// # Panics
    ///
    /// When the standby cannot be created or started.
    pub fn standby(&self) -> Self {
        let mut standby = self.copied();
        standby.start_somewhere();
        standby
    }

    /// Starts a standby like [`Cluster::standby`], on the port of a stopped server.
    ///
    /// # Panics
    ///
    /// When the standby cannot be created or started there.
    pub fn standby_on(&self, port: u16) -> Self {
        let mut standby = self.copied();
        standby.port = port;
        standby.start_again();
        standby
    }

    /// Whether commits wait for a standby of this server.
    ///
    /// # Panics
    ///
    /// When the server does not answer.
    pub fn has_synchronous_standby(&self) -> bool {
        let mut command = self.command("psql");
        let query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        command
            .arg(format!("--dbname={} dbname=postgres", self.conninfo()))
            .args([
                "--no-psqlrc",
                "--tuples-only",
                "--no-align",
                "--command",
                query,
            ]);
        let output = command.output();
        let output = output.unwrap_or_else(|error| panic!("psql: {error}"));
        assert!(output.status.success(), "psql: {output:?}");
        output.stdout.trim_ascii() == b"1"
    }

    /// A copy of this server's files, which becomes a standby of this server when it is started.
    fn copied(&self) -> Self {
        let standby = Self::empty(self.password.clone());
        let mut command = standby.command("pg_basebackup");
        command
            .arg(format!("--pgdata={}", standby.data().display()))
            .arg(format!(
                "--dbname={} application_name=standby",
                self.conninfo()
            ))
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]);
        run(&mut command);
        standby
    }

    /// The address of the server's only database, `postgres://…`, without TLS.
    pub fn url(&self) -> String {
        self.url_at(self.port)
    }

    /// The address of the database at another port, such as a proxy's.
    pub fn url_at(&self, port: u16) -> String {
        let password = &self.password;
        format!("postgres://refract:{password}@127.0.0.1:{port}/postgres?sslmode=disable")
    }

    /// The password of the superuser `refract`.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// The server's port, which stays the same over restarts.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The id of the main process; its children serve the connections.
    ///
    /// # Panics
    ///
    /// When the server is not running.
    pub fn process_id(&self) -> u32 {
        let path = self.data().join("postmaster.pid");
        let text = fs::read_to_string(path).unwrap_or_default();
        let number = text.lines().next().and_then(|line| line.parse().ok());
        number.unwrap_or_else(|| panic!("the server does not run"))
    }

    /// Adds lines to the configuration, which take effect at the next start or
    /// [`Cluster::reload`].
    ///
    /// # Panics
    ///
    /// When the file cannot be written.
    pub fn configure(&self, lines: &[&str]) {
        let path = self.data().join("postgresql.conf");
        let written = fs::read_to_string(&path).and_then(|mut text| {
            for line in lines {
                text.push_str(line);
                text.push('\n');
            }
            fs::write(&path, text)
        });
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Writes a file that only the server can read, such as a key, and returns the path.
    ///
    /// # Panics
    ///
    /// When the file cannot be written.
    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        let written = fs::write(&path, content)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o600)))
            .and_then(|()| match self.owner {
                Some((user, group)) => chown(&path, Some(user), Some(group)),
                None => Ok(()),
            });
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    /// Makes the server read its configuration again.
    ///
    /// # Panics
    ///
    /// When the server is not running.
    pub fn reload(&self) {
        self.control(&["reload"]);
    }

    /// Stops the server.
    ///
    /// # Panics
    ///
    /// When the server cannot be stopped.
    pub fn stop(&self, how: Shutdown) {
        self.control(&["stop", "--wait", mode(how)]);
    }

    /// Starts the stopped server on its previous port.
    ///
    /// # Panics
    ///
    /// When the server does not start.
    pub fn start_again(&self) {
        let started = self.try_start();
        started.unwrap_or_else(|log| panic!("PostgreSQL did not start: {log}"));
    }

    /// Freezes all processes of the server: connections stay open without answers, as if the
    /// machine hung.
    ///
    /// # Panics
    ///
    /// When the server is not running.
    pub fn freeze(&self) {
        assert!(self.signal(FREEZE), "the server is not there to be frozen");
    }

    /// Lets the frozen processes continue.
    ///
    /// # Panics
    ///
    /// When the server is not running.
    pub fn thaw(&self) {
        assert!(self.signal(THAW), "the server is not there to be thawed");
    }

    /// Promotes this standby.
    ///
    /// # Panics
    ///
    /// When this server is not a standby.
    pub fn promote(&self) {
        self.control(&["promote", "--wait"]);
    }

    fn empty(password: String) -> Self {
        // not the usual temporary folder: PostgreSQL's user may not be allowed to enter it
        let folder = tempfile::Builder::new()
            .prefix("refract-cluster.")
            .tempdir_in("/tmp")
            .unwrap_or_else(|error| panic!("no folder under /tmp: {error}"));
        let is_root = fs::metadata(folder.path()).is_ok_and(|folder| folder.uid() == 0);
        let owner = is_root.then(unprivileged_user);
        if let Some((user, group)) = owner {
            let handed_over = chown(folder.path(), Some(user), Some(group));
            handed_over.unwrap_or_else(|error| panic!("the folder stays root's: {error}"));
        }
        Self {
            binaries: postgres_binaries(),
            folder,
            owner,
            port: 0,
            password,
        }
    }

    /// The folder of the server's files, which is its working directory.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn conninfo(&self) -> String {
        let (port, password) = (self.port, &self.password);
        format!("host=127.0.0.1 port={port} user=refract password={password}")
    }

    /// A command for a PostgreSQL program as the server's user: root is refused.
    fn command(&self, program: &str) -> Command {
        self.as_owner(&self.binaries.join(program))
    }

    /// A command in the server's folder as the server's user.
    pub(crate) fn as_owner(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .env("PGSSLMODE", "disable");
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }

    /// Starts the server on a free port, and tries another port if it was taken meanwhile.
    fn start_somewhere(&mut self) {
        let mut log = String::new();
        for _ in 0..5 {
            self.port = free_port();
            match self.try_start() {
                Ok(()) => return,
                Err(printed) => log = printed,
            }
        }
        panic!("PostgreSQL did not start: {log}");
    }

    fn try_start(&self) -> Result<(), String> {
        let mut command = self.control_command();
        let log = self.folder.path().join("server.log");
        command
            .args(["start", "--wait", "--timeout=60", "--silent"])
            .arg(format!("--options=-p {}", self.port))
            .arg(format!("--log={}", log.display()))
            // the server keeps the output streams that it inherits open
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(fs::read_to_string(log).unwrap_or_default()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn control_command(&self) -> Command {
        let mut command = self.command("pg_ctl");
        command.arg(format!("--pgdata={}", self.data().display()));
        command
    }

    /// Runs a shell script that sends signals to the server's processes. In the script, `$parent`
    /// is the parent process, and `children` prints the others.
    fn signal(&self, script: &str) -> bool {
        let script = format!(
            "parent=$(head -n 1 postmaster.pid) && children() {{ ps -o pid= --ppid $parent; }} && \
             {script}"
        );
        let mut command = Command::new("/bin/sh");
        let sent = command
            .args(["-c", &script])
            .current_dir(self.data())
            .output();
        sent.is_ok_and(|output| output.status.success())
    }

    fn control(&self, arguments: &[&str]) {
        run(self.control_command().args(arguments));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let arguments = ["stop", "--wait", "--silent", mode(Shutdown::Immediate)];
        // the server may be frozen
        self.signal(THAW);
        self.control_command().args(arguments).output().ok();
    }
}

/// Stops the parent first, so that no child starts after they were listed.
const FREEZE: &str = "kill -s STOP $parent && kill -s STOP $(children)";
/// Continues the parent last, so that no child starts or ends while they are listed.
const THAW: &str = "kill -s CONT $(children) && kill -s CONT $parent";

fn mode(how: Shutdown) -> &'static str {
    match how {
        Shutdown::Fast => "--mode=fast",
        Shutdown::Immediate => "--mode=immediate",
    }
}
