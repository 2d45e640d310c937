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
mod tests;
