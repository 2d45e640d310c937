//! A PostgreSQL server of a test's own, for faults that no shared server could bear: stopped,
//! killed, started again, followed by a standby that takes over.
//!
//! It is made with the installed binaries (`.ci/with-postgres` installs them where they are
//! missing) in a folder under `/tmp`, listens on the loopback interface only, and goes with its
//! value. Its calls block: tests on a runtime put them where that is allowed.
#![expect(
    clippy::panic,
    reason = "a test whose server cannot be set up ends here, saying why"
)]

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// How a server is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Transactions are rolled back, clients are told.
    Fast,
    /// As in a crash: the next start recovers.
    Immediate,
}

/// A running server, and its files.
#[derive(Debug)]
pub struct Cluster {
    binaries: PathBuf,
    folder: TempDir,
    owner: Option<(u32, u32)>,
    port: u16,
    password: String,
}

impl Cluster {
    /// Makes a server with these lines in its configuration, and starts it. It keeps every promise
    /// of durability that PostgreSQL makes by default.
    ///
    /// # Panics
    ///
    /// Where the binaries are missing or refuse.
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

    /// A standby that follows this server by streaming, with the name `standby`.
    ///
    /// # Panics
    ///
    /// Where it cannot be made or started.
    pub fn standby(&self) -> Self {
        let mut standby = Self::empty(self.password.clone());
        let mut command = standby.command("pg_basebackup");
        command
            .arg(format!("--pgdata={}", standby.data().display()))
            .arg(format!(
                "--dbname={} application_name=standby",
                self.conninfo()
            ))
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"]);
        run(&mut command);
        standby.start_somewhere();
        standby
    }

    /// The address of its one database, `postgres://…`, without TLS.
    pub fn url(&self) -> String {
        self.url_at(self.port)
    }

    /// The same by way of another port, such as a proxy's.
    pub fn url_at(&self, port: u16) -> String {
        let password = &self.password;
        format!("postgres://refract:{password}@127.0.0.1:{port}/postgres?sslmode=disable")
    }

    /// The password of its superuser `refract`.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// The port; it stays the same over restarts.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process whose children serve its connections.
    ///
    /// # Panics
    ///
    /// Where it does not run.
    pub fn process_id(&self) -> u32 {
        let path = self.data().join("postmaster.pid");
        let text = fs::read_to_string(path).unwrap_or_default();
        let number = text.lines().next().and_then(|line| line.parse().ok());
        number.unwrap_or_else(|| panic!("the server does not run"))
    }

    /// Adds lines to the configuration, for the next start or [`Cluster::reload`].
    ///
    /// # Panics
    ///
    /// Where the file cannot be written.
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

    /// Writes a file that only the server may read, such as a key; its path.
    ///
    /// # Panics
    ///
    /// Where it cannot be written.
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

    /// Has the configuration read again.
    ///
    /// # Panics
    ///
    /// Where it does not run.
    pub fn reload(&self) {
        self.control(&["reload"]);
    }

    /// Stops it.
    ///
    /// # Panics
    ///
    /// Where it cannot be stopped.
    pub fn stop(&self, how: Shutdown) {
        self.control(&["stop", "--wait", mode(how)]);
    }

    /// Starts it again on its port.
    ///
    /// # Panics
    ///
    /// Where it does not start.
    pub fn start_again(&self) {
        let started = self.try_start();
        started.unwrap_or_else(|log| panic!("PostgreSQL did not start: {log}"));
    }

    /// Stops all its processes where they are: connections stay open and nobody answers, as on a
    /// machine that hangs.
    ///
    /// # Panics
    ///
    /// Where it does not run.
    pub fn freeze(&self) {
        assert!(self.signal("STOP"), "the server is not there to be frozen");
    }

    /// Lets them go on.
    ///
    /// # Panics
    ///
    /// Where it does not run.
    pub fn thaw(&self) {
        assert!(self.signal("CONT"), "the server is not there to be thawed");
    }

    /// Makes a standby take over.
    ///
    /// # Panics
    ///
    /// Where it is none.
    pub fn promote(&self) {
        self.control(&["promote", "--wait"]);
    }

    fn empty(password: String) -> Self {
        // a folder that another user may enter, wherever this one's temporary files are
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
            binaries: binaries(),
            folder,
            owner,
            port: 0,
            password,
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn conninfo(&self) -> String {
        let (port, password) = (self.port, &self.password);
        format!("host=127.0.0.1 port={port} user=refract password={password}")
    }

    /// A program of PostgreSQL, which refuses to run as root.
    fn command(&self, program: &str) -> Command {
        self.as_owner(&self.binaries.join(program))
    }

    /// A command in the server's folder, as the user that the server runs as.
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

    /// Takes a free port, and another one when somebody was faster.
    fn start_somewhere(&mut self) {
        let mut log = String::new();
        for _ in 0..5 {
            self.port = free_port();
            match self.try_start() {
                Ok(()) => return,
                Err(said) => log = said,
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
            // the server lives on with what it inherits
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

    /// Sends a signal to the server's processes, the parent first, so that no child is missed.
    fn signal(&self, name: &str) -> bool {
        let script = format!(
            "parent=$(head -n 1 postmaster.pid) && kill -s {name} $parent && \
             kill -s {name} $(ps -o pid= --ppid $parent)"
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
        // it may be frozen, or stopped already
        self.signal("CONT");
        self.control_command().args(arguments).output().ok();
    }
}

fn mode(how: Shutdown) -> &'static str {
    match how {
        Shutdown::Fast => "--mode=fast",
        Shutdown::Immediate => "--mode=immediate",
    }
}

/// Where `initdb` and its kind are.
fn binaries() -> PathBuf {
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

/// The user and group that PostgreSQL runs as when the tests run as root.
fn unprivileged_user() -> (u32, u32) {
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

/// A port that nobody had a moment ago.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address
        .unwrap_or_else(|error| panic!("no port is free: {error}"))
        .port()
}

fn run(command: &mut Command) {
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
