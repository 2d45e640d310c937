//! A request in parts: valid at first, then changed part by part.

use super::chance::Chance;
use super::framing::{self, BodyFraming};
use super::{heads, json};

/// The service's data for a valid call.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// An API key.
    pub(crate) bearer: String,
    /// Ids of results.
    pub(crate) ids: Vec<String>,
}

/// A request whose parts may be broken.
#[derive(Clone, Debug)]
pub(crate) struct MutatedRequest {
    pub(super) method: Vec<u8>,
    pub(super) target: Vec<u8>,
    pub(super) version: Vec<u8>,
    /// Names and values, without those that frame the body.
    pub(super) headers: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) body: Option<Vec<u8>>,
    pub(super) framing: BodyFraming,
    /// Whether a server can tell unambiguously where the request ends and the next one begins.
    pub(super) is_framed: bool,
}

impl MutatedRequest {
    /// A request with zero or more mutations.
    pub(crate) fn any(chance: &mut Chance, known: &Known) -> Self {
        let mut request = Self::valid(chance, known);
        let mutations = chance.of(&[0, 1, 1, 1, 1, 2, 2, 3, 5]);
        for _ in 0..mutations {
            match chance.below(10) {
                0 => heads::change_method(&mut request, chance),
                1 | 2 => heads::change_target(&mut request, chance),
                3 | 4 => heads::change_headers(&mut request, chance),
                5..=7 => request.body = Some(json::body(chance)),
                8 => framing::change(&mut request, chance),
                _ => request.change_rarely(chance),
            }
        }
        request
    }

    /// A valid request that ends its connection.
    pub(crate) fn last(known: &Known) -> Self {
        let mut request = Self::read(&known.bearer, known.ids.first().unwrap());
        request.header("Connection", "close");
        request
    }

    /// Whether a server can tell unambiguously where the request ends and the next one begins.
    pub(crate) fn is_framed(&self) -> bool {
        self.is_framed
    }

    /// The bytes of the request.
    pub(crate) fn bytes(&self, chance: &mut Chance) -> Vec<u8> {
        framing::write(self, chance)
    }

    pub(super) fn header(&mut self, name: &str, value: &str) {
        self.headers.push((name.into(), value.into()));
    }

    fn valid(chance: &mut Chance, known: &Known) -> Self {
        let id = &known.ids[chance.below(known.ids.len())];
        let mut request = Self::read(&known.bearer, id);
        match chance.below(8) {
            0 => {}
            1 => {
                request.method = b"POST".to_vec();
                request.target.extend_from_slice(b"/retry");
            }
            _ => {
                request.method = b"POST".to_vec();
                request.target = b"/v1/prisms/support-triage/results".to_vec();
                request.header("Content-Type", "application/json");
                request.body = Some(json::valid(chance));
                if chance.one_in(4) {
                    request.framing = BodyFraming::Chunks;
                }
            }
        }
        if chance.one_in(3) {
            let format = chance.of(&["json", "raw", "csv", "tsv", "jsonl", ""]);
            request.target.extend(format!("?format={format}").bytes());
        }
        request
    }

    fn read(bearer: &str, id: &str) -> Self {
        let mut request = Self {
            method: b"GET".to_vec(),
            target: format!("/v1/results/{id}").into_bytes(),
            version: b"HTTP/1.1".to_vec(),
            headers: Vec::new(),
            body: None,
            framing: BodyFraming::Length,
            is_framed: true,
        };
        request.header("Host", "test");
        request.header("Authorization", &format!("Bearer {bearer}"));
        request
    }

    /// Changes that would be too frequent or too costly at the rate of the others.
    fn change_rarely(&mut self, chance: &mut Chance) {
        match chance.below(600) {
            // above the size limit of a body, with and without a declared length
            0 => self.body = Some(vec![b' '; 1_048_577]),
            1 => self.body = Some(json::long(chance)),
            2..=200 => heads::change_version(self, chance),
            201..=400 => {
                if let Some(body) = &mut self.body {
                    chance.scramble(body);
                }
            }
            _ => {
                chance.scramble(&mut self.target);
                self.is_framed = false;
            }
        }
    }
}
