//! Runs the program on a pseudo-terminal, as a person would.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use refract_test_stack::http::within_patience;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::process::Child;
use tokio::sync::mpsc;

use crate::program;

/// A program on its own pseudo-terminal.
pub(crate) struct OnTerminal {
    pub(crate) child: Child,
    output: mpsc::UnboundedReceiver<Vec<u8>>,
    /// Everything that the program has written.
    pub(crate) seen: String,
}

impl OnTerminal {
    /// Starts the binary with all three streams on a terminal of this width.
    pub(crate) fn start(
        folder: &Path,
        columns: u16,
        settings: &[(&str, &str)],
        arguments: &[&str],
    ) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let size = Winsize {
            ws_row: 50,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&controller, size).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap().into_bytes();
        let name = PathBuf::from(std::ffi::OsString::from_vec(name));
        let terminal = File::options().read(true).write(true).open(name).unwrap();
        let mut command = program::command(folder, settings, arguments);
        let child = command
            .env("TERM", "xterm-256color")
            .stdin(terminal.try_clone().unwrap())
            .stdout(terminal.try_clone().unwrap())
            .stderr(terminal)
            .spawn()
            .unwrap();
        let (sender, output) = mpsc::unbounded_channel();
        let mut controller = File::from(controller);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // reading fails once all processes have closed the terminal
            while let Ok(1..) = controller.read(&mut bytes).inspect(|read| {
                let _ = sender.send(bytes[..*read].to_vec());
            }) {}
        });
        Self {
            child,
            output,
            seen: String::new(),
        }
    }

    /// Waits until the program has written these words.
    pub(crate) async fn wait_for(&mut self, words: &str) {
        while !self.seen.contains(words) {
            let more = within_patience(self.output.recv()).await;
            let more = more.unwrap_or_else(|| panic!("{words}: {}", self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&more));
        }
    }

    /// Waits until the program ends, and returns its exit status.
    pub(crate) async fn end(&mut self) -> Option<i32> {
        let status = within_patience(self.child.wait()).await.unwrap();
        while let Some(more) = within_patience(self.output.recv()).await {
            self.seen.push_str(&String::from_utf8_lossy(&more));
        }
        status.code()
    }
}
