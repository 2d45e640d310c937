//! Where a server may speak which protocol, in the order in which it is asked.

use refract_model_gateway::{ModelEndpoint, Protocol};

/// A protocol at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) protocol: Protocol,
    pub(super) endpoint: ModelEndpoint,
}

/// The base addresses of a server: the given one, with and without `/v1`; none for an endpoint
/// whose base is unknown.
pub(super) fn bases(given: &ModelEndpoint) -> Vec<ModelEndpoint> {
    let base = if given.is_whole() {
        parent(given)
    } else {
        Some(given.clone())
    };
    let other = base.as_ref().and_then(ModelEndpoint::with_or_without_v1);
    base.into_iter().chain(other).collect()
}

/// The base address of an endpoint with the name of a protocol.
fn parent(endpoint: &ModelEndpoint) -> Option<ModelEndpoint> {
    let text = endpoint.to_string();
    let names = [Protocol::SystemOne, Protocol::Decisions].map(Protocol::name);
    let (base, name) = text.rsplit_once('/')?;
    names.contains(&name).then(|| base.parse().ok())?
}

/// The protocols at every address that fits, those with the best probabilities first.
pub(super) fn of(given: &ModelEndpoint) -> Vec<Candidate> {
    let bases = bases(given);
    let whole = given.is_whole().then(|| given.clone());
    let mut candidates = Vec::new();
    let mut add = |protocol, endpoint: &ModelEndpoint| {
        candidates.push(Candidate {
            protocol,
            endpoint: endpoint.clone(),
        });
    };
    for protocol in Protocol::ALL {
        let takes_whole = |endpoint: &&ModelEndpoint| !endpoint.contradicts(protocol);
        for endpoint in whole.iter().filter(takes_whole) {
            add(protocol, endpoint);
        }
        match protocol {
            Protocol::Gemini => {
                for endpoint in bases.iter().filter_map(google) {
                    add(protocol, &endpoint);
                }
            }
            Protocol::SystemOne | Protocol::Decisions | Protocol::Chat | Protocol::Stated => {
                for endpoint in &bases {
                    add(protocol, endpoint);
                }
            }
        }
        // some hosts take System One's questions at `decisions`
        if protocol == Protocol::Decisions {
            let decisions = bases.iter().filter_map(|base| base.asked_by(protocol));
            let decisions = decisions.filter_map(|address| address.parse().ok());
            for endpoint in decisions {
                add(Protocol::SystemOne, &endpoint);
            }
        }
    }
    candidates
}

/// The base address of Google's format: it ends in `/v1beta`.
fn google(base: &ModelEndpoint) -> Option<ModelEndpoint> {
    const VERSION: &str = "/v1beta";
    let text = base.to_string();
    if text.ends_with(VERSION) {
        return Some(base.clone());
    }
    let root = text.strip_suffix("/v1").unwrap_or(&text);
    format!("{root}{VERSION}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protocols and addresses in the order in which they are asked.
    fn asked(given: &str) -> Vec<String> {
        let candidates = of(&given.parse().unwrap()).into_iter();
        let shown = candidates.map(|Candidate { protocol, endpoint }| {
            let address = endpoint.asked_by(protocol).unwrap();
            format!("{} {address}", protocol.name())
        });
        shown.collect()
    }

    #[test]
    fn a_base_address_is_asked_with_and_without_v1() {
        let with_v1 = [
            "systemone http://h/v1/systemone",
            "systemone http://h/systemone",
            "decisions http://h/v1/decisions",
            "decisions http://h/decisions",
            "systemone http://h/v1/decisions",
            "systemone http://h/decisions",
            "gemini http://h/v1beta/decisions",
            "gemini http://h/v1beta/decisions",
            "chat http://h/v1/chat/completions",
            "chat http://h/chat/completions",
            "stated http://h/v1/chat/completions",
            "stated http://h/chat/completions",
        ];
        assert_eq!(asked("http://h/v1"), with_v1);
        let without = asked("http://h");
        assert_eq!(without[..2], [with_v1[1], with_v1[0]]);
        assert_eq!(without.len(), with_v1.len());
    }

    #[test]
    fn a_whole_address_comes_first_and_its_base_after_it() {
        let asked_at = asked("http://h/v1/systemone");
        assert_eq!(asked_at[0], "systemone http://h/v1/systemone");
        assert!(asked_at.contains(&"chat http://h/v1/chat/completions".to_owned()));
        assert!(!asked_at.contains(&"chat http://h/v1/systemone".to_owned()));
        assert_eq!(
            asked("http://h/m/invocations"),
            Protocol::ALL.map(|protocol| format!("{} http://h/m/invocations", protocol.name()))
        );
    }

    #[test]
    fn a_google_address_is_asked_as_it_is() {
        let google = asked("https://h/v1beta").into_iter();
        let google = google.filter(|asked| asked.starts_with("gemini"));
        let google: Vec<_> = google.collect();
        assert_eq!(google[0], "gemini https://h/v1beta/decisions");
    }
}
