//! The progress of long work: a bar if stderr is a terminal, otherwise a line every few seconds.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use crate::{output, streams};

/// The interval between two lines if there is no bar.
const BETWEEN_LINES: Duration = Duration::from_secs(5);
/// Number of latest lines over which slow work is measured: two minutes.
const MEASURED_LINES: usize = 24;
/// Number of finished units from which they are enough for a rate.
const ENOUGH_FOR_A_RATE: u64 = 10;

/// The progress of one task. [`Progress::show`] draws it and is cheap enough for ten calls a
/// second.
pub(crate) struct Progress {
    /// The noun of the units, in the plural.
    what: &'static str,
    display: ProgressDisplay,
}

/// The display of progress.
enum ProgressDisplay {
    Bar(ProgressBar),
    Lines(RefCell<ProgressLines>),
}

impl Progress {
    /// Starts showing progress. `what` names the units, such as `rows`; without a total there is
    /// neither a bar nor a remaining time.
    pub(crate) fn begin(what: &'static str, total: Option<u64>) -> Self {
        let display = if streams::stderr_is_terminal() {
            ProgressDisplay::Bar(drawn(what, total))
        } else {
            ProgressDisplay::Lines(RefCell::new(ProgressLines::begin(
                what,
                total,
                Instant::now(),
            )))
        };
        Self { what, display }
    }

    /// Shows how many units are done, followed by `words`.
    pub(crate) fn show(&self, done: u64, words: &str) {
        match &self.display {
            ProgressDisplay::Bar(bar) => {
                let of = bar.length().unwrap_or(done);
                bar.set_prefix(units(self.what, of));
                bar.set_message(words.to_owned());
                bar.set_position(done);
                bar.tick();
            }
            ProgressDisplay::Lines(lines) => {
                if let Some(line) = lines.borrow_mut().due(done, words, Instant::now()) {
                    output::say(&line);
                }
            }
        }
    }

    /// Hides the bar while `write` writes to the terminal.
    pub(crate) fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.display {
            ProgressDisplay::Bar(bar) => bar.suspend(write),
            ProgressDisplay::Lines(_) => write(),
        }
    }

    /// Removes the bar. The caller reports the outcome.
    pub(crate) fn end(&self) {
        match &self.display {
            ProgressDisplay::Bar(bar) => bar.finish_and_clear(),
            ProgressDisplay::Lines(_) => {}
        }
    }
}

fn drawn(what: &'static str, total: Option<u64>) -> ProgressBar {
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    let template = if total.is_some() {
        "{wide_bar} {human_pos} of {human_len} {prefix}{rate}{msg}, {eta} left"
    } else {
        "{spinner} {human_pos} {prefix}{rate}{msg}"
    };
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("█▉▊▋▌▍▎▏ ")
        .with_key(
            "rate",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                if let Some(rate) = described(state.per_sec()) {
                    let _ = write!(out, " {rate}");
                }
            },
        );
    bar.set_style(style);
    bar.set_prefix(what);
    bar
}

/// The noun for this number of units: `rows checked`, `row checked`.
fn units(plural: &'static str, number: u64) -> String {
    let (noun, rest) = plural.split_once(' ').unwrap_or((plural, ""));
    let noun = match number {
        1 => noun.trim_end_matches('s'),
        _ => noun,
    };
    format!("{noun} {rest}").trim_end().to_owned()
}

/// The rate of finished units, such as `12/s`, `2.5/s` or `3/min`; `None` if it is zero.
pub(crate) fn rate(done: u64, took: Duration) -> Option<String> {
    let done = f64::from(u32::try_from(done).unwrap_or(u32::MAX));
    described(done / took.as_secs_f64().max(0.001))
}

/// A rate in units per second as text.
fn described(per_second: f64) -> Option<String> {
    if per_second >= 9.95 {
        Some(format!("{per_second:.0}/s"))
    } else if per_second >= 0.95 {
        Some(format!("{per_second:.1}/s"))
    } else if per_second * 60.0 >= 0.95 {
        Some(format!("{:.0}/min", per_second * 60.0))
    } else if per_second * 3600.0 >= 0.95 {
        Some(format!("{:.0}/h", per_second * 3600.0))
    } else {
        None
    }
}

/// The state of progress without a bar.
struct ProgressLines {
    what: &'static str,
    total: Option<u64>,
    /// Moment and count of the latest lines, oldest first; at first those of the beginning.
    latest: VecDeque<(Instant, u64)>,
}

impl ProgressLines {
    fn begin(what: &'static str, total: Option<u64>, now: Instant) -> Self {
        Self {
            what,
            total,
            latest: VecDeque::from([(now, 0)]),
        }
    }

    /// The next line, when it is due.
    fn due(&mut self, done: u64, words: &str, now: Instant) -> Option<String> {
        let (last, _) = *self.latest.back()?;
        if now.duration_since(last) < BETWEEN_LINES {
            return None;
        }
        let (count, took) = self.measured(done, now);
        let mut line = HumanCount(done).to_string();
        if let Some(total) = self.total {
            let _ = write!(line, " of {}", HumanCount(total));
        }
        let rate = rate(count, took);
        let rate = rate.map_or_else(String::new, |rate| format!(" {rate}"));
        let what = units(self.what, self.total.unwrap_or(done));
        let _ = write!(line, " {what}{rate}{words}");
        if let (Some(total), 1..) = (self.total, count) {
            let left = u128::from(total.saturating_sub(done));
            let seconds = left * took.as_millis() / u128::from(count) / 1000;
            let left = Duration::from_secs(u64::try_from(seconds).unwrap_or(u64::MAX));
            let _ = write!(line, ", {} left", HumanDuration(left));
        }
        if self.latest.len() == MEASURED_LINES {
            self.latest.pop_front();
        }
        self.latest.push_back((now, done));
        Some(line)
    }

    /// Units that were done lately, and in which time: since the last line if they are enough for a
    /// rate, else since an earlier one. Slow work has a rate, too.
    fn measured(&self, done: u64, now: Instant) -> (u64, Duration) {
        let since =
            |(then, count): (Instant, u64)| (done.saturating_sub(count), now.duration_since(then));
        let mut recent = self.latest.iter().rev().copied().map(since);
        let enough = recent.find(|(count, _)| *count >= ENOUGH_FOR_A_RATE);
        let all = || self.latest.front().copied().map(since);
        enough.or_else(all).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_every_few_seconds() {
        let start = Instant::now();
        let mut lines = ProgressLines::begin("rows", Some(10_000), start);
        assert_eq!(lines.due(1, "", start + Duration::from_secs(4)), None);
        assert_eq!(
            lines
                .due(1_500, ", 1 failed", start + Duration::from_secs(5))
                .unwrap(),
            "1,500 of 10,000 rows 300/s, 1 failed, 28 seconds left"
        );
        assert_eq!(lines.due(1_600, "", start + Duration::from_secs(9)), None);
        assert_eq!(
            lines
                .due(1_500, "", start + Duration::from_secs(10))
                .unwrap(),
            "1,500 of 10,000 rows 150/s, 56 seconds left"
        );
    }

    #[test]
    fn slow_work_keeps_its_rate_and_the_time_left_on_every_line() {
        let start = Instant::now();
        let mut lines = ProgressLines::begin("rows", Some(20), start);
        let mut line = |done, seconds| {
            let line = lines.due(done, "", start + Duration::from_secs(seconds));
            line.unwrap()
        };
        assert_eq!(line(0, 5), "0 of 20 rows");
        assert_eq!(line(1, 10), "1 of 20 rows 6/min, 3 minutes left");
        assert_eq!(line(1, 15), "1 of 20 rows 4/min, 5 minutes left");
        assert_eq!(line(2, 20), "2 of 20 rows 6/min, 3 minutes left");
    }

    #[test]
    fn slow_work_has_a_rate_too() {
        let minute = Duration::from_mins(1);
        for (done, words) in [
            (0, None),
            (1, Some("1/min")),
            (3, Some("3/min")),
            (56, Some("56/min")),
            (60, Some("1.0/s")),
            (150, Some("2.5/s")),
            (596, Some("9.9/s")),
            (600, Some("10/s")),
            (6_000_000, Some("100000/s")),
        ] {
            assert_eq!(rate(done, minute).as_deref(), words, "{done}");
        }
        let day = Duration::from_hours(24);
        assert_eq!(rate(48, day).as_deref(), Some("2/h"));
        assert_eq!(rate(1, day), None);
        let start = Instant::now();
        let mut lines = ProgressLines::begin("rows", Some(100), start);
        assert_eq!(
            lines.due(2, "", start + Duration::from_secs(6)).unwrap(),
            "2 of 100 rows 20/min, 5 minutes left"
        );
    }

    #[test]
    fn without_a_total_no_end_is_promised() {
        let start = Instant::now();
        let mut lines = ProgressLines::begin("results", None, start);
        let line = lines.due(5_000, "", start + Duration::from_secs(5));
        assert_eq!(line.unwrap(), "5,000 results 1000/s");
        assert_eq!(units("results", 1), "result");
        assert_eq!(units("texts in other orders", 1), "text in other orders");
        assert_eq!(units("rows checked", 2), "rows checked");
    }
}
