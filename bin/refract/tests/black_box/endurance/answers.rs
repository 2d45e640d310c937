//! The answers on a connection of broken requests: each is complete and within the contract.

use serde_json::Value;

/// The statuses allowed for any request, broken or not, while the model answers.
const STATUSES: [u16; 9] = [100, 200, 400, 401, 404, 409, 413, 415, 431];

/// The answers on one connection.
#[derive(Debug, Default)]
pub(crate) struct ReceivedAnswers {
    /// The statuses in their order, without interim ones.
    pub(crate) statuses: Vec<u16>,
    /// Whether the last answer announced the close of the connection.
    pub(crate) has_close_header: bool,
}

/// Parses the answers from the bytes of a connection that has ended.
///
/// After a reset the last answer may be cut; where a request was a `HEAD`, answers may lack bodies.
pub(crate) fn read_answers(
    mut rest: &[u8],
    was_reset: bool,
    may_lack_bodies: bool,
) -> Result<ReceivedAnswers, String> {
    let mut answers = ReceivedAnswers::default();
    while !rest.is_empty() {
        let end = rest.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let Some(end) = end else {
            return if was_reset {
                Ok(answers)
            } else {
                Err("a head without its end".into())
            };
        };
        let head = std::str::from_utf8(&rest[..end]).map_err(|error| error.to_string())?;
        rest = &rest[end + 4..];
        let status = status(head)?;
        if !STATUSES.contains(&status) {
            return Err(format!("status {status}"));
        }
        if status == 100 {
            continue;
        }
        let length = header(head, "content-length").ok_or("no content-length")?;
        let length: usize = length
            .parse()
            .map_err(|_| format!("content-length {length}"))?;
        let is_left_out = may_lack_bodies && (rest.is_empty() || rest.starts_with(b"HTTP/1."));
        if rest.len() < length && !is_left_out {
            return if was_reset {
                Ok(answers)
            } else {
                Err("a body without its end".into())
            };
        }
        let (body, after) = rest.split_at(if is_left_out { 0 } else { length });
        rest = after;
        if !is_left_out {
            check(status, head, body)?;
        }
        // actix itself refuses bytes that are not HTTP, without a body, and closes the connection
        let is_not_http = matches!(status, 400 | 431) && length == 0;
        answers.has_close_header = is_not_http || header(head, "connection") == Some("close");
        answers.statuses.push(status);
    }
    Ok(answers)
}

fn status(head: &str) -> Result<u16, String> {
    let line = head.lines().next().unwrap_or_default();
    let rest = line
        .strip_prefix("HTTP/1.1 ")
        .or_else(|| line.strip_prefix("HTTP/1.0 "));
    let number = rest.and_then(|rest| rest.split(' ').next()?.parse().ok());
    number.ok_or_else(|| format!("status line {line:?}"))
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let mut values = lines.filter(|(sent, _)| sent.eq_ignore_ascii_case(name));
    values.next().map(|(_, value)| value.trim())
}

/// Fails unless the answer is within the contract, or a bare refusal of bytes that are not HTTP.
fn check(status: u16, head: &str, body: &[u8]) -> Result<(), String> {
    if body.is_empty() && matches!(status, 400 | 431) {
        return Ok(());
    }
    if header(head, "x-request-id").is_none() || header(head, "cache-control") != Some("no-store") {
        return Err(format!("headers of {status}: {head:?}"));
    }
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    if status == 200 {
        return if text.is_empty() {
            Err("200 without a body".into())
        } else {
            Ok(())
        };
    }
    let error: Value = serde_json::from_str(text).map_err(|error| format!("{error}: {text}"))?;
    let code = match status {
        400 if error["error"]["code"] == "bad_request" => "bad_request",
        400 => "validation_failed",
        401 => "unauthorized",
        404 => "not_found",
        409 => "conflict",
        _ => "bad_request",
    };
    let is_contract = error["error"]["code"] == code && error["error"]["message"].is_string();
    if is_contract {
        Ok(())
    } else {
        Err(format!("body of {status}: {text}"))
    }
}
