//! Files are checked as the program checks them.

use refract_lens_wasm::{check_lens_file, check_prism_file};
use serde_json::json;

const PRISM: &str = include_str!("../../../../docs/examples/support-triage.json");
const LENS: &str = include_str!("../../../../docs/examples/support-triage.lens.json");

#[test]
fn every_problem_of_a_prism_file_has_its_path() {
    let problems =
        |file: &str| serde_json::to_value(check_prism_file(file)).unwrap()["problems"].take();
    assert_eq!(problems(PRISM), json!([]));
    let bad = problems("{}");
    assert_eq!(bad[0], json!({"path": "name", "message": "Required"}));
    assert_eq!(bad.as_array().unwrap().len(), 3);
}

#[test]
fn a_lens_file_is_checked_against_its_prism() {
    let problems = |lens: &str, prism: &str| {
        serde_json::to_value(check_lens_file(lens, prism).unwrap()).unwrap()["problems"].take()
    };
    assert_eq!(problems(LENS, PRISM), json!([]));
    let bad = problems(&LENS.replacen("topic", "colour", 1), PRISM);
    assert_eq!(bad[0]["path"], "columns.0.question");
    let shown = LENS.replacen('{', r#"{"mode": "custom","#, 1);
    assert_eq!(problems(&shown, PRISM), json!([]));
    let refused = check_lens_file(LENS, "[]").err().unwrap().to_string();
    assert_eq!(refused, "the prism: file: Expected object, received array");
}
