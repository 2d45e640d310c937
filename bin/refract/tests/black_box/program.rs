//! Runs the program's commands.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tokio::process::{Child, Command};

use crate::http::within_patience;

/// The exit status and the output of a command.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The output of a command that succeeded.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// The single JSON object that a successful command printed.
    #[track_caller]
    pub(crate) fn object(self) -> Value {
        let stdout = self.done();
        let object: Value = serde_json::from_str(&stdout).expect(&stdout);
        assert!(object.is_object(), "{stdout}");
        object
    }

    /// The JSON lines that a successful command printed.
    #[track_caller]
    pub(crate) fn lines(self) -> Vec<Value> {
        let stdout = self.done();
        let lines = stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).expect(line))
            .collect()
    }

    /// The single error line of a command that failed without printing data.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        let line = self.stderr.strip_suffix('\n').expect("a whole line");
        assert!(line.starts_with("error: "), "{self:?}");
        assert!(!line.contains('\n'), "{self:?}");
        line.to_owned()
    }
}

/// A command of the binary in a folder, with only these settings as environment.
pub(crate) fn command(folder: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_refract"));
    command
        .args(arguments)
        .env_clear()
        .envs(settings.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

/// Runs a command to its end.
pub(crate) async fn run(folder: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> Ended {
    let output = command(folder, settings, arguments).output();
    let output = within_patience(output).await.unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Sends a signal, such as `TERM`, to a child process.
pub(crate) async fn signal(child: &Child, name: &str) {
    let id = child.id().expect("it runs");
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -s {name} {id}")])
        .status()
        .await;
    assert!(sent.unwrap().success());
}
