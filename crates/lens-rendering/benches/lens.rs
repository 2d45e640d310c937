//! Reads a lens file of 300 columns, the largest allowed, and applies the lens to a result.
#![expect(
    clippy::unwrap_used,
    reason = "a bench that cannot run fails where it stands"
)]

use std::hint::black_box;

use criterion::Criterion;
use refract_authoring::lens_file;
use refract_domain::answer::Answers;
use refract_domain::ids::ResultId;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::result::{ResultStatus, ResultView};
use refract_domain::submission::FieldValues;
use serde_json::json;

/// Questions of the prism, the largest number allowed.
const QUESTIONS: usize = 100;
/// Outputs of each question, which make 300 columns.
const OUTPUTS: [&str; 3] = ["level", "average", "all"];

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    parse_and_apply(&mut criterion);
    criterion.final_summary();
}

fn parse_and_apply(criterion: &mut Criterion) {
    let version = version();
    let status = ResultStatus::Ok(answers());
    let fields: FieldValues = serde_json::from_value(json!({ "text": "" })).unwrap();
    let result = ResultView {
        id: ResultId::parse("0190b8f2-0000-7000-8000-0000000000aa").unwrap(),
        reference: None,
        prism: "wide",
        version: VersionNumber::FIRST,
        questions: version.questions(),
        status: &status,
        took_ms: 412,
        created_at: "2026-05-04T09:08:07.065Z".parse().unwrap(),
        fields: &fields,
    };
    let mut group = criterion.benchmark_group("lens of 300 columns");
    for (order, file) in [
        ("in order", lens_file(|index| index)),
        ("shuffled", lens_file(shuffled)),
    ] {
        group.bench_function(format!("parse, {order}"), |bencher| {
            bencher.iter(|| lens_file::read(black_box(&file), &version).unwrap());
        });
        let lens = lens_file::read(&file, &version).unwrap();
        group.bench_function(format!("apply, {order}"), |bencher| {
            bencher.iter(|| {
                for value in result.values(black_box(&lens)) {
                    black_box(value);
                }
            });
        });
    }
}

/// Moves neighbours far apart, so that the search for a column's question starts far away.
fn shuffled(index: usize) -> usize {
    index * 37 % QUESTIONS
}

fn version() -> PrismVersion {
    let levels: Vec<_> = (1..=5)
        .map(|n| json!({ "key": format!("l{n}"), "label": format!("Level {n}") }))
        .collect();
    let question = |index| json!({ "key": format!("question_{index}"), "type": "scale", "text": "?", "levels": levels });
    let questions: Vec<_> = (0..QUESTIONS).map(question).collect();
    let fields = [json!({ "key": "text", "label": "Text" })];
    serde_json::from_value(json!({ "fields": fields, "questions": questions })).unwrap()
}

fn answers() -> Answers {
    let answer = r#"{"type":"scale","level":"l4","probabilities":{"l1":0.1,"l2":0.1,"l3":0.2,"l4":0.4,"l5":0.2}}"#;
    let entries: Vec<_> = (0..QUESTIONS)
        .map(|index| format!("\"question_{index}\":{answer}"))
        .collect();
    serde_json::from_str(&format!("{{{}}}", entries.join(","))).unwrap()
}

fn lens_file(place: impl Fn(usize) -> usize) -> Vec<u8> {
    let questions = (0..QUESTIONS).map(place);
    let columns: Vec<_> = questions
        .flat_map(|question| {
            OUTPUTS.map(|output| {
                json!({ "name": format!("c_{question}_{output}"),
                    "question": format!("question_{question}"), "output": output })
            })
        })
        .collect();
    serde_json::to_vec(&json!({ "columns": columns })).unwrap()
}
