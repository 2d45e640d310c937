use hyper::header::HeaderValue;

use super::*;

fn asked_by(headers: &[(&'static str, &str)]) -> Option<Duration> {
    let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
    let headers = headers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()));
    asked(&headers.collect(), now)
}

#[test]
fn seconds_fractions_and_dates_are_read() {
    for (value, milliseconds) in [
        ("0", 0),
        (" 2 ", 2_000),
        ("1.5", 1_500),
        ("0.25", 250),
        ("120", 120_000),
        ("Sun, 06 Nov 1994 08:49:40 GMT", 3_000),
        ("Sunday, 06-Nov-94 08:49:40 GMT", 3_000),
        ("Sun, 06 Nov 1994 09:49:37 GMT", 3_600_000),
        ("Sun, 06 Nov 1994 08:49:00 GMT", 0),
    ] {
        let expected = Some(Duration::from_millis(milliseconds));
        assert_eq!(asked_by(&[("retry-after", value)]), expected, "{value}");
    }
    let many_digits = "9".repeat(400);
    assert_eq!(asked_by(&[("retry-after", &many_digits)]), Some(VERY_LONG));
}

#[test]
fn milliseconds_count_before_seconds() {
    let both = [("retry-after", "3"), ("retry-after-ms", "1250.5")];
    assert_eq!(asked_by(&both), Some(Duration::from_micros(1_250_500)));
    let unreadable = [("retry-after", "3"), ("retry-after-ms", "soon")];
    assert_eq!(asked_by(&unreadable), Some(Duration::from_secs(3)));
}

#[test]
fn a_gateways_name_for_the_hosts_header_counts_after_the_usual_one() {
    let renamed = ("llm_provider-retry-after", "7");
    assert_eq!(asked_by(&[renamed]), Some(Duration::from_secs(7)));
    let both = [renamed, ("retry-after", "3")];
    assert_eq!(asked_by(&both), Some(Duration::from_secs(3)));
    for (name, value) in [
        ("x-ms-retry-after-ms", "1500"),
        ("llm_provider-retry-after-ms", "1500"),
        ("x-upstream-retry-after", "1.5"),
        ("retry-after-seconds", "1.5"),
    ] {
        let expected = Some(Duration::from_millis(1_500));
        assert_eq!(asked_by(&[(name, value)]), expected, "{name}");
    }
    assert_eq!(asked_by(&[("noretry-after", "7")]), None);
}

#[test]
fn the_end_of_a_used_up_window_is_waited_for_up_to_a_minute() {
    // 784111777 is the time of `asked_by`; years later, a time since 1970 has ten digits
    let now = UNIX_EPOCH + Duration::from_secs(1_784_111_777);
    for (value, milliseconds) in [
        ("42", Some(42_000)),
        ("1784111780", Some(3_000)),
        ("1784111780500", Some(3_500)),
        ("1784111000", Some(0)),
        ("1784999999", Some(60_000)),
        ("7.66s", Some(7_660)),
        ("12ms", Some(12)),
        ("2m59.56s", Some(60_000)),
        ("soon", None),
        ("5", Some(5_000)),
        ("5 s", None),
        ("", None),
    ] {
        for prefix in ["x-", "", "llm_provider-x-"] {
            let header = |part: &str, value: &str| {
                let name = format!("{prefix}ratelimit-{part}");
                (name.parse().unwrap(), HeaderValue::from_str(value).unwrap())
            };
            let window = |left| [header("reset", value), header("remaining", left)];
            let used_up: HeaderMap = window("0").into_iter().collect();
            let expected = milliseconds.map(Duration::from_millis);
            assert_eq!(asked(&used_up, now), expected, "{prefix} {value}");
            let open: HeaderMap = window("1").into_iter().collect();
            assert_eq!(asked(&open, now), None, "{prefix} {value}");
        }
    }
    let two = [
        ("x-ratelimit-reset-requests", "8.64s"),
        ("x-ratelimit-remaining-requests", "12"),
        ("x-ratelimit-reset-tokens", "1.5s"),
        ("x-ratelimit-remaining-tokens", "0"),
    ];
    assert_eq!(asked_by(&two), Some(Duration::from_millis(1_500)));
}

#[test]
fn anything_else_asks_for_nothing() {
    for value in ["", "soon", "-1", "inf", "1e3", "1.2.3", ".5"] {
        assert_eq!(asked_by(&[("retry-after", value)]), None, "{value}");
    }
    assert_eq!(asked_by(&[]), None);
}

#[test]
fn a_wait_is_read_in_the_words_of_hosts() {
    for (message, milliseconds) in [
        ("please retry in 36.5s.", Some(36_500)),
        (
            "please try again in 7m12.5s. need more tokens?",
            Some(432_500),
        ),
        ("please try again in 20s", Some(20_000)),
        ("try again in 250ms", Some(250)),
        ("please retry after 6 seconds.", Some(6_000)),
        ("retry after 2 minutes", Some(120_000)),
        ("try again in 5h3m", Some(18_180_000)),
        ("retrydelay 36s", Some(36_000)),
        ("please try again in a moment", None),
        ("retry after 6", None),
        ("slow down", None),
    ] {
        let expected = milliseconds.map(Duration::from_millis);
        assert_eq!(named_wait(message), expected, "{message}");
    }
}
