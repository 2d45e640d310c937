//! llama.cpp's native extension for continuing an answer from several letters: one request that
//! holds the prompt once for each letter.
//!
//! Source: `POST /apply-template` and `POST /completion` in `tools/server/README.md` of llama.cpp.
//! The server fills the chat template and tokenizes the prompt as for a continued message, so the
//! probabilities equal those of follow-up requests by message.

use bytes::Bytes;
use hyper::http::uri::PathAndQuery;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::capabilities::USUAL_ALTERNATIVES;
use super::completion::{LenientTokens, TokenPosition, positions};
use super::request::inside_json;
use crate::connection::request_body::RequestBody;
use crate::json::{JsonObject, count, nested, object};
use crate::report::ReportedUsage;
use crate::servers::ServerAddress;

/// Writes the requests to llama.cpp's native endpoints.
#[derive(Debug)]
pub(super) struct LlamaCppRequests {
    apply_template: PathAndQuery,
    completion: PathAndQuery,
    /// The body of a batch up to its first prompt.
    beginning: Bytes,
}

/// The answer's continuation from one letter of a batch.
pub(super) struct Continuation {
    /// At least one token.
    pub(super) positions: Vec<TokenPosition>,
    /// The slot that answered, if the server names it.
    pub(super) slot: Option<u64>,
    pub(super) usage: ReportedUsage,
}

impl LlamaCppRequests {
    /// `None` if the paths of these endpoints cannot be derived from the server's address.
    pub(super) fn new(model: &str, address: &ServerAddress) -> Option<Self> {
        // without `response_fields` each answer would repeat its prompt
        let settings = json!({
            "model": model, "temperature": 0, "n_predict": 1,
            "n_probs": USUAL_ALTERNATIVES, "cache_prompt": true,
            "response_fields": ["index", "id_slot", "completion_probabilities",
                "tokens_evaluated", "tokens_predicted", "timings"]})
        .to_string();
        let settings = settings.strip_suffix('}')?;
        Some(Self {
            apply_template: address.path_beside_v1("apply-template")?,
            completion: address.path_beside_v1("completion")?,
            beginning: format!(r#"{settings},"prompt":[""#).into(),
        })
    }

    /// Asks for the prompt that the server builds from a chat request.
    pub(super) fn template(&self, chat: RequestBody) -> RequestBody {
        chat.sent_to(&self.apply_template)
    }

    /// Asks for the continuations of an answer from each of these beginnings, in this slot or in any.
    /// `prompt` is the inside of a JSON string; all its copies in the request share its bytes.
    pub(super) fn batch(
        &self,
        prompt: &Bytes,
        beginnings: &[String],
        slot: Option<u64>,
    ) -> RequestBody {
        let mut parts = vec![self.beginning.clone()];
        for (index, begun) in beginnings.iter().enumerate() {
            let is_last = index + 1 == beginnings.len();
            let mut end = inside_json(begun);
            end.extend_from_slice(if is_last { br#""]"# } else { br#"",""# });
            parts.extend([prompt.clone(), end.into()]);
        }
        let end = slot.map_or_else(|| "}".to_owned(), |slot| format!(r#","id_slot":{slot}}}"#));
        parts.push(end.into());
        RequestBody::new(parts).sent_to(&self.completion)
    }
}

/// The prompt in the server's answer to [`LlamaCppRequests::template`], as the inside of a JSON
/// string. The beginning `begun` of the answer is cut off its end. `None` if the prompt does not
/// end with exactly that beginning.
pub(super) fn prompt_before(begun: &str, answer: &Bytes) -> Option<Bytes> {
    let reply: JsonObject<'_> = object(answer)?;
    let prompt = reply.get("prompt")?.get();
    let inside = prompt.strip_prefix('"')?.strip_suffix('"')?;
    let end = inside_json(begun);
    let prompt = inside.as_bytes().strip_suffix(end.as_slice())?;
    Some(answer.slice_ref(prompt))
}

/// Reads the answer to a batch; `None` unless it holds one continuation for each of the `asked`
/// beginnings, in order.
pub(super) fn read_batch(answer: &[u8], asked: usize) -> Option<Vec<Continuation>> {
    // a batch of one is answered by an object instead of a list
    let read: Vec<ContinuationJson<'_>> = match object(answer) {
        Some(single) => vec![single],
        None => serde_json::from_slice(answer).ok()?,
    };
    let continuations: Option<Vec<Continuation>> = read
        .into_iter()
        .zip(0_u64..)
        .map(|(json, index)| continuation(json, index))
        .collect();
    continuations.filter(|continuations| continuations.len() == asked)
}

fn continuation(json: ContinuationJson<'_>, index: u64) -> Option<Continuation> {
    if json.index.and_then(count) != Some(index) {
        return None;
    }
    let positions = positions(json.completion_probabilities);
    let timings: JsonObject<'_> = json.timings.and_then(nested).unwrap_or_default();
    (!positions.is_empty()).then_some(Continuation {
        positions,
        slot: json.id_slot.and_then(count),
        usage: ReportedUsage {
            input_tokens: json.tokens_evaluated.and_then(count),
            cached_tokens: timings.get("cache_n").and_then(count),
            output_tokens: json.tokens_predicted.and_then(count),
            ..ReportedUsage::default()
        },
    })
}

#[derive(Deserialize)]
struct ContinuationJson<'a> {
    #[serde(borrow)]
    index: Option<&'a RawValue>,
    #[serde(borrow)]
    id_slot: Option<&'a RawValue>,
    #[serde(borrow, default)]
    completion_probabilities: LenientTokens<'a>,
    #[serde(borrow)]
    timings: Option<&'a RawValue>,
    #[serde(borrow)]
    tokens_evaluated: Option<&'a RawValue>,
    #[serde(borrow)]
    tokens_predicted: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompts_of_a_batch_share_the_bytes_of_the_servers_answer() {
        let address = ServerAddress::parse("http://127.0.0.1:8080/v1").unwrap();
        let requests = LlamaCppRequests::new("qwen", &address).unwrap();
        let text = "\"x\"\n".repeat(25_000);
        let answer = Bytes::from(json!({"prompt": format!("{text} B")}).to_string());
        let prompt = prompt_before(" B", &answer).unwrap();
        let beginnings: Vec<String> = ('A'..='Z').map(|letter| format!(" {letter}")).collect();
        let body = requests.batch(&prompt, &beginnings, Some(3));
        let copies = body.parts().iter().filter(|part| part.len() > 1_000);
        let copies: Vec<*const u8> = copies.map(|part| part.as_ptr()).collect();
        assert_eq!(copies, [prompt.as_ptr(); 26]);
        assert!(answer.as_ptr_range().contains(&prompt.as_ptr()));
        let sent: serde_json::Value = serde_json::from_slice(&body.parts().concat()).unwrap();
        assert_eq!(sent["prompt"][25], json!(format!("{text} Z")));
        assert_eq!(sent["id_slot"], 3);
    }
}
