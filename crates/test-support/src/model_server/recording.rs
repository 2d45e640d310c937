//! Records exchanges for `.ci/trials/check-services`, which validates them with the official clients.

use std::env;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::process;

use serde_json::json;

use super::http::ReceivedRequest;

/// A folder; if it is set, every exchange is appended to a file there.
const FOLDER: &str = "REFRACT_TEST_EXCHANGES";

/// Records an exchange, if a folder is set. `is_computed` marks an answer of a scripted model, as
/// opposed to bytes of a test.
pub(super) fn record(request: &ReceivedRequest, status: u16, answer: &[u8], is_computed: bool) {
    let Some(folder) = env::var_os(FOLDER).filter(|folder| !folder.is_empty()) else {
        return;
    };
    if let Err(error) = append(&folder, request, status, answer, is_computed) {
        panic!("{FOLDER}: the exchange cannot be recorded: {error}");
    }
}

fn append(
    folder: &OsStr,
    request: &ReceivedRequest,
    status: u16,
    answer: &[u8],
    is_computed: bool,
) -> io::Result<()> {
    let exchange = json!({
        "path": request.path,
        "request": request.text(),
        "status": status,
        "answer": String::from_utf8_lossy(answer),
        "computed": is_computed,
    });
    let file = Path::new(folder).join(format!("{}.jsonl", process::id()));
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    // one write, so that the lines of several servers do not mix
    file.write_all(format!("{exchange}\n").as_bytes())
}
