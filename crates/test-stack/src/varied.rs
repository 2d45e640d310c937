//! A prism with two versions, and results that vary in every column of a row.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use refract_test_support::model_server::{Script, ScriptedReply};
use serde_json::{Value, json};

use crate::http::{HttpConnection, Request};
use crate::service::{Backend, PRISM, Service, Setup, example_prism, text};

/// Texts that a spreadsheet or a CSV reader could misread.
const AWKWARD: [&str; 16] = [
    "",
    "Where is my order?",
    "=HYPERLINK(\"http://evil.example\",\"click\")",
    "+49 30 1234567",
    "-1+1",
    "@SUM(A1:A9)",
    "\ttab first",
    "\rreturn first",
    "a, b; c\td",
    "she said \"no\"",
    "two\r\nlines\nand\rmore",
    "Füße, 漢字, עברית, 🚲🚲",
    "'quoted already",
    "\u{feff}mark first",
    "0042",
    "back\\slash \u{1} \u{7f} \u{2028}",
];

/// A service with a model whose answers depend on the text and are sometimes missing.
pub async fn varied_service(backend: Backend) -> Service {
    let setup = Setup {
        script: Script::from(ScriptedReply::with(|request| reply(&request.json()))).unrecorded(),
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let mut second = example_prism();
    second["fields"]
        .as_array_mut()
        .unwrap()
        .push(json!({"key": "sender", "label": "Sender"}));
    let options = second["questions"][0]["options"].as_array_mut().unwrap();
    options[0]["label"] = json!("=Billing, \"and\" more");
    options.push(json!({"key": "spare_parts", "label": "-Spare; parts"}));
    second["questions"]
        .as_array_mut()
        .unwrap()
        .push(json!({"key": "german", "type": "yes_no", "text": "Is it German?"}));
    let file = service.file("second.json", &second);
    service.run(&["prism", "save", PRISM, &file]).await.done();
    let file = service.file("lens.json", &every_output());
    service.run(&["lens", "set", PRISM, &file]).await.done();
    service
}

/// A lens with every output, in which one question has two label columns with different cutoffs.
fn every_output() -> Value {
    let column = |question, output| json!({"question": question, "output": output});
    json!({"columns": [
        column("topic", "top"), column("topic", "probability"), column("topic", "all"),
        column("angry", "label"), column("angry", "probability"),
        json!({"name": "is_angry", "question": "angry", "output": "label", "no_below": 0.3, "yes_from": 0.7}),
        column("urgency", "level"), column("urgency", "number"), column("urgency", "average"),
        column("urgency", "probability"), column("urgency", "all"),
        column("german", "label"),
    ]})
}

/// Makes `count` results and returns their ids, the oldest first.
pub async fn make_results(service: &Service, count: usize) -> Vec<String> {
    let mut connection = HttpConnection::open(service.api()).await;
    let mut ids = Vec::new();
    for number in 0..count {
        let message = format!(
            "{}{}",
            AWKWARD[number % AWKWARD.len()],
            number / AWKWARD.len()
        );
        let mut body = json!({"fields": {"text": message}, "version": 1});
        if number % 3 > 0 {
            let sender = AWKWARD[(number * 7 + 3) % AWKWARD.len()];
            body = json!({"fields": {"sender": sender, "text": message}, "context": "never shown"});
        }
        if number.is_multiple_of(4) {
            body["ref"] = json!(format!(
                "r{number} {}x",
                AWKWARD[(number / 4) % AWKWARD.len()]
            ));
        }
        let answer = connection.call(&service.create_request(PRISM, &body)).await;
        assert!(matches!(answer.status, 200 | 502), "{answer:?}");
        ids.push(text(&answer.value(), "id"));
    }
    ids
}

/// Reads each result in a format through the API.
pub async fn read_all(service: &Service, ids: &[String], format: &str) -> Vec<String> {
    let mut connection = HttpConnection::open(service.api()).await;
    let mut bodies = Vec::new();
    for id in ids {
        let request = Request::get(&format!("/results/{id}?format={format}")).bearer(&service.key);
        let answer = connection.call(&request).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        bodies.push(answer.body);
    }
    bodies
}

/// Answers computed from a hash of the request: any probability, unknown options, missing answers.
fn reply(request: &Value) -> Value {
    let questions = request["questions"].as_object().unwrap();
    let mut answers = serde_json::Map::new();
    for (key, question) in questions {
        let mut hasher = DefaultHasher::new();
        (request["state"].to_string(), key).hash(&mut hasher);
        let dice = hasher.finish();
        if dice.is_multiple_of(40) {
            continue;
        }
        answers.insert(key.clone(), answer(question, dice));
    }
    json!({"model": "varied-1", "answers": answers, "usage": {"input_tokens": 7, "output_tokens": 3}})
}

fn answer(question: &Value, dice: u64) -> Value {
    let share = f64::from(u32::try_from(dice % 1_000_001).unwrap()) / 1e6;
    let rest = |outcomes: usize| (1.0 - share) / f64::from(u32::try_from(outcomes - 1).unwrap());
    let drawn = |outcomes: usize| usize::try_from(dice >> 32).unwrap() % outcomes;
    let shares = |keys: Vec<String>| {
        let (chosen, rest) = (drawn(keys.len()), rest(keys.len()));
        let shares = keys.into_iter().enumerate();
        let shares = shares.map(|(at, key)| (key, json!(if at == chosen { share } else { rest })));
        Value::Object(shares.collect())
    };
    let criteria = &question["criteria"];
    if let Some(options) = criteria.as_object() {
        let chosen = options.keys().nth(drawn(options.len())).unwrap();
        let is_unknown = dice.is_multiple_of(11);
        let named = if is_unknown { "unheard_of" } else { chosen };
        let probabilities = shares(options.keys().cloned().collect());
        return json!({"type": "choice", "choice": named, "confidence": share, "probabilities": probabilities});
    }
    if let Some(levels) = criteria.as_array() {
        let probabilities = shares((0..levels.len()).map(|level| level.to_string()).collect());
        return json!({"type": "score", "score": 1.0, "confidence": share, "probabilities": probabilities});
    }
    json!({"type": "noul", "noul": share})
}
