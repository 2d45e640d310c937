//! vLLM's log-probabilities of named tokens: all tokens that spell codes, whatever their rank.
//!
//! Source: `logprob_token_ids` in vLLM's `entrypoints/openai/chat_completion/protocol.py` and
//! `POST /tokenize` in its `entrypoints/serve/tokenize/protocol.py`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use hyper::http::uri::PathAndQuery;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::completion::{TokenPosition, text_bytes};
use super::prompt::{CodePiece, CodeShape};
use super::written_answer::without_lead;
use crate::connection::request_body::RequestBody;
use crate::servers::ServerAddress;

/// Upper bound on the tokens that a request may name.
const MOST_NAMED: usize = 128;

/// Asks a server which tokens spell codes.
#[derive(Debug)]
pub(super) struct TokenizeRequest {
    path: PathAndQuery,
    body: String,
}

/// The tokens of a vocabulary that spell a code or its first letter.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NamedTokens {
    pub(super) ids: BTreeSet<u64>,
}

impl TokenizeRequest {
    /// `None` if the path of the endpoint cannot be derived from the server's address.
    pub(super) fn new(model: &str, address: &ServerAddress) -> Option<Self> {
        let body = json!({"model": model, "prompt": every_code(), "add_special_tokens": false,
            "return_token_strs": true});
        Some(Self {
            path: address.path_beside_v1("tokenize")?,
            body: body.to_string(),
        })
    }

    pub(super) fn body(&self) -> RequestBody {
        RequestBody::new([self.body.clone().into()]).sent_to(&self.path)
    }
}

impl NamedTokens {
    /// Reads the answer to a [`TokenizeRequest`]. `None` if it has another shape, or if a
    /// two-character code is one token: there are too many such tokens to name.
    pub(super) fn read(answer: &[u8]) -> Option<Self> {
        let read: TokenizedJson = serde_json::from_slice(answer).ok()?;
        let mut ids = BTreeSet::new();
        let mut codes = BTreeSet::new();
        for (id, text) in read.tokens.iter().zip(&read.token_strs) {
            let bytes = text_bytes(text);
            let word = without_lead(&bytes);
            if let Some(CodePiece::Code(_)) = CodeShape::LetterDigit.read(word) {
                return None;
            }
            for shape in [CodeShape::Letter, CodeShape::Digit, CodeShape::YesNo] {
                if shape.read(word).is_some() {
                    ids.insert(*id);
                    codes.insert(word.to_vec());
                }
            }
        }
        let spells = |shape: CodeShape| {
            (0..shape.codes()).all(|place| codes.contains(shape.code(place).as_bytes()))
        };
        let spells_all = spells(CodeShape::Letter) && spells(CodeShape::Digit);
        (spells_all && ids.len() <= MOST_NAMED).then_some(Self { ids })
    }

    /// Marks the alternatives at each position as the named tokens. Returns `false` if a position
    /// has fewer alternatives than there are named tokens.
    pub(super) fn mark(&self, positions: &mut [TokenPosition]) -> bool {
        for position in &mut *positions {
            position.is_selection = true;
        }
        let mut positions = positions.iter();
        positions.len() > 0 && positions.all(|position| position.others.len() + 1 >= self.ids.len())
    }
}

/// Every code of every shape, plain and after a space, one a line.
fn every_code() -> String {
    let shapes = [
        CodeShape::Letter,
        CodeShape::Digit,
        CodeShape::YesNo,
        CodeShape::LetterDigit,
    ];
    let codes = shapes
        .into_iter()
        .flat_map(|shape| (0..shape.codes()).map(move |place| shape.code(place)));
    let others = ["Yes", "YES", "No", "NO"].map(str::to_owned);
    codes.chain(others).fold(String::new(), |mut text, code| {
        // writing into a string cannot fail
        let _ = write!(text, "\n{code}\n {code}");
        text
    })
}

#[derive(Deserialize)]
struct TokenizedJson {
    tokens: Vec<u64>,
    token_strs: Vec<String>,
}
