//! Further processes of this program; their arguments name their role.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _, stdin};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use refract_test_support::fixed_server::TestServer;
use serde_json::Value;

/// A server in a separate process. Dropping it ends the process.
pub(crate) struct Server {
    process: Child,
    /// The base address.
    pub(crate) url: String,
}

impl Server {
    /// Starts a server that gives every request the same answer after a delay.
    pub(crate) fn start(answer: &Value, delay: Duration) -> Self {
        let delay = delay.as_millis().to_string();
        let mut process = ourselves(&["serve", &delay])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = process.stdin.take().unwrap();
        input.write_all(answer.to_string().as_bytes()).unwrap();
        drop(input);
        let mut url = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Self { process, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Runs as a server; the answer comes on standard input.
pub(crate) fn serve(delay: &str) {
    let mut answer = String::new();
    stdin().read_to_string(&mut answer).unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    println!("http://{}/v1", listener.local_addr().unwrap());
    let server = TestServer {
        delay: Duration::from_millis(delay.parse().unwrap()),
        ..TestServer::answering(serde_json::from_str(&answer).unwrap())
    };
    server.serve(listener).unwrap();
}

/// A command that runs this program, with the highest permitted number of open files.
pub(crate) fn ourselves(arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -n \"$(ulimit -Hn)\"; exec \"$0\" \"$@\""])
        .arg(env::current_exe().unwrap())
        .args(arguments);
    command
}
