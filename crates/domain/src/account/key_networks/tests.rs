use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::*;

fn read(list: &str) -> KeyNetworks {
    KeyNetworks::parse(list).unwrap().unwrap()
}

fn allows(list: &str, client: &str) -> bool {
    read(list).allow(client.parse().unwrap())
}

#[test]
fn a_list_is_read_in_order_without_repeats() {
    for (list, expected) in [
        ("10.0.0.0/8", "10.0.0.0/8"),
        (
            " 192.0.2.7,10.0.0.0/8\n10.0.0.0/8 ",
            "10.0.0.0/8, 192.0.2.7/32",
        ),
        ("2001:db8::/32 ::1", "::1/128, 2001:db8::/32"),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("::ffff:192.0.2.7", "192.0.2.7/32"),
        ("0.0.0.0/0", "0.0.0.0/0"),
    ] {
        assert_eq!(read(list).to_string(), expected, "{list}");
    }
    for none in ["", " \n", ",", " , "] {
        assert_eq!(KeyNetworks::parse(none), Ok(None));
    }
}

#[test]
fn what_is_no_network_is_named() {
    for (list, expected) in [
        (
            "10.0.0.0/8, office",
            "'office' is no network: write one such as 10.0.0.0/8 or 2001:db8::/32, or an \
             address",
        ),
        (
            "10.1.2.3/8",
            "'10.1.2.3/8' has bits after its prefix: write 10.0.0.0/8 for that network",
        ),
    ] {
        let error = KeyNetworks::parse(list).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    for bad in ["10.0.0.0/33", "10.0.0/8", "10.0.0.0/-1", "::1/129", "*"] {
        assert!(KeyNetworks::parse(bad).is_err(), "{bad}");
    }
    let error = KeyNetworks::parse(&"é".repeat(1_000)).unwrap_err();
    let quoted = format!("'{}…' is no network", "é".repeat(43));
    assert!(error.to_string().starts_with(&quoted), "{error}");
    let many = |count: usize| (0..count).map(|number| format!("10.0.{number}.0/24 "));
    assert!(KeyNetworks::parse(&many(32).collect::<String>()).is_ok());
    let error = KeyNetworks::parse(&many(33).collect::<String>()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "33 networks are too many: a key has at most 32"
    );
}

#[test]
fn only_clients_in_a_network_are_allowed() {
    for (list, client, expected) in [
        ("10.0.0.0/8", "10.255.0.1", true),
        ("10.0.0.0/8", "11.0.0.1", false),
        ("10.0.0.0/8", "::ffff:10.255.0.1", true),
        ("10.0.0.0/8", "::ffff:11.0.0.1", false),
        ("192.0.2.7", "192.0.2.7", true),
        ("192.0.2.7", "192.0.2.8", false),
        ("2001:db8::/32", "2001:db8:1::7", true),
        ("2001:db8::/32", "2001:db9::7", false),
        ("0.0.0.0/0", "::1", false),
        ("::/0", "192.0.2.7", false),
        ("::/0", "::ffff:192.0.2.7", false),
        ("10.0.0.0/8 2001:db8::/32", "2001:db8::7", true),
    ] {
        assert_eq!(allows(list, client), expected, "{list} {client}");
    }
}

proptest! {
    #[test]
    fn a_network_allows_the_addresses_with_its_first_bits(
        address: u32,
        client: u32,
        bits in 0_u8..=32,
    ) {
        let mask = u32::MAX.checked_shl(u32::from(32 - bits)).unwrap_or(0);
        let list = format!("{}/{bits}", Ipv4Addr::from_bits(address & mask));
        let networks = read(&list);
        let client_address = Ipv4Addr::from_bits(client);
        let expected = client & mask == address & mask;
        prop_assert_eq!(networks.allow(client_address.into()), expected);
        prop_assert_eq!(networks.allow(client_address.to_ipv6_mapped().into()), expected);
        prop_assert!(networks.allow(Ipv4Addr::from_bits((address & mask) | (client & !mask)).into()));
    }

    #[test]
    fn a_network_of_ipv6_allows_the_addresses_with_its_first_bits(
        address: u128,
        client: u128,
        bits in 0_u8..=128,
    ) {
        // an address of 2000::/3, which maps no IPv4 address
        let [address, client] = [address, client].map(|bits| (bits >> 3) | (1 << 125));
        let mask = u128::MAX.checked_shl(u32::from(128 - bits)).unwrap_or(0);
        let list = format!("{}/{bits}", Ipv6Addr::from_bits(address & mask));
        let expected = client & mask == address & mask;
        prop_assert_eq!(read(&list).allow(Ipv6Addr::from_bits(client).into()), expected);
    }

    #[test]
    fn what_is_written_is_read_again(addresses in prop::collection::vec(any::<(u32, u128)>(), 1..16)) {
        let texts = addresses.iter().map(|(of_v4, of_v6)| {
            format!("{} {}", Ipv4Addr::from_bits(*of_v4), Ipv6Addr::from_bits(*of_v6))
        });
        let networks = read(&texts.collect::<Vec<_>>().join(","));
        prop_assert_eq!(KeyNetworks::parse(&networks.to_string()), Ok(Some(networks)));
    }

    #[test]
    fn any_text_is_read_without_a_panic(text: String) {
        let _ = KeyNetworks::parse(&text);
    }
}
