//! The demo as a separate process in an empty folder.

use std::path::Path;
use std::process::Stdio;

use refract_test_support::model_server::{ModelServer, ScriptedReply};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// A demo that serves until this value is dropped.
pub(crate) struct DemoProgram {
    _child: Child,
    /// The address of the app, such as `http://127.0.0.1:41293`.
    pub(crate) address: String,
    /// The single-use path that signs in as the demo's owner.
    pub(crate) sign_in_path: String,
}

impl DemoProgram {
    /// Starts the demo with the built-in scorer and waits until it serves.
    pub(crate) async fn start(binary: &Path, folder: &Path) -> Self {
        let mut command = command(binary, folder);
        let spawned = command.arg("demo").stdout(Stdio::piped()).spawn();
        let mut child = spawned.expect("the demo starts");
        let output = child.stdout.take().expect("the demo's output");
        let mut lines = BufReader::new(output).lines();
        let mut link = None;
        loop {
            let shown = lines.next_line().await.expect("the demo's output");
            let shown = shown.expect("a demo that goes on");
            if shown.contains("/sign-in/") {
                link = Some(shown);
            } else if shown.starts_with("Serving on ") {
                break;
            }
        }
        let link = link.expect("a link into the app");
        let (address, token) = link.split_once("/sign-in/").expect("a link that signs in");
        Self {
            _child: child,
            address: address.to_owned(),
            sign_in_path: format!("/sign-in/{token}"),
        }
    }
}

/// Runs the demo's call with a model server that refuses it. Returns the id of the failed result,
/// which stays in the folder's database.
pub(crate) async fn failed_result(binary: &Path, folder: &Path) -> String {
    let model = ModelServer::start(ScriptedReply::status(400));
    let mut command = command(binary, folder);
    command.env("REFRACT_MODEL_URL", model.url());
    let output = command.args(["demo", "--once"]).output().await;
    let output = output.expect("the demo runs");
    let shown = String::from_utf8_lossy(&output.stdout);
    let (_, rest) = shown.split_once(r#"{"id":""#).expect("a saved result");
    let (id, _) = rest.split_once('"').expect("an id");
    id.to_owned()
}

/// Creates a password reset link at the terminal. Returns its path.
pub(crate) async fn reset_path(binary: &Path, folder: &Path, email: &str) -> String {
    let mut command = command(binary, folder);
    command.env("DATABASE_URL", "sqlite://refract-demo.db");
    let output = command.args(["person", "reset", email]).output().await;
    let output = output.expect("the command runs");
    let shown = String::from_utf8_lossy(&output.stdout);
    let (_, rest) = shown.split_once("/join/").expect("a link");
    let (token, _) = rest.split_once('"').expect("the end of the link");
    format!("/join/{token}")
}

fn command(binary: &Path, folder: &Path) -> Command {
    let mut command = Command::new(binary);
    command
        .env_clear()
        .env("REFRACT_LISTEN", "127.0.0.1:0")
        .env("REFRACT_OPS_LISTEN", "off")
        .env("REFRACT_APP_LISTEN", "127.0.0.1:0")
        .current_dir(folder)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}
