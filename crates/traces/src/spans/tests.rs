use proptest::prelude::*;

use super::*;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";

fn read(traceparent: &str, tracestate: &[&str]) -> Option<TraceHeaders> {
    let read = CallerTrace::read([traceparent], tracestate.iter().copied());
    read.map(|caller| TraceHeaders::of(&caller.0))
}

fn written(headers: &TraceHeaders) -> Vec<(&str, &str)> {
    headers.entries().collect()
}

#[test]
fn a_callers_trace_is_read_and_written_as_it_was_sent() {
    for flags in ["00", "01", "03"] {
        let sent = format!("00-{TRACE}-{SPAN}-{flags}");
        let headers = read(&sent, &["a=1,b@c=2"]).unwrap();
        let expected = [("traceparent", sent.as_str()), ("tracestate", "a=1,b@c=2")];
        assert_eq!(written(&headers), expected);
    }
}

#[test]
fn a_later_version_is_read_as_far_as_it_is_known() {
    for sent in [
        format!("01-{TRACE}-{SPAN}-01"),
        format!("cc-{TRACE}-{SPAN}-01-what-comes-later"),
    ] {
        let headers = read(&sent, &[]).unwrap();
        let known = format!("00-{TRACE}-{SPAN}-01");
        assert_eq!(written(&headers), [("traceparent", known.as_str())]);
    }
}

#[test]
fn what_the_standard_does_not_allow_is_no_trace() {
    let zeros = "0".repeat(32);
    for sent in [
        String::new(),
        "00".to_owned(),
        format!("00-{TRACE}-{SPAN}"),
        format!("00-{TRACE}-{SPAN}-1"),
        format!("00-{TRACE}-{SPAN}-0x"),
        format!("00-{TRACE}-{SPAN}-+1"),
        format!("00-{TRACE}-{SPAN}-01-"),
        format!("00-{TRACE}-{SPAN}-01-more"),
        format!("ff-{TRACE}-{SPAN}-01"),
        format!("0-{TRACE}-{SPAN}-01"),
        format!("00-{zeros}-{SPAN}-01"),
        format!("00-{TRACE}-0000000000000000-01"),
        format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
        format!("00-{TRACE}0-{SPAN}-01"),
        format!("00_{TRACE}_{SPAN}_01"),
        format!("00-{TRACE}-{SPAN}-01,00-{TRACE}-{SPAN}-01"),
    ] {
        assert_eq!(read(&sent, &["a=1"]), None, "{sent}");
    }
}

#[test]
fn two_parents_are_none() {
    let sent = format!("00-{TRACE}-{SPAN}-01");
    assert_eq!(CallerTrace::read([sent.as_str(); 2], []), None);
    assert_eq!(CallerTrace::read([], ["a=1"]), None);
}

#[test]
fn a_state_that_cannot_be_passed_on_does_not_cost_the_trace() {
    let sent = format!("00-{TRACE}-{SPAN}-01");
    let long = format!("a={}", "x".repeat(511));
    let most = format!("a={}", "x".repeat(256));
    for (state, passed_on) in [
        (&["no pair"][..], None),
        (&["Upper=1"], None),
        (&[""], None),
        (&[long.as_str()], None),
        (&[most.as_str(), most.as_str()], None),
        (&[most.as_str()], Some(most.as_str())),
        (&["a=1", "b=2"], Some("a=1,b=2")),
    ] {
        let headers = read(&sent, state).unwrap();
        assert_eq!(headers.tracestate.as_deref(), passed_on, "{state:?}");
    }
}

proptest! {
    #[test]
    fn a_trace_that_is_written_is_read_again(
        trace in 1_u128..,
        span in 1_u64..,
        flags: u8,
        state in proptest::collection::vec(("[a-z][a-z0-9]{0,5}", "[!-+\\--<>-~]{1,9}"), 0..4),
    ) {
        let pairs = state.iter().map(|(key, value)| format!("{key}={value}"));
        let state = pairs.collect::<Vec<_>>().join(",");
        let sent = format!("00-{trace:032x}-{span:016x}-{flags:02x}");
        let headers = read(&sent, &[&state]).unwrap();
        prop_assert_eq!(&headers.traceparent, &sent);
        prop_assert_eq!(headers.tracestate.unwrap_or_default(), state);
    }

    #[test]
    fn any_text_is_read_or_left(traceparent in ".{0,80}", tracestate in ".{0,600}") {
        if let Some(headers) = read(&traceparent, &[&tracestate]) {
            prop_assert_eq!(headers.traceparent.len(), 55);
            prop_assert!(headers.tracestate.unwrap_or_default().len() <= TRACESTATE_BYTES);
        }
    }

    #[test]
    fn what_is_nearly_a_trace_is_read_or_left(
        traceparent in "[0-9a-fA-F]{1,3}-[0-9a-fg]{31,33}-[0-9a-f]{15,17}-[0-9a-f]{1,3}(-.{0,5})?",
    ) {
        if let Some(headers) = read(&traceparent, &[]) {
            let known = headers.traceparent.strip_prefix("00-").unwrap();
            prop_assert!(traceparent.contains(known));
        }
    }
}
