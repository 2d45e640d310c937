//! The same inputs give the same bytes as `refract-lens-rendering`.

use proptest::prelude::*;
use refract_authoring::lens_file;
use refract_domain::lens::Lens;
use refract_domain::prism::{PrismVersion, QuestionKind, VersionNumber};
use refract_lens_rendering::{Format, RowFormat, RowWriter};
use refract_lens_wasm::StoredResults;
use serde_json::Value;

use crate::any_sample::any_sample;
use crate::sample::{Sample, sample};
use crate::{read, result_of};

/// The version with labels that a prism file may have.
fn with_file_labels(version: &PrismVersion) -> PrismVersion {
    let mut questions = version.questions().to_vec();
    for question in &mut questions {
        let outcomes = match &mut question.kind {
            QuestionKind::Choice { options } => options,
            QuestionKind::YesNo => continue,
            QuestionKind::Scale { levels } => levels,
        };
        for outcome in outcomes {
            let trimmed = outcome.label.trim();
            outcome.label = if trimmed.is_empty() { "-" } else { trimmed }.to_owned();
        }
    }
    PrismVersion::new(version.fields().to_vec(), None, questions)
}

/// One to five results of versions of their own, under one latest version and its lens.
fn any_samples() -> impl Strategy<Value = Vec<Sample>> {
    prop::collection::vec(any_sample(), 1..=5).prop_map(|mut samples| {
        let latest = with_file_labels(&samples[0].latest);
        let mut lens = samples[0].lens.clone();
        lens.retain(|column| {
            let question = latest.question(&column.question);
            question.is_some_and(|it| it.question_type() == column.output.question_type())
        });
        if lens.is_empty() {
            lens = latest.columns(&Lens::Automatic).to_vec();
        }
        for (number, sample) in (1..).zip(&mut samples) {
            sample.number = VersionNumber::new(number).unwrap();
            sample.version = with_file_labels(&sample.version);
            sample.latest = latest.clone();
            sample.lens.clone_from(&lens);
        }
        samples
    })
}

/// The versions that the samples name, and the latest one, as JavaScript passes them.
fn versions(samples: &[Sample]) -> String {
    let file = |version: &PrismVersion| {
        let json = serde_json::to_string(version).unwrap();
        json.replacen('{', r#"{"name":"Triage","#, 1)
    };
    let answered = samples
        .iter()
        .map(|sample| (sample.number, &sample.version));
    let latest = samples.last().unwrap().number.next().unwrap();
    let all = answered.chain([(latest, &samples[0].latest)]);
    let files: Vec<_> = all
        .map(|(number, version)| format!(r#""{number}":{}"#, file(version)))
        .collect();
    format!("{{{}}}", files.join(","))
}

fn rows(samples: &[Sample], format: RowFormat) -> Vec<u8> {
    let mut rows = RowWriter::new(format, samples[0].columns(), Vec::new());
    rows.write_header().unwrap();
    for sample in samples {
        rows.write_row(&sample.view()).unwrap();
    }
    rows.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(700))]

    #[test]
    fn results_have_the_bytes_of_the_renderer(samples in any_samples()) {
        let results: Vec<_> = samples.iter().map(result_of).collect();
        let lens = String::from_utf8(lens_file::write(&samples[0].lens)).unwrap();
        let list = format!("[{}]", results.join(","));
        let versions = versions(&samples);
        let stored = StoredResults::read(&list, &versions).unwrap();
        for (name, format) in [("csv", RowFormat::Csv), ("tsv", RowFormat::Tsv), ("jsonl", RowFormat::Jsonl)] {
            let rendered = stored.render(name, Some(&lens)).unwrap();
            prop_assert_eq!(&rendered, &rows(&samples, format), "{}", name);
        }
        let one = StoredResults::read(&results[0], &versions).unwrap();
        for format in [Format::Json, Format::Raw] {
            let rendered = one.render(format.name(), Some(&lens)).unwrap();
            prop_assert_eq!(String::from_utf8(rendered).unwrap(), samples[0].render(format));
        }
        // a list that another program has read and written, with its keys in another order
        let sorted = serde_json::from_str::<Value>(&list).unwrap().to_string();
        let again = StoredResults::read(&sorted, &versions).unwrap();
        prop_assert_eq!(again.render("csv", Some(&lens)).unwrap(), rows(&samples, RowFormat::Csv));
    }
}

#[test]
fn without_a_lens_the_columns_are_the_automatic_ones() {
    let sample = sample();
    let stored = read(&sample).unwrap();
    let automatic = sample.render(Format::Csv).into_bytes();
    assert_eq!(stored.render("csv", None).unwrap(), automatic);
    let mode = r#"{"mode": "automatic"}"#;
    assert_eq!(stored.render("csv", Some(mode)).unwrap(), automatic);
}

#[test]
fn a_lens_is_read_as_its_file_and_as_it_is_shown() {
    let sample = sample();
    let stored = read(&sample).unwrap();
    let columns = r#""columns": [{"question": "angry", "output": "probability"}]"#;
    let file = stored
        .render("jsonl", Some(&format!("{{{columns}}}")))
        .unwrap();
    let shown = stored
        .render(
            "jsonl",
            Some(&format!(r#"{{"mode": "custom", {columns}}}"#)),
        )
        .unwrap();
    assert_eq!(file, shown);
    assert!(
        String::from_utf8(file)
            .unwrap()
            .ends_with("\"angry_probability\":0.45}\n")
    );
}

#[test]
fn results_may_stand_one_after_another() {
    let sample = sample();
    let versions = crate::versions_of(&sample);
    let lines = format!(
        "{}\n{}\n",
        result_of(&sample),
        result_of(&sample.clone().failed("gone"))
    );
    let stored = StoredResults::read(&lines, &versions).unwrap();
    let rendered = String::from_utf8(stored.render("tsv", None).unwrap()).unwrap();
    assert_eq!(rendered.lines().count(), 3);
    assert!(rendered.contains("\tfailed\tgone\t"));
    let none = StoredResults::read("", &versions).unwrap();
    assert_eq!(none.render("jsonl", None).unwrap(), b"");
}
