//! The expected cells of a result, computed independently of the renderer.

use refract_domain::answer::{Answer, Probability};
use refract_domain::lens::Value;
use refract_domain::prism::Question;

use crate::json_oracle::Json;
use crate::sample::Sample;

/// A cell before quoting, guarding and spacing.
pub(super) enum Cell {
    Text(String),
    Number(String),
}

impl Cell {
    pub(super) fn as_stored(&self) -> &str {
        match self {
            Self::Text(text) | Self::Number(text) => text,
        }
    }

    /// The cell's text with the single quote that guards against formulas.
    pub(super) fn guarded(&self) -> String {
        match self {
            Self::Text(text) if "=+-@\t\r".contains(text.chars().next().unwrap_or('x')) => {
                format!("'{text}")
            }
            Self::Text(text) | Self::Number(text) => text.clone(),
        }
    }

    /// The guarded text with a space for every tab and line break.
    pub(super) fn spaced(&self) -> String {
        self.guarded()
            .replace("\r\n", " ")
            .replace(['\t', '\r', '\n'], " ")
    }
}

/// The names of all columns in order (spec 4.0).
pub(super) fn header(sample: &Sample) -> Vec<&str> {
    let row = [
        "result_id",
        "ref",
        "version",
        "status",
        "error",
        "created_at",
    ];
    let fields = sample
        .latest
        .fields()
        .iter()
        .map(|field| field.key.as_str());
    let lens = sample.lens.iter().map(|column| column.name.as_str());
    row.into_iter().chain(fields).chain(lens).collect()
}

/// The expected cells of the row in order.
pub(super) fn expected_cells(sample: &Sample) -> Vec<Cell> {
    let text = |text: Option<&str>| Cell::Text(text.unwrap_or_default().to_owned());
    let moment = sample
        .view()
        .created_at
        .format("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string();
    let mut cells = vec![
        Cell::Text(sample.id.to_string()),
        text(sample.reference.as_deref()),
        Cell::Number(sample.number.get().to_string()),
        text(Some(if sample.status.answers().is_some() {
            "ok"
        } else {
            "failed"
        })),
        text(sample.status.error()),
        Cell::Text(moment),
    ];
    for field in sample.latest.fields() {
        let sent = sample
            .fields
            .as_slice()
            .iter()
            .find(|(key, _)| *key == field.key);
        cells.push(text(sent.map(|(_, value)| value.as_str())));
    }
    cells.extend(values(sample).into_iter().map(|value| match value {
        Value::Null => Cell::Text(String::new()),
        Value::Outcome { label, .. } => Cell::Text(label.to_owned()),
        Value::YesNo(label) => Cell::Text(label.label().to_owned()),
        Value::Probability(probability) => Cell::Number(decimal(probability)),
        Value::Position(position) => Cell::Number(position.to_string()),
        Value::Average(average) => Cell::Number(average.to_string()),
        Value::All {
            question,
            probabilities,
        } => Cell::Text(text_list(question, probabilities)),
    }));
    cells
}

/// Names and values of the lens columns in json and jsonl.
pub(super) fn expected_json_answers(sample: &Sample) -> Vec<(String, Json)> {
    let named = sample
        .lens
        .iter()
        .zip(values(sample))
        .map(|(column, value)| {
            let value = match value {
                Value::Null => Json::Null,
                Value::Outcome { key, .. } => Json::String(key.to_owned()),
                Value::YesNo(label) => Json::String(label.key().to_owned()),
                Value::Probability(probability) => Json::Number(decimal(probability)),
                Value::Position(position) => Json::Number(position.to_string()),
                Value::Average(average) => Json::Number(average.to_string()),
                Value::All { probabilities, .. } => Json::Object(
                    probabilities
                        .iter()
                        .map(|(key, probability)| {
                            (key.to_string(), Json::Number(decimal(*probability)))
                        })
                        .collect(),
                ),
            };
            (column.name.to_string(), value)
        });
    named.collect()
}

/// The value of each column, looked up by key.
fn values(sample: &Sample) -> Vec<Value<'_>> {
    let value = |column: &refract_domain::lens::Column| {
        let question = sample.version.question(&column.question);
        let answer: Option<&Answer> = sample
            .status
            .answers()
            .and_then(|answers| answers.get(&column.question));
        column.value(question, answer)
    };
    sample.lens.iter().map(value).collect()
}

/// A number with up to six decimals, without trailing zeros.
fn decimal(probability: Probability) -> String {
    let six = format!("{:.6}", f64::from(probability.millionths()) / 1e6);
    six.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The entries by descending probability; entries of equal probability keep their order.
fn text_list(
    question: &Question,
    probabilities: &[(refract_domain::key::OutcomeKey, Probability)],
) -> String {
    let labels = question.outcomes().map(|outcome| outcome.label);
    let mut left: Vec<_> = labels.zip(probabilities.iter().map(|(_, p)| *p)).collect();
    let mut entries = Vec::new();
    while let Some(highest) = left.iter().map(|(_, probability)| *probability).max() {
        let index = left
            .iter()
            .position(|(_, probability)| *probability == highest)
            .unwrap();
        let (label, probability) = left.remove(index);
        entries.push(format!("{label}: {}", decimal(probability)));
    }
    entries.join("; ")
}
