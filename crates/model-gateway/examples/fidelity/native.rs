//! llama.cpp's native endpoints: the prompt from its chat template, and the probabilities of the
//! next token.
//!
//! `/apply-template` gets the gateway's request body, so the prompt is the one that was answered.
//! From then on prompts are token ids: text would be tokenized again. With `n_probs`, `/completion`
//! sends the softmax of the model's logits, before temperature and samplers.

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::PlainAddress;
use crate::relay::RecordedQuestion;

/// Number of tokens to list first, and the factor for asking again if these leave too much out.
const LISTED: usize = 500;
const MORE: usize = 10;
/// Bound on the probability of all tokens that are not listed.
const MOST_UNLISTED: f64 = 0.000_1;

/// The native endpoints of a llama.cpp server.
#[derive(Clone, Debug)]
pub(crate) struct NativeEndpoints(pub(crate) PlainAddress);

/// The probabilities of the next token.
#[derive(Clone, Debug, Default)]
pub(crate) struct NextTokens {
    /// The most probable first.
    pub(crate) tokens: Vec<NextToken>,
    /// Total probability of the unlisted tokens.
    pub(crate) unlisted: f64,
    /// Whether the most probable token ends the answer.
    pub(crate) ends: bool,
}

/// A token with its probability.
#[derive(Clone, Debug)]
pub(crate) struct NextToken {
    pub(crate) id: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) probability: f64,
}

impl NativeEndpoints {
    /// The prompt of a question, as tokens.
    pub(crate) async fn prompt(&self, question: &RecordedQuestion) -> anyhow::Result<Vec<u32>> {
        let applied = self.0.post("/apply-template", &question.body).await?;
        let content = applied
            .get("prompt")
            .context("/apply-template: no prompt")?;
        let text = json!({"content": content, "add_special": true, "parse_special": true});
        let tokenized = self.0.post("/tokenize", &text).await?;
        let tokens = tokenized.get("tokens").cloned().unwrap_or_default();
        let tokens: Vec<u32> = serde_json::from_value(tokens).context("/tokenize: no tokens")?;
        let counted = u64::try_from(tokens.len())?;
        match question.prompt_tokens {
            Some(asked) if asked != counted => bail!(
                "the prompt that was answered has {asked} tokens, the one of /apply-template has \
                 {counted}: this server's answers cannot be checked"
            ),
            Some(_) | None => Ok(tokens),
        }
    }

    /// The probabilities of the token after these tokens. The server's prompt cache speeds this up.
    pub(crate) async fn next(&self, tokens: &[u32]) -> anyhow::Result<NextTokens> {
        self.read_next(tokens, true).await
    }

    /// The probabilities of the token after these tokens, read by the server without its cache.
    pub(crate) async fn next_without_cache(&self, tokens: &[u32]) -> anyhow::Result<NextTokens> {
        self.read_next(tokens, false).await
    }

    async fn read_next(&self, tokens: &[u32], cache_prompt: bool) -> anyhow::Result<NextTokens> {
        let mut wanted = LISTED;
        loop {
            let body = json!({
                "prompt": tokens, "n_predict": 1, "n_probs": wanted, "temperature": 0,
                "cache_prompt": cache_prompt});
            let answer = self.0.post("/completion", &body).await?;
            let mut next = read(answer)?;
            if next.tokens.len() < wanted {
                // the list holds the whole vocabulary
                next.unlisted = 0.0;
            }
            if next.unlisted <= MOST_UNLISTED {
                return Ok(next);
            }
            wanted *= MORE;
        }
    }

    /// The server's name for its model.
    pub(crate) async fn model(&self) -> anyhow::Result<String> {
        let body = json!({"prompt": "1", "n_predict": 0});
        let answer = self.0.post("/completion", &body).await?;
        let name = answer.get("model").and_then(Value::as_str);
        Ok(name.unwrap_or("without a name").to_owned())
    }
}

fn read(answer: Value) -> anyhow::Result<NextTokens> {
    let answer: CompletionAnswer =
        serde_json::from_value(answer).context("/completion: no probabilities before sampling")?;
    let [position] = answer.completion_probabilities.as_slice() else {
        bail!("/completion: one token was asked for");
    };
    let listed = position.top_logprobs.iter().map(|token| NextToken {
        id: token.id,
        bytes: token.bytes.clone(),
        probability: token.logprob.exp(),
    });
    let tokens: Vec<NextToken> = listed.collect();
    let sum: f64 = tokens.iter().map(|token| token.probability).sum();
    Ok(NextTokens {
        unlisted: (1.0 - sum).max(0.0),
        ends: answer.stop_type == "eos",
        tokens,
    })
}

#[derive(Deserialize)]
struct CompletionAnswer {
    completion_probabilities: Vec<CompletionPosition>,
    stop_type: String,
}

#[derive(Deserialize)]
struct CompletionPosition {
    top_logprobs: Vec<ListedToken>,
}

#[derive(Deserialize)]
struct ListedToken {
    id: u32,
    bytes: Vec<u8>,
    logprob: f64,
}
