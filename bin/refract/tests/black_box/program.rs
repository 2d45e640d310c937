//! The built program: its commands, its nodes, and services whose nodes are processes.

use std::path::Path;

use refract_test_stack::node::Node;
use refract_test_stack::program::{self, Runner};
use refract_test_stack::service::{Backend, Service, Setup};
use tokio::process::{Child, Command};

pub(crate) use refract_test_stack::program::Ended;

/// The built program.
pub(crate) const RUNNER: Runner = Runner::Binary(PATH);
const PATH: &str = env!("CARGO_BIN_EXE_refract");

/// A service with one node and a model that answers. Nodes and commands are processes.
pub(crate) fn setup<'a>() -> Setup<'a> {
    Setup {
        runner: RUNNER,
        ..Setup::default()
    }
}

/// Starts a service whose node is a process.
pub(crate) async fn start(backend: Backend) -> Service {
    Service::with(backend, setup()).await
}

/// Starts a node on free ports and waits until it listens.
pub(crate) async fn node(folder: &Path, settings: &[(&str, &str)]) -> Node {
    Node::start(RUNNER, folder, settings).await
}

/// A command of the program in a folder, with only these settings as environment.
pub(crate) fn command(folder: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> Command {
    program::command(PATH, folder, settings, arguments)
}

/// Runs a command to its end.
pub(crate) async fn run(folder: &Path, settings: &[(&str, &str)], arguments: &[&str]) -> Ended {
    RUNNER.run(folder, settings, arguments).await
}

/// Sends a signal, such as `TERM`, to a child process.
pub(crate) async fn signal(child: &Child, name: &str) {
    program::signal(child, name).await;
}
