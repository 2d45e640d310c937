//! Scales that warn, and scales that must not.

use super::*;

#[test]
fn a_scale_that_falls_warns() {
    for (text, levels) in [
        (
            "How severe is it?",
            &["Very high", "High", "Medium", "Low"][..],
        ),
        (
            "How severe is it?",
            &["Critical", "Major", "Moderate", "Minor"],
        ),
        ("How urgent is it?", &["Today", "This week", "Can wait"]),
        ("How urgent is it?", &["Urgent", "Normal", "Low"]),
        (
            "How often does it happen?",
            &["Always", "Sometimes", "Never"],
        ),
        (
            "How good is the review?",
            &["5 stars", "4 stars", "3 stars", "2 stars", "1 star"],
        ),
        (
            "How good is the review?",
            &["Excellent", "Good", "Mixed feelings", "Poor"],
        ),
        ("How sure is it?", &["100 %", "50 %", "0 %"]),
        (
            "How angry is the writer?",
            &["Very angry", "Somewhat angry", "Not angry"],
        ),
        (
            "How satisfied is the writer?",
            &["Very satisfied", "Neutral", "Very dissatisfied"],
        ),
        ("Is the request met?", &["Fully", "Partly", "Not at all"]),
        ("What is the priority?", &["High priority", "Low priority"]),
    ] {
        let expected = [("descending-scale", "levels".to_owned())];
        assert_eq!(scale(text, levels), expected, "{levels:?}");
    }
}

#[test]
fn a_scale_that_rises_or_has_no_known_order_does_not_warn() {
    for (text, levels) in [
        (
            "How severe is it?",
            &["Low", "Medium", "High", "Very high"][..],
        ),
        ("How urgent is it?", &["Can wait", "This week", "Today"]),
        ("When shall it arrive?", &["Today", "This week", "Later"]),
        ("How bad is the damage?", &["Good", "Fair", "Bad"]),
        ("How low is the battery?", &["High", "Medium", "Low"]),
        (
            "How satisfied is the writer?",
            &[
                "Very dissatisfied",
                "Slightly dissatisfied",
                "Not dissatisfied",
            ],
        ),
        (
            "How dissatisfied is the writer?",
            &["Very satisfied", "Neutral", "Very dissatisfied"],
        ),
        ("What is the priority?", &["P3", "P2", "P1"]),
        ("What priority is it, 1 first?", &["3", "2", "1"]),
        ("How urgent is it?", &["30 days", "7 days", "1 day"]),
        ("How long did it take?", &["1", "2", "10"]),
        ("What school?", &["High school", "College", "University"]),
        ("How much?", &["L1", "L2"]),
        ("Wie dringend ist es?", &["Hoch", "Mittel", "Niedrig"]),
        ("How good is it?", &["Good", "Good enough"]),
        ("How much?", &["High", "Low", "High again"]),
    ] {
        assert_eq!(scale(text, levels), [], "{levels:?}");
    }
}

#[test]
fn a_level_that_is_no_place_on_the_scale_warns() {
    for label in [
        "Not applicable",
        "N/A",
        "Don’t know",
        "Unknown",
        "No answer",
    ] {
        let expected = [("level-off-scale", "levels.2".to_owned())];
        assert_eq!(
            scale("How much?", &["Low", "High", label]),
            expected,
            "{label}"
        );
    }
    for levels in [
        ["Unknown", "Known", "Famous"],
        ["Unclear", "Clear", "Very clear"],
        ["None", "Some", "All"],
        ["No answer", "A partial answer", "A full answer"],
    ] {
        assert_eq!(scale("How much?", &levels), [], "{levels:?}");
    }
}
