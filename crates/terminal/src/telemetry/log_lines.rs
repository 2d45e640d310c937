//! Writes log lines to a stderr whose reader may stand still, without standing still with it.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing_subscriber::fmt::MakeWriter;

/// Makes the line that says how many were left out.
type LostNotice = fn(u64) -> String;

/// How long the first line waits for a reader that stands still. The lines after it are left out until
/// the reader goes on.
const PATIENCE: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};
/// Bytes for which a pipe has room when it says that it has some.
const ROOM: usize = 4096;

/// Log lines to a descriptor, whole or not at all where they are shorter than 4 KiB.
pub(super) struct LogLines<W>(Mutex<LineWriter<W>>);

struct LineWriter<W> {
    to: W,
    notice: LostNotice,
    /// Lines that were left out since the last one that was written.
    lost: u64,
}

/// Writes one line while it is held.
pub(super) struct HeldWriter<'a, W>(MutexGuard<'a, LineWriter<W>>);

impl<W> LogLines<W> {
    pub(super) fn new(to: W, notice: LostNotice) -> Self {
        Self(Mutex::new(LineWriter {
            to,
            notice,
            lost: 0,
        }))
    }
}

impl<'a, W: Write + AsFd + 'a> MakeWriter<'a> for LogLines<W> {
    type Writer = HeldWriter<'a, W>;

    fn make_writer(&'a self) -> Self::Writer {
        HeldWriter(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<W: Write + AsFd> Write for HeldWriter<'_, W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let writer = &mut *self.0;
        if writer.lost > 0 {
            let notice = (writer.notice)(writer.lost);
            if !writer.write_in_time(notice.as_bytes())? {
                writer.lost += 1;
                return Ok(line.len());
            }
            writer.lost = 0;
        }
        if !writer.write_in_time(line)? {
            writer.lost += 1;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.to.flush()
    }
}

impl<W: Write + AsFd> LineWriter<W> {
    /// Writes a line; `false` if its reader stood still.
    fn write_in_time(&mut self, line: &[u8]) -> io::Result<bool> {
        for part in line.chunks(ROOM) {
            let patience = if self.lost == 0 {
                PATIENCE
            } else {
                Timespec::default()
            };
            let ready = poll(
                &mut [PollFd::new(&self.to, PollFlags::OUT)],
                Some(&patience),
            );
            if ready == Ok(0) {
                return Ok(false);
            }
            // what the descriptor refuses otherwise, writing says
            self.to.write_all(part)?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_reader_that_stands_still_costs_lines_and_no_time() {
        let (mut reader, writer) = io::pipe().unwrap();
        let lines = LogLines::new(writer, |lost| format!("lost {lost}\n"));
        let line = "a".repeat(1_000) + "\n";
        let write = || lines.make_writer().write_all(line.as_bytes()).unwrap();
        let begun = Instant::now();
        // a pipe holds 64 KiB, or a megabyte where it is set so
        let written = 3_000;
        (0..written).for_each(|_| write());
        let waited = begun.elapsed();
        assert!(waited.as_secs() < 10, "{waited:?}");

        let mut read = vec![0; 1 << 20];
        let length = reader.read(&mut read).unwrap();
        let kept = read[..length]
            .split_inclusive(|byte| *byte == b'\n')
            .count();
        assert_eq!(length, kept * line.len(), "whole lines");
        write();
        drop(lines);
        let mut rest = String::new();
        reader.read_to_string(&mut rest).unwrap();
        let (notice, last) = rest.split_once('\n').unwrap();
        assert_eq!(notice, format!("lost {}", written - kept));
        assert_eq!(last, line);
    }
}
