//! The work for each input in a Chromium trace: how long the page's main thread worked until it
//! committed the frame that shows the input to the compositor.

use std::time::Duration;

use serde_json::Value;

/// The work for one input.
#[derive(Clone, Copy)]
pub(crate) struct InputWork {
    /// The part of it in the input's event listeners.
    pub(crate) script: Duration,
    /// All tasks of the main thread, from the one with the input to the one that commits the frame:
    /// script, style, layout and paint.
    pub(crate) all: Duration,
    /// From the input to the end of the commit, including the wait for the next frame.
    pub(crate) until_commit: Duration,
    /// The longest task between the commit and the next input, such as inserting the server's reply
    /// into the page.
    pub(crate) longest_later: Duration,
}

/// An event with a duration, in microseconds.
#[derive(Clone, Copy)]
struct Span<'a> {
    name: &'a str,
    thread: (u64, u64),
    begin: u64,
    end: u64,
    is_input: bool,
}

/// The work for each input event of the trace, in order.
pub(crate) fn input_work(events: &[Value]) -> Vec<InputWork> {
    let mut spans: Vec<Span<'_>> = events.iter().filter_map(Span::read).collect();
    spans.sort_by_key(|span| span.begin);
    let inputs: Vec<_> = spans.iter().filter(|span| span.is_input).copied().collect();
    let thread = inputs.first().expect("the trace has inputs").thread;
    spans.retain(|span| span.thread == thread);
    let next = inputs.iter().skip(1).map(|input| input.begin);
    let ends = next.chain([u64::MAX]);
    let works = inputs
        .iter()
        .zip(ends)
        .map(|(input, end)| work(&spans, *input, end));
    works.collect()
}

fn work(spans: &[Span<'_>], input: Span<'_>, next: u64) -> InputWork {
    let named = |name: &'static str| spans.iter().filter(move |span| span.name == name);
    let commit = named("Commit").find(|commit| commit.begin > input.begin);
    let commit = commit.expect("an input is followed by a frame").end;
    let tasks = || named("RunTask").filter(|task| task.end > input.begin);
    let until_commit = tasks().filter(|task| task.begin < commit);
    let later = tasks().filter(|task| task.begin >= commit && task.begin < next);
    InputWork {
        script: Duration::from_micros(input.length()),
        all: Duration::from_micros(until_commit.map(Span::length).sum()),
        until_commit: Duration::from_micros(commit - input.begin),
        longest_later: Duration::from_micros(later.map(Span::length).max().unwrap_or_default()),
    }
}

impl<'a> Span<'a> {
    fn read(event: &'a Value) -> Option<Self> {
        let number = |name: &str| whole(event.get(name)?);
        if event.get("ph")? != "X" {
            return None;
        }
        let begin = number("ts")?;
        let name = event.get("name")?.as_str()?;
        let of_type = event.pointer("/args/data/type");
        Some(Self {
            name,
            thread: (number("pid")?, number("tid")?),
            begin,
            end: begin + number("dur").unwrap_or_default(),
            is_input: name == "EventDispatch" && of_type.is_some_and(|it| it == "input"),
        })
    }

    fn length(&self) -> u64 {
        self.end - self.begin
    }
}

/// A whole number that the driver writes with or without a decimal point.
fn whole(number: &Value) -> Option<u64> {
    number.as_u64().or_else(|| {
        let seconds = Duration::try_from_secs_f64(number.as_f64()? / 1e6).ok()?;
        u64::try_from(seconds.as_micros()).ok()
    })
}
