//! Prints golden inputs and the bytes that `refract-lens-rendering` makes of them, as one JSON object:
//! `make check-wasm` renders the inputs in Node and in a browser, and compares.
//!
//! `cargo run -p refract-lens-wasm --example golden`

use std::error::Error;
use std::io;

use refract_authoring::{lens_file, prism_file::PrismFile};
use refract_domain::answer::{Answer, Answers, Distribution, Probability};
use refract_domain::ids::ResultId;
use refract_domain::key::OutcomeKey;
use refract_domain::prism::{PrismVersion, Question, QuestionType, VersionNumber};
use refract_domain::result::{ResultStatus, ResultView, RowColumns};
use refract_domain::submission::FieldValues;
use refract_lens_rendering::{Format, RowFormat, RowWriter, render};
use serde_json::{Value, json};

const PRISM: &str = include_str!("../../../docs/examples/support-triage.json");
const LENS: &str = include_str!("../../../docs/examples/support-triage.lens.json");

/// As many as a page of a table has.
const RESULTS: u32 = 300;

/// What spreadsheets, JSON and browsers misread.
const TEXTS: [&str; 12] = [
    "Where is my order?",
    "=SUM(A1:A9), and \"quotes\"",
    "two\r\nlines\tand a tab",
    "",
    "+49 30 1234567",
    "</script><!--",
    "'quoted",
    "naïve 漢字 \u{1f600}",
    "\u{2028}\u{2029}\u{feff}",
    "back\\slash \u{7f} \u{1}",
    " spaces ",
    "@cmd|' /C calc'!A0",
];

/// A plain generator of numbers, so that each run has the same inputs.
struct GoldenNumbers(u64);

impl GoldenNumbers {
    /// The next number below `limit`.
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(limit)).unwrap_or_default()
    }

    fn probability(&mut self) -> Probability {
        Probability::from_millionths(self.below(1_000_001)).unwrap_or_default()
    }

    fn answer(&mut self, question: &Question) -> Option<Answer> {
        let mut distribution = Distribution::new();
        for outcome in question.outcomes() {
            distribution.push((OutcomeKey::parse(outcome.key).ok()?, self.probability()));
        }
        let places = u32::try_from(distribution.len()).ok()?;
        match question.question_type() {
            QuestionType::YesNo => Some(Answer::YesNo {
                probability: self.probability(),
            }),
            QuestionType::Scale => Answer::scale(distribution),
            QuestionType::Choice => {
                // once in a while the model named no option of the prism
                let place = usize::try_from(self.below(places + 1)).ok()?;
                Some(Answer::Choice {
                    value: distribution.get(place).map(|(key, _)| key.clone()),
                    probabilities: distribution,
                    confidence: self.probability(),
                })
            }
        }
    }

    fn status(&mut self, version: &PrismVersion) -> Option<ResultStatus> {
        if self.below(10) == 0 {
            let error = "The model timed out, \"again\".".to_owned();
            return Some(ResultStatus::Failed { error });
        }
        let questions = version.questions().iter();
        let answers =
            questions.map(|question| Some((question.key.clone(), self.answer(question)?)));
        Some(ResultStatus::Ok(Answers::new(
            answers.collect::<Option<_>>()?,
        )))
    }
}

/// A result with its field values.
struct Golden {
    id: ResultId,
    reference: Option<String>,
    number: VersionNumber,
    status: ResultStatus,
    fields: FieldValues,
}

impl Golden {
    fn view<'a>(&'a self, version: &'a PrismVersion) -> ResultView<'a> {
        ResultView {
            id: self.id,
            reference: self.reference.as_deref(),
            prism: "support-triage",
            version: self.number,
            questions: version.questions(),
            status: &self.status,
            took_ms: 412,
            created_at: self.id.moment(),
            fields: &self.fields,
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let latest = PrismFile::read(PRISM.as_bytes(), None)?.version;
    // the first version had one question less
    let (_, fewer) = latest.questions().split_last().ok_or("no question")?;
    let first = PrismVersion::new(latest.fields().to_vec(), None, fewer.to_vec());
    let mut numbers = GoldenNumbers(7);
    let mut results = Vec::new();
    for index in 0..RESULTS {
        let is_first = numbers.below(3) == 0;
        let version = if is_first { &first } else { &latest };
        let text = TEXTS
            .get(usize::try_from(numbers.below(12))?)
            .ok_or("no text")?;
        let fields = latest
            .fields()
            .iter()
            .map(|field| (field.key.clone(), (*text).to_owned()));
        results.push(Golden {
            id: ResultId::parse(&format!("0190b8f2-{index:04x}-7000-8000-0000000000aa"))
                .ok_or("no id")?,
            reference: (index % 3 > 0).then(|| format!("order {index}")),
            number: VersionNumber::new(if is_first { 1 } else { 2 }).ok_or("no number")?,
            status: numbers.status(version).ok_or("no answers")?,
            fields: FieldValues::new(fields.collect()),
        });
    }
    let views: Vec<_> = results
        .iter()
        .map(|result| {
            result.view(if result.number == VersionNumber::FIRST {
                &first
            } else {
                &latest
            })
        })
        .collect();
    serde_json::to_writer(io::stdout().lock(), &golden(&latest, &first, &views)?)?;
    Ok(())
}

fn golden(
    latest: &PrismVersion,
    first: &PrismVersion,
    views: &[ResultView<'_>],
) -> Result<Value, Box<dyn Error>> {
    let lens = lens_file::read(LENS.as_bytes(), latest)?;
    let columns = RowColumns {
        fields: latest.fields(),
        lens: &lens,
    };
    let mut inputs = Vec::new();
    let mut envelopes = Vec::new();
    for view in views {
        let [json, raw] = [Format::Json, Format::Raw].map(|format| {
            let mut out = Vec::new();
            render(format, &columns, view, &mut out)
                .map(|()| String::from_utf8_lossy(&out).into_owned())
        });
        let (json, raw) = (json?, raw?);
        let fields = serde_json::to_string(view.fields)?;
        inputs.push(raw.replacen('{', &format!(r#"{{"fields":{fields},"#), 1));
        envelopes.push(json!({ "json": json, "raw": raw }));
    }
    let mut rows = json!({});
    for (name, format) in [
        ("csv", RowFormat::Csv),
        ("tsv", RowFormat::Tsv),
        ("jsonl", RowFormat::Jsonl),
    ] {
        let mut writer = RowWriter::new(format, columns, Vec::new());
        writer.write_header()?;
        views.iter().try_for_each(|view| writer.write_row(view))?;
        rows.as_object_mut()
            .ok_or("no object")?
            .insert(name.to_owned(), String::from_utf8(writer.finish()?)?.into());
    }
    let file = |version: &PrismVersion| {
        serde_json::to_string(version)
            .map(|json| json.replacen('{', r#"{"name":"Support triage","#, 1))
    };
    Ok(json!({
        "results": inputs,
        "versions": format!(r#"{{"1":{},"2":{}}}"#, file(first)?, file(latest)?),
        "lens": LENS,
        "rows": rows,
        "envelopes": envelopes,
    }))
}
