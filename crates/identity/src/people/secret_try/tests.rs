use refract_domain::account::TokenHash;

use super::*;

const ADA: EmailHash = EmailHash([255; 32]);

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

fn network() -> SignInCounter {
    SignInCounter::Network("203.0.113.0/24".to_owned())
}

/// Tries for one address, a minute apart.
fn tries(number: i64) -> Vec<CountedTry> {
    let one = |minute| CountedTry {
        email: ADA,
        tried_at: at(60 * minute),
    };
    (0..number).map(one).collect()
}

/// A try for each of `addresses` other addresses, one a second.
fn spraying(addresses: u8) -> Vec<CountedTry> {
    let one = |address| CountedTry {
        email: EmailHash([address; 32]),
        tried_at: at(i64::from(address)),
    };
    (0..addresses).map(one).collect()
}

#[test]
fn ten_wrong_tries_stop_the_next_until_the_oldest_of_the_last_ten_expires() {
    let browser = SignInCounter::Browser(TokenHash::new([1; 32]));
    for counter in [network(), browser] {
        let limited = |number| limit(&counter, ADA, &tries(number), at(0));
        assert_eq!(limited(0), None);
        assert_eq!(limited(9), None);
        let until = |minute: i64| {
            Some(TryLimit::Address {
                until: at(60 * minute),
            })
        };
        assert_eq!(limited(10), until(15));
        assert_eq!(limited(12), until(17));
        let other = limit(&counter, EmailHash([1; 32]), &tries(12), at(0));
        assert_eq!(other, None, "another address is not stopped");
    }
}

#[test]
fn many_addresses_from_a_network_slow_it_to_one_try_in_five_seconds() {
    let limited = |addresses, now| limit(&network(), ADA, &spraying(addresses), at(now));
    assert_eq!(limited(19, 19), None);
    let slowed = Some(TryLimit::Network { until: at(24) });
    assert_eq!(limited(20, 20), slowed);
    assert_eq!(limited(20, 23), slowed);
    assert_eq!(limited(20, 24), None, "the next one");
    // an address's own tries do not count towards the number of addresses
    let mut with_own = spraying(19);
    with_own.extend(tries(1));
    assert_eq!(limit(&network(), ADA, &with_own, at(20)), None);
}

#[test]
fn a_known_browser_is_not_slowed() {
    let browser = SignInCounter::Browser(TokenHash::new([1; 32]));
    assert_eq!(limit(&browser, ADA, &spraying(200), at(199)), None);
}

#[test]
fn tries_count_for_15_minutes_and_not_when_they_are_ahead_of_the_clock() {
    let window = window(at(10_000));
    assert_eq!((window.since, window.until), (at(9_100), at(10_060)));
    assert_eq!(window.deleted_from, at(10_900));
}
