//! Generated results of one prism, under a lens with every output.

use chrono::{DateTime, Utc};
use refract_domain::answer::{Answer, Answers, Distribution, Probability};
use refract_domain::ids::ResultId;
use refract_domain::lens::Column;
use refract_domain::prism::{PrismVersion, Question, QuestionType, VersionNumber};
use refract_domain::result::{ResultStatus, ResultView, RowColumns};
use refract_domain::submission::FieldValues;
use refract_lens_rendering::{Format, RowFormat, RowWriter, render};
use serde_json::json;

/// Results and their 20 columns: 6 that every row has, 1 field and 13 of the lens.
pub(crate) struct Download {
    version: PrismVersion,
    lens: Vec<Column>,
    results: Vec<Saved>,
    /// The number of times that the download repeats the results.
    times: usize,
}

struct Saved {
    id: ResultId,
    reference: String,
    status: ResultStatus,
    created_at: DateTime<Utc>,
    fields: FieldValues,
}

impl Download {
    pub(crate) fn new(results: usize, times: usize) -> Self {
        let version = version();
        let mut dice = Dice(1);
        let results = (0..results)
            .map(|row| Saved::new(row, &version, &mut dice))
            .collect();
        Self {
            version,
            lens: lens(),
            results,
            times,
        }
    }

    /// Renders one result, as the API does.
    pub(crate) fn render_first(&self, format: Format, out: &mut Vec<u8>) {
        let first = self.view(&self.results[0]);
        render(format, &self.columns(), &first, out).unwrap();
    }

    /// Renders every result under one header.
    pub(crate) fn render_all(&self, format: RowFormat, out: &mut Vec<u8>) {
        let mut rows = RowWriter::new(format, self.columns(), out);
        rows.write_header().unwrap();
        for _ in 0..self.times {
            for result in &self.results {
                rows.write_row(&self.view(result)).unwrap();
            }
        }
        rows.finish().unwrap();
    }

    fn columns(&self) -> RowColumns<'_> {
        RowColumns {
            fields: self.version.fields(),
            lens: &self.lens,
        }
    }

    fn view<'a>(&'a self, result: &'a Saved) -> ResultView<'a> {
        ResultView {
            id: result.id,
            reference: Some(&result.reference),
            prism: "support-triage",
            version: VersionNumber::FIRST,
            questions: self.version.questions(),
            status: &result.status,
            took_ms: 412,
            created_at: result.created_at,
            fields: &result.fields,
        }
    }
}

impl Saved {
    fn new(row: usize, version: &PrismVersion, dice: &mut Dice) -> Self {
        let texts = [
            "Where is my order? It was to arrive on Monday and nobody answers the telephone.",
            "You charged me twice, once on the 3rd and once on the 5th. I want \"my\" money back!",
            "Hello,\r\n\r\nthe front wheel rattles since the last service.\r\nWhat should I do?",
            "How do I change the address of a parcel that is under way already",
        ];
        let text = texts[row % texts.len()];
        let answers = version.questions().iter();
        let answers = answers.map(|question| (question.key.clone(), answer(question, dice)));
        Self {
            id: ResultId::parse(&format!("0190b8f2-0000-7000-8000-{row:012x}")).unwrap(),
            reference: format!("order-{row:06}"),
            status: ResultStatus::Ok(Answers::new(answers.collect())),
            created_at: "2026-05-04T09:08:07.065Z".parse().unwrap(),
            fields: serde_json::from_value(json!({ "text": text })).unwrap(),
        }
    }
}

fn answer(question: &Question, dice: &mut Dice) -> Answer {
    let outcomes = question.outcomes();
    let probabilities: Distribution = outcomes
        .map(|outcome| {
            (
                serde_json::from_value(json!(outcome.key)).unwrap(),
                dice.probability(),
            )
        })
        .collect();
    match question.question_type() {
        QuestionType::Choice => Answer::Choice {
            value: probabilities.first().map(|(key, _)| key.clone()),
            probabilities,
            confidence: dice.probability(),
        },
        QuestionType::YesNo => Answer::YesNo {
            probability: dice.probability(),
        },
        QuestionType::Scale => Answer::scale(probabilities).unwrap(),
    }
}

/// Pseudo-random numbers with a fixed seed, so that all runs measure the same input.
struct Dice(u64);

impl Dice {
    /// A probability of at least 0.001: `serde_json` writes smaller ones with an exponent.
    fn probability(&mut self) -> Probability {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let millionths = 1_000 + (self.0 >> 33) % 999_000;
        Probability::from_millionths(millionths.try_into().unwrap()).unwrap()
    }
}

fn version() -> PrismVersion {
    let outcomes = |labels: &[&str]| -> Vec<_> {
        let keyed = labels
            .iter()
            .map(|label| json!({ "key": label.to_lowercase().replace(' ', "_"), "label": label }));
        keyed.collect()
    };
    let topics = outcomes(&["Billing", "Delivery", "Repair", "Praise"]);
    let products = outcomes(&["City bicycle", "Racing bicycle", "Spare part"]);
    let levels = outcomes(&["Can wait", "This week", "Today", "At once"]);
    let moods = outcomes(&["Furious", "Annoyed", "Neutral", "Content", "Happy"]);
    let version = json!({
        "fields": [{ "key": "text", "label": "Message" }],
        "questions": [
            { "key": "topic", "type": "choice", "text": "What is it about?", "options": topics },
            { "key": "product", "type": "choice", "text": "Which product?", "options": products },
            { "key": "angry", "type": "yes_no", "text": "Is the writer angry?" },
            { "key": "refund", "type": "yes_no", "text": "Is a refund asked for?" },
            { "key": "urgency", "type": "scale", "text": "How urgent is it?", "levels": levels },
            { "key": "mood", "type": "scale", "text": "How does it sound?", "levels": moods },
        ],
    });
    serde_json::from_value(version).unwrap()
}

fn lens() -> Vec<Column> {
    let columns = [
        ("topic", "topic", "choice", "top"),
        ("topic_probability", "topic", "choice", "probability"),
        ("topic_all", "topic", "choice", "all"),
        ("product", "product", "choice", "top"),
        ("angry", "angry", "yes_no", "label"),
        ("angry_probability", "angry", "yes_no", "probability"),
        ("refund", "refund", "yes_no", "label"),
        ("urgency", "urgency", "scale", "level"),
        ("urgency_number", "urgency", "scale", "number"),
        ("urgency_average", "urgency", "scale", "average"),
        ("urgency_probability", "urgency", "scale", "probability"),
        ("urgency_all", "urgency", "scale", "all"),
        ("mood", "mood", "scale", "level"),
    ];
    let read = |(name, question, question_type, output): (&str, &str, &str, &str)| {
        let column =
            json!({ "name": name, "question": question, "type": question_type, "output": output });
        serde_json::from_value(column).unwrap()
    };
    columns.into_iter().map(read).collect()
}
