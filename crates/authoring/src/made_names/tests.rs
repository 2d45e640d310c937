use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::*;

fn first(name: &str) -> String {
    slugs(name).next().unwrap().to_string()
}

#[test]
fn a_slug_is_made_from_the_name() {
    assert_eq!(first("Support triage"), "support-triage");
    assert_eq!(first("  Ärger -- & Ñandú 2! "), "arger-nandu-2");
    assert_eq!(first("日本"), "prism");
    assert_eq!(first(&"abc ".repeat(60)).len(), 63);
}

#[test]
fn a_taken_slug_gets_a_number_within_64_characters() {
    let tried: Vec<_> = slugs(&"a".repeat(90)).take(3).collect();
    assert_eq!(tried[0].as_str(), "a".repeat(64));
    assert_eq!(tried[1].as_str(), format!("{}-2", "a".repeat(62)));
    assert_eq!(tried[2].as_str(), format!("{}-3", "a".repeat(62)));
}

#[test]
fn no_slug_looks_like_a_uuid() {
    let name = "0190b8f2-0000-7000-8000-0000000000aa";
    assert_eq!(first(name), format!("{name}-2"));
}

#[test]
fn an_option_key_is_made_from_its_label() {
    let cases = [
        ("Billing", "billing"),
        ("  Crème brûlée, please!", "creme_brulee_please"),
        ("24 hours", "option_24_hours"),
        ("日本", "option"),
        ("", "option"),
    ];
    for (label, key) in cases {
        assert_eq!(
            outcome_key(label, &mut TriedNumbers::default(), |_| false).as_str(),
            key,
            "{label}"
        );
    }
}

#[test]
fn a_field_or_question_key_is_made_from_words_and_is_never_reserved() {
    assert_eq!(
        field_key("Context", &mut TriedNumbers::default(), |_| false).as_str(),
        "context_2"
    );
    assert_eq!(
        field_key("日本", &mut TriedNumbers::default(), |_| false).as_str(),
        "field"
    );
    let question = |text| question_key(text, &mut TriedNumbers::default(), |key| key == "text");
    assert_eq!(question("Is it 5 stars?").as_str(), "question_5_stars");
    assert_eq!(question("Five of 5 stars?").as_str(), "five_5_stars");
    assert_eq!(question("Status").as_str(), "status_2");
    assert_eq!(question("Text").as_str(), "text_2");
}

#[test]
fn a_question_key_is_short() {
    for (text, key) in [
        ("What is the review about?", "about"),
        ("Is it a bug report?", "bug_report"),
        ("Is somebody angry?", "angry"),
        ("How urgent is it?", "urgent"),
        (
            "Does the customer want their money back soon?",
            "customer_want_money",
        ),
        ("Is it?", "is_it"),
        ("Worum geht es in der Nachricht?", "worum_geht_es"),
        ("日本?", "question"),
    ] {
        assert_eq!(
            question_key(text, &mut TriedNumbers::default(), |_| false).as_str(),
            key,
            "{text}"
        );
    }
}

#[test]
fn a_taken_option_key_gets_a_number() {
    let long = "x".repeat(200);
    assert_eq!(
        outcome_key("A", &mut TriedNumbers::default(), |key| key == "a"
            || key == "a_2")
        .as_str(),
        "a_3"
    );
    let derived = outcome_key(&long, &mut TriedNumbers::default(), |key| {
        key.len() == 64 && key.ends_with('x')
    });
    assert_eq!(derived.as_str(), format!("{}_2", "x".repeat(62)));
}

#[test]
fn the_work_for_equal_labels_grows_with_their_number_only() {
    let tries = std::cell::Cell::new(0);
    let labels = |words: &dyn Fn(usize) -> String| (0..2_000).map(words).collect::<Vec<_>>();
    // alike, and alike only once they are cut to the length of a key with its number
    for labels in [
        labels(&|_| "Spare parts".to_owned()),
        labels(&|number| format!("{}{:04}", "x".repeat(60), number / 2)),
    ] {
        tries.set(0);
        let (mut numbers, mut taken) = (TriedNumbers::default(), BTreeSet::new());
        for label in &labels {
            let key = outcome_key(label, &mut numbers, |key| {
                tries.set(tries.get() + 1);
                taken.contains(key)
            });
            assert!(taken.insert(key.to_string()));
        }
        assert!(tries.get() <= 2 * 2_000, "{}", tries.get());
    }
    let equal = vec![(None, "A"); 12];
    let keys = outcome_keys(&equal, &[], |_| false);
    assert_eq!(
        keys[8..].iter().map(OutcomeKey::as_str).collect::<Vec<_>>(),
        ["a_9", "a_10", "a_11", "a_12"]
    );
}

/// By form D of the lower case.
fn by_unicode(c: char) -> Unaccented {
    let lower = c.to_lowercase().nfd();
    let mut base = lower.filter(|c| !is_combining_mark(*c));
    match (base.next(), base.next()) {
        (None, _) => Unaccented::Mark,
        (Some(c), None) if c.is_ascii_lowercase() || c.is_ascii_digit() => Unaccented::Plain(c),
        (Some(first), rest) => {
            let all = [first].into_iter().chain(rest).chain(base);
            assert!(
                all.into_iter().all(|c| !c.is_ascii_alphanumeric()),
                "{c} is of two letters"
            );
            Unaccented::Other
        }
    }
}

/// What the tables list.
fn listed() -> BTreeMap<char, Unaccented> {
    let letters = LETTERS.iter().flat_map(|(letter, accented)| {
        let accented = accented.chars();
        accented.map(|c| (c, Unaccented::Plain(*letter)))
    });
    let ends: Vec<char> = MARKS.chars().collect();
    let (ranges, []) = ends.as_chunks::<2>() else {
        panic!("a range has two ends");
    };
    let marks = ranges.iter().flat_map(|[first, last]| *first..=*last);
    letters
        .chain(marks.map(|c| (c, Unaccented::Mark)))
        .collect()
}

#[test]
fn every_character_is_what_unicode_decomposes_it_into() {
    // beyond are planes without any assigned character, and those for private use
    let assigned = ('\u{80}'..='\u{3ffff}').chain('\u{e0000}'..='\u{e0fff}');
    let all = assigned.map(|c| (c, by_unicode(c)));
    let unicode: BTreeMap<_, _> = all.filter(|(_, it)| *it != Unaccented::Other).collect();
    let listed = listed();
    let differs = |c: &&char| unicode.get(c) != listed.get(c);
    let different: Vec<_> = unicode
        .keys()
        .chain(listed.keys())
        .filter(differs)
        .collect();
    assert!(different.is_empty(), "{different:?}");
    for (c, expected) in listed {
        assert_eq!(unaccented(c), expected, "U+{:04X}", u32::from(c));
    }
}

#[test]
fn ascii_and_other_characters_are_what_they_are() {
    for (c, expected) in [('a', 'a'), ('Z', 'z'), ('7', '7')] {
        assert_eq!(unaccented(c), Unaccented::Plain(expected));
    }
    for c in ['_', ' ', '\0', 'ß', 'ø', '日', '\u{10ffff}'] {
        assert_eq!(unaccented(c), Unaccented::Other, "{c:?}");
    }
}
