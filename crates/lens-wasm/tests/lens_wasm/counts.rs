//! Previews, histograms and cutoffs count the answered results.

use refract_lens_wasm::StoredResults;
use serde_json::{Value, json};

use crate::sample::sample;
use crate::{result_of, versions_of};

const LENS: &str = r#"{"columns": [
    {"question": "angry", "output": "label", "no_below": 0.4, "yes_from": 0.6},
    {"question": "topic", "output": "top"}
]}"#;

/// Five answered results with these probabilities, and a failed one.
fn stored() -> StoredResults {
    let sample = sample();
    let answered = [0.1, 0.399_999, 0.4, 0.45, 0.6].map(|probability| {
        let answer = json!({"type": "yes_no", "probability": probability});
        result_of(&sample.clone().with_answer("angry", answer))
    });
    let failed = result_of(&sample.clone().failed("The model timed out."));
    StoredResults::read(
        &format!("{}\n{failed}", answered.join("\n")),
        &versions_of(&sample),
    )
    .unwrap()
}

#[test]
fn a_preview_counts_the_cells_that_change() {
    let draft = LENS.replace("0.4", "0.42").replace(
        r#""question": "topic", "output": "top""#,
        r#""question": "urgency", "output": "average""#,
    );
    let preview = stored().preview(Some(LENS), Some(&draft)).unwrap();
    let preview = serde_json::to_value(preview).unwrap();
    assert_eq!(preview["results"], 5);
    assert_eq!(preview["cells"], 5);
    assert_eq!(
        (&preview["changed"], &preview["changed_results"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(preview["dropped"], json!(["topic"]));
    let angry = &preview["columns"][0];
    assert_eq!(angry["name"], "angry");
    let cells = |tally: &Value| {
        tally["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["cells"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(cells(&angry["before"]), [1, 2, 2]);
    assert_eq!(cells(&angry["after"]), [1, 1, 3]);
    assert_eq!(preview["columns"][1]["changed"], Value::Null);
}

#[test]
fn a_histogram_has_a_bin_for_each_percent() {
    let bins = stored().histogram("angry").unwrap();
    assert_eq!(bins.len(), 101);
    assert_eq!(bins.iter().sum::<u32>(), 5);
    assert_eq!(
        (bins[10], bins[39], bins[40], bins[45], bins[60]),
        (1, 1, 1, 1, 1)
    );
    for other in ["topic", "happy", "No key"] {
        let refused = stored().histogram(other).unwrap_err().to_string();
        assert_eq!(
            refused,
            "the question must be one that reads a Yes / No question"
        );
    }
}

#[test]
fn cutoffs_count_what_each_percent_would_answer() {
    let counted = stored().cutoffs(Some(LENS), "angry").unwrap();
    let counted = serde_json::to_value(counted).unwrap();
    assert_eq!(counted["now"], json!({"yes": 1, "unsure": 2, "no": 2}));
    assert_eq!(
        (&counted["no_below"], &counted["yes_from"]),
        (&json!(0.4), &json!(0.6))
    );
    assert_eq!(
        counted["steps"][40],
        json!({"percent": 40, "results": 1, "no": 2, "yes": 3})
    );
    assert!(stored().cutoffs(Some(LENS), "topic").is_err());
    assert!(stored().cutoffs(None, "happy").is_err());
}
