//! Runs the program's commands, in this process or as the built program.

use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use clap::CommandFactory as _;
use refract::Program;
use refract_terminal::{command_line, output, streams};
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::http::within_patience;

/// How nodes and commands are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// In the process of the test.
    InProcess,
    /// As processes of this built program.
    Binary(&'static str),
}

/// The exit status and the output of a command.
#[derive(Debug)]
pub struct Ended {
    /// The exit status; `None` when a signal ended the process.
    pub code: Option<i32>,
    /// All of stdout.
    pub stdout: String,
    /// All of stderr.
    pub stderr: String,
}

impl Ended {
    /// The output of a command that succeeded.
    #[track_caller]
    pub fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// The single JSON object that a successful command printed.
    #[track_caller]
    pub fn object(self) -> Value {
        let stdout = self.done();
        let object: Value = serde_json::from_str(&stdout).expect(&stdout);
        assert!(object.is_object(), "{stdout}");
        object
    }

    /// The JSON lines that a successful command printed.
    #[track_caller]
    pub fn lines(self) -> Vec<Value> {
        let stdout = self.done();
        let lines = stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).expect(line))
            .collect()
    }

    /// The single error line of a command that failed without printing data.
    #[track_caller]
    pub fn refused(self) -> String {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        let line = self.stderr.strip_suffix('\n').expect("a whole line");
        assert!(line.starts_with("error: "), "{self:?}");
        assert!(!line.contains('\n'), "{self:?}");
        line.to_owned()
    }
}

impl Runner {
    /// Runs a command to its end, as if in this folder. The settings are environment variables.
    pub async fn run(self, folder: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> Ended {
        self.run_with_input(folder, settings, arguments, b"").await
    }

    /// Runs a command as [`Runner::run`] does, with these bytes as stdin.
    pub async fn run_with_input(
        self,
        folder: &Path,
        settings: &[(&str, &str)],
        arguments: &[&str],
        input: &[u8],
    ) -> Ended {
        let ended = async {
            match self {
                Self::InProcess => run_in_process(folder, settings, arguments, input).await,
                Self::Binary(path) => {
                    let command = command(path, folder, settings, arguments);
                    run_process(command, input).await
                }
            }
        };
        within_patience(ended).await
    }
}

/// Runs a command in the test's process, as [`Runner::run`] does.
pub async fn run(folder: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> Ended {
    Runner::InProcess.run(folder, settings, arguments).await
}

/// A command of a built program in a folder, with only these settings as environment.
pub fn command(
    program: &str,
    folder: &Path,
    settings: &[(&str, &str)],
    arguments: &[&str],
) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(settings.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

async fn run_process(mut command: Command, input: &[u8]) -> Ended {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // a command that does not read its stdin closes it
    tokio::io::AsyncWriteExt::write_all(&mut stdin, input)
        .await
        .ok();
    drop(stdin);
    let output = child.wait_with_output().await.unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

async fn run_in_process(
    folder: &Path,
    settings: &[(&str, &str)],
    arguments: &[&str],
    input: &[u8],
) -> Ended {
    let line = line(&Program::command(), folder, settings, arguments);
    let running = async {
        match command_line::read::<Program, _>(&line) {
            Ok(program) => output::exit_code(Box::pin(program.run()).await),
            Err(error) => command_line::report_wrong_usage(Program::command(), &line, error),
        }
    };
    let captured = streams::captured(input.to_vec(), Box::pin(running)).await;
    let folder = format!("{}/", folder.display());
    let shown = |bytes| String::from_utf8(bytes).unwrap().replace(&folder, "");
    Ended {
        code: status(captured.value),
        stdout: shown(captured.stdout),
        stderr: shown(captured.stderr),
    }
}

/// The number of an exit status; `None` for a status that no command returns.
pub(crate) fn status(code: ExitCode) -> Option<i32> {
    let statuses = [ExitCode::SUCCESS, ExitCode::FAILURE, ExitCode::from(2)];
    let statuses = (0..).zip(statuses);
    // `ExitCode` has no `PartialEq`
    let found = |(_, known): &(i32, ExitCode)| format!("{known:?}") == format!("{code:?}");
    statuses.into_iter().find(found).map(|(status, _)| status)
}

/// The command line for these arguments: settings of the command become flags, since the
/// environment belongs to the whole process, and file names become paths in the folder.
pub(crate) fn line(
    program: &clap::Command,
    folder: &Path,
    settings: &[(&str, &str)],
    arguments: &[&str],
) -> Vec<OsString> {
    let mut line = vec![OsString::from("refract")];
    let mut before = "";
    for argument in arguments {
        let is_file = FILE_FLAGS.contains(&before) || is_file_name(folder, argument);
        line.push(if is_file && *argument != "-" {
            folder.join(argument).into()
        } else {
            argument.into()
        });
        before = argument;
    }
    let names = arguments.iter().take_while(|name| !name.starts_with('-'));
    let mut command = program;
    let mut known: Vec<_> = program.get_arguments().collect();
    for name in names {
        let Some(subcommand) = command.find_subcommand(name) else {
            break;
        };
        command = subcommand;
        known.extend(command.get_arguments());
    }
    // without a setting, a command uses a database in its folder
    let default = ("DATABASE_URL", "sqlite://refract.db");
    let settings = settings.iter().chain([&default]);
    let mut given: Vec<_> = arguments.iter().map(ToString::to_string).collect();
    for (variable, value) in settings {
        let has_it = |argument: &&&clap::Arg| argument.get_env() == Some(variable.as_ref());
        let Some(flag) = known.iter().find(has_it).and_then(|it| it.get_long()) else {
            continue;
        };
        let flag = format!("--{flag}");
        if !given.iter().any(|argument| argument.starts_with(&flag)) {
            given.push(flag.clone());
            let value = match value.strip_prefix("sqlite://") {
                Some(file) if !file.starts_with('/') => {
                    format!("sqlite://{}", folder.join(file).display())
                }
                Some(_) | None => (*value).to_owned(),
            };
            line.push(format!("{flag}={value}").into());
        }
    }
    line
}

/// The flags and commands that are followed by the name of a file or folder.
const FILE_FLAGS: [&str; 7] = [
    "--output", "-o", "--write", "--junit", "--file", "apply", "man",
];
/// Endings of the names of files that commands read and write.
const ENDINGS: [&str; 9] = [
    ".csv", ".tsv", ".jsonl", ".json", ".db", ".xml", ".txt", ".gz", ".part",
];

/// Whether an argument names a file in the folder.
fn is_file_name(folder: &Path, argument: &str) -> bool {
    let is_name = !argument.is_empty() && !argument.starts_with(['-', '/']);
    let is_known = folder.join(argument).exists();
    is_name && (is_known || ENDINGS.iter().any(|end| argument.ends_with(end)))
}

/// Sends a signal, such as `TERM`, to a child process.
pub async fn signal(child: &Child, name: &str) {
    let id = child.id().expect("it runs");
    let sent = Command::new("sh")
        .args(["-c", &format!("kill -s {name} {id}")])
        .status()
        .await;
    assert!(sent.unwrap().success());
}
