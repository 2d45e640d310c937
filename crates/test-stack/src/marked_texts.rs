//! Texts that contain the scripted model's answers, with the correct outcomes as marks.

use refract_test_support::model_server::ScriptedReply;
use serde_json::{Map, Value, json};

use crate::service::{PRISM, Service};

/// The outcomes of the example prism's question `topic`.
pub const TOPICS: [&str; 5] = [
    "billing",
    "delivery",
    "product",
    "other",
    "insufficient_information",
];
/// The levels of the example prism's question `urgency`.
pub const LEVELS: [&str; 3] = ["can_wait", "this_week", "today"];

/// The answers to one text, in whole percents, and the correct outcomes.
#[derive(Clone, Copy, Debug)]
pub struct MarkedText {
    /// The index of the chosen topic.
    pub topic: usize,
    /// Probability of `topic`; the other outcomes share the rest evenly.
    pub topic_percent: u32,
    /// Probability of yes to `angry`.
    pub angry_percent: u32,
    /// The index of the chosen level.
    pub level: usize,
    /// Probability of `level`; the other levels share the rest evenly.
    pub level_percent: u32,
    /// The index of the right topic.
    pub marked_topic: usize,
    /// Whether yes is right.
    pub is_angry: bool,
    /// The index of the right level.
    pub marked_level: usize,
}

/// Pseudo-random texts, the same in every run; the more probable an answer, the more often it is
/// right.
pub fn marked_texts(count: usize) -> Vec<MarkedText> {
    let mut state = 17_u64;
    let mut below = |limit: u64| {
        // the multiplier and increment of Knuth's MMIX
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % limit).unwrap()
    };
    let text = |_| {
        let (topic, level) = (below(5), below(3));
        let (topic_percent, level_percent) = (40 + below(60), 40 + below(60));
        let angry_percent = below(101);
        let index = |number| usize::try_from(number).unwrap();
        MarkedText {
            topic: index(topic),
            topic_percent,
            angry_percent,
            level: index(level),
            level_percent,
            marked_topic: index(if below(100) < topic_percent {
                topic
            } else {
                below(5)
            }),
            is_angry: below(100) < angry_percent,
            marked_level: index(if below(100) < level_percent {
                level
            } else {
                below(3)
            }),
        }
    };
    (0..count).map(text).collect()
}

impl MarkedText {
    /// The answers as a System One server gives them.
    pub fn answers(&self) -> Value {
        let shares = |keys: &[&str], chosen: usize, percent: u32| -> Map<String, Value> {
            let others = f64::from(100 - percent) / 100.0 / (number(keys.len()) - 1.0);
            let keys = keys.iter().enumerate();
            let share = |index| {
                if index == chosen {
                    f64::from(percent) / 100.0
                } else {
                    others
                }
            };
            keys.map(|(index, key)| ((*key).to_owned(), json!(share(index))))
                .collect()
        };
        json!({
            "topic": {"type": "choice", "choice": TOPICS[self.topic], "confidence": 0.5,
                "probabilities": shares(&TOPICS, self.topic, self.topic_percent)},
            "angry": {"type": "noul", "noul": f64::from(self.angry_percent) / 100.0},
            "urgency": {"type": "score", "score": 0,
                "probabilities": shares(&["0", "1", "2"], self.level, self.level_percent)},
        })
    }

    /// A row of a file: the text with its marks.
    pub fn row(&self, reference: &str) -> Value {
        json!({
            "ref": reference,
            "text": json!({"a": self.answers()}).to_string(),
            "expected_topic": TOPICS[self.marked_topic],
            "expected_angry": if self.is_angry { "yes" } else { "no" },
            "expected_urgency": LEVELS[self.marked_level],
        })
    }
}

/// The reply of a model with this name: the answers that the text contains under the key `side`.
pub fn scripted_side(model: &'static str, side: &'static str) -> ScriptedReply {
    ScriptedReply::with(move |request| {
        let text = request.json()["state"]["text"].clone();
        let scripted_side: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        json!({"model": model, "answers": scripted_side[side]})
    })
}

impl Service {
    /// Asks the example prism about rows, one after the other, and returns the results' ids.
    pub async fn ask_rows(&self, name: &str, rows: &[Value]) -> Vec<String> {
        self.write("rows.jsonl", json_lines(rows));
        let run = ["--format", "jsonl", "--name", name, "--concurrency", "1"];
        let ended = self.run_file("rows.jsonl", &run).await;
        let rows = ended.lines();
        rows.iter()
            .map(|row| row["result_id"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Asks about texts and marks the results; the first has the `ref` `t0`.
    pub async fn ask_and_mark(&self, texts: &[MarkedText]) -> Vec<String> {
        self.model.then_always(scripted_side("m1", "a"));
        let numbered = texts.iter().enumerate();
        let rows: Vec<_> = numbered
            .map(|(number, text)| text.row(&format!("t{number}")))
            .collect();
        let ids = self.ask_rows("marked", &rows).await;
        let import = ["marks", "import", PRISM, "rows.jsonl"];
        self.run(&import).await.done();
        ids
    }

    /// The objects printed by `evaluate --json` with these further arguments.
    pub async fn evaluated(&self, arguments: &[&str]) -> Vec<Value> {
        let mut all = vec!["evaluate", PRISM, "--json"];
        all.extend_from_slice(arguments);
        self.run(&all).await.lines()
    }
}

/// The values as lines of JSON.
pub fn json_lines(values: &[Value]) -> String {
    let lines: Vec<_> = values.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

/// A count as a double.
pub fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// Fails if two numbers differ.
#[track_caller]
pub fn assert_close(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found}"));
    assert!(
        (found - expected).abs() < 1e-9,
        "{found} instead of {expected}"
    );
}
