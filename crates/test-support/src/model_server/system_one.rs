//! System One answers that follow from the questions alone.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::http::ReceivedRequest;

/// Millionths that all outcomes but the first share.
const OTHERS: u32 = 300_000;

/// The whole body of an answer to a request.
pub fn reply(request: &ReceivedRequest) -> Value {
    let body = request.text();
    let questions = value_of(&body, "questions")
        .map(|raw| pairs(raw.get()))
        .unwrap_or_default();
    let tokens = json!({"input_tokens": body.len() / 4, "output_tokens": questions.len() * 10});
    let answers = questions
        .into_iter()
        .map(|(key, question)| (key, answer(question.get())));
    json!({"model": "scripted-1", "answers": answers.collect::<Map<_, _>>(), "usage": tokens})
}

fn answer(question: &str) -> Value {
    let criteria = value_of(question, "criteria").map_or("null", RawValue::get);
    match value_of(question, "type").map(RawValue::get) {
        Some(r#""choice""#) => {
            let names: Vec<String> = pairs(criteria).into_iter().map(|(name, _)| name).collect();
            let first = names.first().cloned();
            let probabilities = shares(names);
            json!({"type": "choice", "choice": first, "confidence": 0.6, "probabilities": probabilities})
        }
        Some(r#""score""#) => {
            let levels: Vec<Value> = serde_json::from_str(criteria).unwrap_or_default();
            let probabilities = shares((0..levels.len()).map(|level| level.to_string()).collect());
            json!({"type": "score", "score": 0, "confidence": 0.6, "probabilities": probabilities})
        }
        Some(_) | None => json!({"type": "noul", "noul": 0.8}),
    }
}

/// Most for the first, the same for each other, 1 in all.
fn shares(names: Vec<String>) -> Map<String, Value> {
    let others = u32::try_from(names.len())
        .unwrap_or(u32::MAX)
        .saturating_sub(1);
    let share = OTHERS.checked_div(others).unwrap_or(0);
    let first = 1_000_000 - share * others;
    let shares = std::iter::once(first).chain(std::iter::repeat(share));
    names
        .into_iter()
        .zip(shares)
        .map(|(name, millionths)| (name, json!(f64::from(millionths) / 1e6)))
        .collect()
}

fn value_of<'a>(json: &'a str, key: &str) -> Option<&'a RawValue> {
    pairs(json)
        .into_iter()
        .find(|(sent, _)| sent == key)
        .map(|(_, value)| value)
}

/// Keys and values in the order sent, which `serde_json::Value` does not keep; none of anything
/// but an object.
fn pairs(json: &str) -> Vec<(String, &RawValue)> {
    serde_json::from_str::<Pairs<'_>>(json)
        .map(|pairs| pairs.0)
        .unwrap_or_default()
}

struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}
