//! What commands say: data to stdout, words to stderr.

use std::io::{self, Write as _};
use std::process::ExitCode;

use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde::Serialize;

/// Writes one JSON object on a line of its own.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    data(&line)
}

/// Writes a JSON object for people to read and change.
pub(crate) fn pretty_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    data(&text)
}

/// Writes rows under headers, or each row as a JSON line.
pub(crate) fn list<R: Serialize>(
    as_json: bool,
    headers: &[&str],
    rows: &[R],
    cells: impl Fn(&R) -> Vec<String>,
) -> anyhow::Result<()> {
    if as_json {
        return rows.iter().try_for_each(json);
    }
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_header(headers.iter().map(|header| header.to_uppercase()));
    table.add_rows(rows.iter().map(cells));
    data(format!("{table}\n").as_bytes())
}

/// Writes bytes as they are.
pub(crate) fn data(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(())
}

/// Says something beside the data. Whoever closed stderr does not want to know.
pub(crate) fn say(words: &str) {
    let _ = writeln!(io::stderr().lock(), "{words}");
}

/// Ends with one line that says what failed.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    fail_with(&format!("error: {error:#}"))
}

/// Ends with this line.
pub(crate) fn fail_with(line: &str) -> ExitCode {
    say(&line.replace('\n', " "));
    ExitCode::FAILURE
}

/// Whether nobody reads stdout any more, as under `| head`.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
