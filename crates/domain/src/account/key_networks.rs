//! The networks from which the calls of an API key are accepted.

use std::fmt;
use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};

/// Leading bits of an IPv6 address that maps an IPv4 address.
const MAPPED_BITS: u8 = 96;
/// The most characters of a wrong network that an error quotes.
const QUOTED_CHARS: usize = 43;

/// The networks that an API key is limited to: 1 to 32, in order, none twice.
///
/// An IPv4 address that is mapped into IPv6 counts as IPv4, in networks and in clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyNetworks(Box<[IpNet]>);

/// Why a list of networks is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyNetworksError {
    /// A part of the list is neither a network nor an address.
    #[error("'{0}' is no network: write one such as 10.0.0.0/8 or 2001:db8::/32, or an address")]
    NotANetwork(String),
    /// A network has bits after its prefix, so it is unclear which network is meant.
    #[error("'{typed}' has bits after its prefix: write {network} for that network")]
    BitsAfterPrefix {
        /// What was written.
        typed: String,
        /// The network without these bits.
        network: IpNet,
    },
    /// The list has more networks than a key may have.
    #[error("{0} networks are too many: a key has at most {most}", most = KeyNetworks::MOST)]
    TooMany(usize),
}

impl KeyNetworks {
    /// The most networks of a key.
    pub const MOST: usize = 32;

    /// Reads networks and addresses that are separated by commas or white space. `None` for an
    /// empty list: a key that is not limited.
    ///
    /// # Errors
    /// The first part that is no network, or too many networks.
    pub fn parse(list: &str) -> Result<Option<Self>, KeyNetworksError> {
        let parts = list.split(|sign: char| sign == ',' || sign.is_whitespace());
        let parts = parts.filter(|part| !part.is_empty());
        let mut networks = parts.map(network).collect::<Result<Vec<_>, _>>()?;
        networks.sort_unstable();
        networks.dedup();
        if networks.len() > Self::MOST {
            return Err(KeyNetworksError::TooMany(networks.len()));
        }
        Ok((!networks.is_empty()).then(|| Self(networks.into())))
    }

    /// Whether a client at this address may use the key.
    pub fn allow(&self, client: IpAddr) -> bool {
        let client = client.to_canonical();
        self.0.iter().any(|network| network.contains(&client))
    }

    /// The networks, each as text such as `10.0.0.0/8`.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(IpNet::to_string)
    }
}

/// The networks, separated by commas: a text that [`KeyNetworks::parse`] reads.
impl fmt::Display for KeyNetworks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, network) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            network.fmt(f)?;
        }
        Ok(())
    }
}

fn network(typed: &str) -> Result<IpNet, KeyNetworksError> {
    let address = typed.parse::<IpAddr>().map(IpNet::from);
    let read = address.or_else(|_| typed.parse::<IpNet>());
    let read = read.map_err(|_| KeyNetworksError::NotANetwork(shortened(typed)))?;
    if read.trunc() == read {
        Ok(canonical(read))
    } else {
        Err(KeyNetworksError::BitsAfterPrefix {
            typed: typed.to_owned(),
            network: canonical(read.trunc()),
        })
    }
}

/// The beginning of what was typed, as much of it as the longest network has.
fn shortened(typed: &str) -> String {
    let mut chars = typed.chars();
    let begin: String = chars.by_ref().take(QUOTED_CHARS).collect();
    let rest = if chars.next().is_some() { "…" } else { "" };
    begin + rest
}

/// A network of mapped addresses as the IPv4 network that it maps; any other network unchanged.
fn canonical(network: IpNet) -> IpNet {
    let IpNet::V6(of_v6) = network else {
        return network;
    };
    let mapped = of_v6.addr().to_ipv4_mapped();
    let bits = of_v6.prefix_len().checked_sub(MAPPED_BITS);
    let of_v4 = mapped
        .zip(bits)
        .and_then(|(address, bits)| Ipv4Net::new(address, bits).ok());
    of_v4.map_or(network, IpNet::V4)
}

#[cfg(test)]
mod tests {
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
}
