//! The program's commands, run as an operator runs them.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tokio::process::{Child, Command};

use crate::http::within_patience;

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// What a command that did its work wrote to stdout.
    #[track_caller]
    pub(crate) fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// The one JSON object that a command that did its work printed.
    #[track_caller]
    pub(crate) fn object(self) -> Value {
        let stdout = self.done();
        let object: Value = serde_json::from_str(&stdout).expect(&stdout);
        assert!(object.is_object(), "{stdout}");
        object
    }

    /// JSON lines.
    #[track_caller]
    pub(crate) fn lines(self) -> Vec<Value> {
        let stdout = self.done();
        let lines = stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).expect(line))
            .collect()
    }

    /// The one line with which a command refused: no data, no stack trace.
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

/// The binary in a folder, with nothing but these settings in its environment.
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

/// Sends a signal, such as `TERM`, to one process of ours.
pub(crate) async fn signal(child: &Child, name: &str) {
    let id = child.id().expect("it runs");
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -s {name} {id}")])
        .status()
        .await;
    assert!(sent.unwrap().success());
}
