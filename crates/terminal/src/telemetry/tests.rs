use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tracing::dispatcher::with_default;

use super::*;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The log lines in a format.
fn logged(format: LogFormat, is_coloured: bool, log: impl FnOnce()) -> Vec<String> {
    logged_through("trace", format, is_coloured, log)
}

/// The log lines that a filter lets through.
fn logged_through(
    filter: &str,
    format: LogFormat,
    is_coloured: bool,
    log: impl FnOnce(),
) -> Vec<String> {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = subscriber(format, filter, is_coloured, move || writer.clone()).unwrap();
    with_default(&subscriber, log);
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    text.lines().map(ToOwned::to_owned).collect()
}

fn request_span() -> tracing::Span {
    let (request, trace) = ("order-7", "0af7651916cd43dd8448eb211c80319c");
    tracing::error_span!("request", request_id = %request, trace_id = trace, span_id = tracing::field::Empty)
}

/// Logs one line outside of a span, one within, one with its own request id, and one with every
/// type.
fn log() {
    tracing::info!(api = %"127.0.0.1:8080", "listening");
    let span = request_span();
    let _within = span.enter();
    tracing::error!(error = "it broke", "a call failed");
    tracing::info!(status = 200_u64, request_id = %"order-7", "request");
    tracing::warn!(
        below = -1,
        share = 0.5,
        nothing = f64::NAN,
        is_ok = true,
        absent = None::<u64>,
        took = ?std::time::Duration::from_millis(3),
        "words: {}", "\"quoted\" \\ \n\u{1b}[31m\u{9b}ü"
    );
}

#[test]
fn a_filter_has_a_level_and_levels_of_targets() {
    let log = || {
        tracing::info!(target: "refract_http_api::worker", "one");
        tracing::debug!(target: "refract_http_api::worker", "two");
        tracing::debug!(target: "refract_app", "three");
        tracing::error!(target: "actix_http::h1", "four");
    };
    for (filter, expected) in [
        ("info", &["one"][..]),
        ("off", &[]),
        ("warn, refract_http_api=debug,", &["one", "two"]),
        ("refract_app=debug", &["three"]),
        ("error,actix_http=error", &["four"]),
    ] {
        let lines = logged_through(filter, LogFormat::Json, false, log);
        let messages = lines.iter().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["message"].as_str().unwrap().to_owned()
        });
        assert_eq!(messages.collect::<Vec<_>>(), expected, "{filter}");
    }
    for refused in ["refract=loud", "refract=info=debug", "[span]=info"] {
        assert!(
            subscriber(LogFormat::Text, refused, false, io::sink).is_err(),
            "{refused}"
        );
    }
}

#[test]
fn json_has_every_field_at_the_top_and_once() {
    let lines = logged(LogFormat::Json, false, log);
    let mut read: Vec<Value> = Vec::new();
    for line in &lines {
        assert!(line.is_ascii() || line.contains('ü'), "{line}");
        assert_eq!(
            line.matches("\"request_id\"").count().min(2),
            usize::from(!read.is_empty())
        );
        let mut value: Value = serde_json::from_str(line).expect(line);
        let fields = value.as_object_mut().unwrap();
        let time = fields.remove("timestamp").unwrap();
        assert!(
            time.as_str().is_some_and(|time| time.ends_with('Z')),
            "{time}"
        );
        assert_eq!(fields.remove("target").unwrap(), module_path!());
        read.push(value);
    }
    let request = json!({"request_id": "order-7", "trace_id": "0af7651916cd43dd8448eb211c80319c"});
    let with_request = |mut line: Value| {
        for (name, value) in request.as_object().unwrap() {
            line[name] = value.clone();
        }
        line
    };
    assert_eq!(
        read,
        [
            json!({"level": "INFO", "message": "listening", "api": "127.0.0.1:8080"}),
            with_request(
                json!({"level": "ERROR", "message": "a call failed", "error": "it broke"})
            ),
            json!({"level": "INFO", "message": "request", "status": 200, "request_id": "order-7"}),
            with_request(json!({
                "level": "WARN",
                "message": "words: \"quoted\" \\ \n\u{1b}[31m\u{9b}ü",
                "below": -1, "share": 0.5, "nothing": null, "is_ok": true, "took": "3ms",
            })),
        ]
    );
}

#[test]
fn text_has_the_request_behind_the_fields_of_the_line() {
    let lines = logged(LogFormat::Text, false, log);
    let (target, request) = (
        module_path!(),
        "request_id=order-7 trace_id=\"0af7651916cd43dd8448eb211c80319c\"",
    );
    let ends = [
        format!("  INFO {target}: listening api=127.0.0.1:8080"),
        format!(" ERROR {target}: a call failed error=\"it broke\" {request}"),
        format!("  INFO {target}: request status=200 request_id=order-7"),
    ];
    for (line, end) in lines.iter().zip(&ends) {
        let (time, rest) = line.split_at(line.len() - end.len());
        assert_eq!(rest, end);
        assert!(time.ends_with('Z') && !time.contains(' '), "{line}");
    }
    let last = &lines[3..].join("\n");
    assert!(last.ends_with(request), "{last}");
    assert!(
        !last.contains('\u{1b}') && !last.contains('\u{9b}'),
        "{last}"
    );
}

#[test]
fn colours_are_for_terminals() {
    let lines = logged(LogFormat::Text, true, || tracing::error!("words"));
    assert!(lines[0].contains("\u{1b}[31mERROR\u{1b}[0m"), "{lines:?}");
}

#[test]
fn lost_lines_are_counted_in_both_forms() {
    let text = lost_as_text(7);
    let words =
        "WARN refract_terminal::telemetry: log lines are lost: stderr was read too slowly lost=7\n";
    assert!(text.ends_with(words), "{text}");
    let json: Value = serde_json::from_str(&lost_as_json(7)).unwrap();
    assert_eq!((&json["lost"], &json["level"]), (&json!(7), &json!("WARN")));
}
