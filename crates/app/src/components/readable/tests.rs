use super::*;

#[test]
fn a_long_text_is_cut_between_characters() {
    assert_eq!(clamped("äöü", 3), "äöü");
    assert_eq!(clamped("🦊🦊🦊", 2), "🦊🦊…");
}

#[test]
fn a_long_text_is_whole_and_escaped() {
    let text = format!("{}<b>🦊", "ä".repeat(1_999));
    let shown = whole_text(&text).into_string();
    assert!(shown.contains("and 3 more characters") && shown.contains("b&gt;🦊"));
    assert!(!shown.contains("<b>"));
    assert!(!whole_text("a").into_string().contains("details"));
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

#[test]
fn a_moment_is_as_short_as_it_can_be() {
    let now = at("2026-03-04T12:00:00Z");
    for (moment, expected) in [
        ("2026-03-04T00:00:00Z", "00:00"),
        ("2026-03-03T23:59:00Z", "Tue 23:59"),
        ("2026-02-26T14:02:00Z", "Thu 14:02"),
        ("2026-02-25T14:02:00Z", "25 Feb 14:02"),
        ("2025-12-31T23:59:00Z", "31 Dec 23:59"),
        ("2025-03-04T12:00:00Z", "4 Mar 2025"),
        ("2026-03-05T01:00:00Z", "5 Mar 01:00"),
        ("2027-01-05T01:00:00Z", "5 Jan 2027"),
    ] {
        assert_eq!(short(at(moment), now), expected, "{moment}");
    }
}

#[test]
fn a_text_fits_in_every_script() {
    for (text, most, shown) in [
        ("abc", 3, "abc"),
        ("abcd", 3, "abc…"),
        ("订单还", 7, "订单…"),
        ("订单", 6, "订单"),
        ("a<b", 4, "a…"),
        ("\"&", 11, "\"&"),
        ("", 0, ""),
    ] {
        assert_eq!(fitting(text, most), shown, "{text}");
    }
}

#[test]
fn a_moment_among_words_is_shown_by_the_readers_clock() {
    let words = with_moments("Try <again> after 2025-03-04T14:02:00Z.").into_string();
    let time = moment(at("2025-03-04T14:02:00Z")).into_string();
    let expected = format!("Try &lt;again&gt; after {time}<noscript> UTC</noscript>.");
    assert_eq!(words, expected);
    assert_eq!(with_moments("at  14:02.").into_string(), "at  14:02.");
}

#[test]
fn numbers_are_written_for_people() {
    let percent_of = |millionths| percent(Probability::from_millionths(millionths).unwrap());
    assert_eq!(percent_of(0), "0.0");
    assert_eq!(percent_of(372_499), "37.2");
    assert_eq!(percent_of(372_500), "37.3");
    assert_eq!(percent_of(1_000_000), "100.0");
    assert_eq!(count(0), "0");
    assert_eq!(count(999), "999");
    assert_eq!(count(1_000), "1,000");
    assert_eq!(count(1_234_567), "1,234,567");
    assert_eq!(share(1, 3).unwrap(), "33.3");
    assert_eq!(share(2, 3).unwrap(), "66.7");
    assert_eq!(share(5, 5).unwrap(), "100.0");
    assert_eq!(share(0, 0), None);
    assert_eq!(measured_percent(Some(0.863_49)), "86.3");
    assert_eq!(measured_percent(Some(0.0)), "0.0");
    assert_eq!(measured_percent(Some(0.004)), "0.4");
    assert_eq!(measured_percent(Some(1.0)), "100.0");
    assert_eq!(measured_percent(None), "–");
    assert_eq!(counted(1, "result"), "1 result");
    assert_eq!(counted(2_000, "result"), "2,000 results");
}
