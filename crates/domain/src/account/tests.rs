use proptest::prelude::*;

use super::*;

#[test]
fn an_address_is_trimmed_and_in_lower_case() {
    assert_eq!(
        Email::parse(" Ada@Example.COM\n").unwrap().as_str(),
        "ada@example.com"
    );
    let longest = format!("{}@b", "a".repeat(252));
    for good in ["a@b", "ä+b@ü.example", &longest] {
        assert!(Email::parse(good).is_ok(), "{good}");
    }
}

#[test]
fn what_is_no_address_is_refused() {
    let too_long = format!("{}@b", "a".repeat(253));
    for bad in [
        "", "@", "a@", "@b", "ada", "a@b@c", "a b@c", "a@b c", "a@b\u{7}", "a\0@b", &too_long,
    ] {
        assert!(Email::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn an_address_that_looks_like_another_one_is_refused_by_the_character() {
    for (character, name) in [
        ('\u{200b}', "U+200B"),
        ('\u{ad}', "U+00AD"),
        ('\u{202e}', "U+202E"),
        ('\u{2066}', "U+2066"),
        ('\u{fe0f}', "U+FE0F"),
        ('\u{e0061}', "U+E0061"),
        // the Kelvin sign, which is a k in lower case
        ('\u{212a}', "U+212A"),
    ] {
        for address in [
            format!("ad{character}a@example.com"),
            format!("ada@ex{character}.com"),
        ] {
            let errors = Email::parse(&address).err().unwrap();
            assert!(errors[0].to_string().contains(name), "{errors:?}");
        }
    }
}

proptest! {
    #[test]
    fn a_parsed_address_parses_to_itself(text in ".{0,20}@.{0,20}") {
        if let Ok(email) = Email::parse(&text) {
            prop_assert_eq!(Email::parse(email.as_str()).ok(), Some(email));
        }
    }
}

#[test]
fn a_role_may_what_lesser_roles_may() {
    assert!(Role::Owner.may(Role::Reviewer));
    assert!(Role::Editor.may(Role::Editor));
    assert!(!Role::Reviewer.may(Role::Editor));
    assert!(!Role::Editor.may(Role::Owner));
}

#[test]
fn roles_are_found_by_name() {
    for role in Role::ALL {
        assert_eq!(Role::named(role.name()), Some(role));
    }
    assert_eq!(Role::named("Owner"), None);
}

#[test]
fn a_hash_as_text_reads_back() {
    let hash = TokenHash::new(std::array::from_fn(|i| u8::try_from(i * 7).unwrap()));
    let text = hash.to_hex();
    assert_eq!(text.len(), 64);
    assert!(TokenHash::from_hex(&text) == Some(hash));
    assert_eq!(TokenHash::new([0xa5; 32]).to_hex(), "a5".repeat(32));
    for other in [
        "",
        "a5",
        &"+5".repeat(32),
        &"é".repeat(32),
        &format!("{text}a"),
    ] {
        assert!(TokenHash::from_hex(other).is_none(), "{other}");
    }
}

fn day(number: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000 + number)
}

/// A key that was made on day 0.
fn key(last_used: Option<i64>, ends: Option<i64>) -> KeyTimes {
    KeyTimes {
        created_at: day(0),
        last_used_at: last_used.map(day),
        expires_at: ends.map(day),
        revoked_at: None,
    }
}

#[test]
fn owners_are_reminded_of_a_key_in_use_that_ends_within_two_weeks() {
    let ends_soon = |end| Some(KeyReminder::EndsSoon { ends_at: day(end) });
    for (last_used, ends, expected) in [
        (Some(99), Some(114), ends_soon(114)),
        (Some(87), Some(101), ends_soon(101)),
        (Some(99), Some(115), None),
        (Some(99), Some(100), None),
        (Some(99), None, None),
        (Some(86), Some(101), None),
        (None, Some(101), None),
    ] {
        let key = key(last_used, ends);
        assert_eq!(key.reminder(None, day(100)), expected, "{key:?}");
    }
    let revoked = KeyTimes {
        revoked_at: Some(day(99)),
        ..key(Some(99), Some(101))
    };
    assert_eq!(revoked.reminder(None, day(100)), None);
}

#[test]
fn owners_are_reminded_of_a_successor_that_nobody_uses() {
    let successor = |last_used, ends| KeyTimes {
        created_at: day(95),
        ..key(last_used, ends)
    };
    let ends_soon = Some(KeyReminder::EndsSoon { ends_at: day(102) });
    let unused = Some(KeyReminder::SuccessorUnused);
    for (last_used, successor, expected) in [
        (99, successor(None, None), unused),
        (94, successor(None, None), ends_soon),
        (99, successor(None, Some(100)), ends_soon),
        // both are used
        (100, successor(Some(99), None), ends_soon),
        // the programs use the successor
        (99, successor(Some(99), None), None),
    ] {
        let reminder = key(Some(last_used), Some(102)).reminder(Some(&successor), day(100));
        assert_eq!(reminder, expected, "{last_used} {successor:?}");
    }
}

#[test]
fn days_left_have_a_fraction_and_end_at_zero() {
    let half = day(1) + TimeDelta::hours(12);
    assert!((days_left(half, day(0)) - 1.5).abs() < 1e-9);
    assert!(days_left(day(0), half).abs() < 1e-9);
}

#[test]
fn a_budget_is_a_plain_decimal_over_zero() {
    for (typed, exact) in [
        ("200", "200"),
        ("12.50", "12.5"),
        ("0.000000001", "0.000000001"),
        ("999999999.999999999", "999999999.999999999"),
        ("007", "7"),
    ] {
        let budget = MonthBudget::parse(typed).unwrap();
        assert_eq!(budget.to_string(), exact, "{typed}");
        assert_eq!(MonthBudget::from_nanos(budget.nanos()), Some(budget));
    }
    for typed in [
        "",
        "0",
        "0.0",
        "-1",
        "+1",
        "1.",
        ".5",
        "1,5",
        "1e3",
        " 1",
        "1.0000000001",
        "1000000000",
        "1.2.3",
        "none",
        "١",
    ] {
        assert!(MonthBudget::parse(typed).is_err(), "{typed}");
    }
}

#[test]
fn the_used_part_is_rounded_down() {
    let budget = MonthBudget::parse("0.3").unwrap();
    let percent = |spent: &str| budget.percent(Cost::parse(spent).unwrap());
    assert_eq!(percent("0"), 0);
    assert_eq!(percent("0.239999999999999999"), 79);
    assert_eq!(percent("0.24"), 80);
    assert_eq!(percent("0.299999999999999999"), 99);
    assert_eq!(percent("0.3"), 100);
    assert_eq!(percent("3"), 1_000);
    assert!(budget.percent(Cost::from_attos(u128::MAX)) > 100);
    let ratio = budget.used_ratio(Cost::parse("0.15").unwrap());
    assert!((ratio - 0.5).abs() < 1e-12);
}
