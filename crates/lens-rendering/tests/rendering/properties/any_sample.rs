//! Arbitrary results of arbitrary prisms: awkward texts, versions that differ, columns without a
//! question.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use refract_domain::answer::{Answer, Answers, Distribution, Probability};
use refract_domain::ids::ResultId;
use refract_domain::lens::{Column, Cutoffs, Output};
use refract_domain::prism::{PrismVersion, Question, QuestionType, VersionNumber};
use refract_domain::result::ResultStatus;
use refract_domain::submission::FieldValues;
use serde_json::{Value, json};

use crate::sample::{Sample, read};

/// The most awkward texts that people and spreadsheets write, without NUL.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "=",
        "+",
        "-",
        "@",
        "\t",
        "\r",
        "\n",
        "\r\n",
        ",",
        ";",
        "\"",
        "\"\"",
        "'",
        "\\",
        "/",
        " ",
        "a",
        "word",
        "1.5",
        "\u{1}",
        "\u{7f}",
        "\u{b}",
        "\u{c}",
        "\u{85}",
        "\u{2028}",
        "\u{2029}",
        "\u{feff}",
        "é",
        "\u{1f600}",
        "</script>",
    ]);
    prop_oneof![
        6 => prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat()),
        2 => "[^\\x00]{0,20}",
        1 => ("[=a\"\n]", 1_000..20_000_usize).prop_map(|(piece, times)| piece.repeat(times)),
    ]
}

fn any_label() -> impl Strategy<Value = String> {
    any_text().prop_map(|text| text.chars().take(200).collect())
}

fn any_probability() -> impl Strategy<Value = Probability> {
    let millionths = prop_oneof![
        select(vec![
            0, 1, 10, 250_000, 333_333, 500_000, 999_999, 1_000_000
        ]),
        0..=1_000_000_u32,
    ];
    millionths.prop_map(|millionths| Probability::from_millionths(millionths).unwrap())
}

/// A question of any type with a key `q1`, `q2`, …, in its saved form.
fn any_question(key: String) -> impl Strategy<Value = Value> {
    let labels = prop::collection::vec(any_label(), 2..6);
    (select(QuestionType::NAMES.to_vec()), labels).prop_map(move |(question_type, labels)| {
        let outcomes: Vec<_> = labels
            .iter()
            .enumerate()
            .map(|(index, label)| json!({ "key": format!("o{index}"), "label": label }))
            .collect();
        let mut question = json!({ "key": key, "type": question_type, "text": "?" });
        match question_type {
            "choice" => question["options"] = outcomes.into(),
            "scale" => question["levels"] = outcomes.into(),
            _ => {}
        }
        question
    })
}

fn any_version() -> impl Strategy<Value = PrismVersion> {
    let fields = subsequence(vec!["text", "subject", "language", "country"], 1..=4);
    let questions = subsequence(vec!["q1", "q2", "q3", "q4"], 1..=4).prop_shuffle();
    let questions = questions.prop_flat_map(|keys| {
        keys.into_iter()
            .map(|key| any_question(key.to_owned()))
            .collect::<Vec<_>>()
    });
    (fields.prop_shuffle(), questions).prop_map(|(fields, questions)| {
        let fields: Vec<_> = fields
            .iter()
            .map(|key| json!({ "key": key, "label": "Label" }))
            .collect();
        read(json!({ "fields": fields, "questions": questions }))
    })
}

fn any_output() -> impl Strategy<Value = Output> {
    let cutoffs = || {
        prop_oneof![
            Just(Cutoffs::AUTOMATIC),
            (1..50_u32, 50..=100_u32).prop_map(|(no_below, yes_from)| {
                let percent = |percent| Some(f64::from(percent) / 100.0);
                Cutoffs::new(percent(no_below), percent(yes_from)).unwrap()
            }),
        ]
    };
    prop_oneof![
        Just(Output::Top),
        Just(Output::TopProbability),
        Just(Output::AllOptions),
        cutoffs().prop_map(Output::Label),
        Just(Output::YesProbability),
        Just(Output::Level),
        Just(Output::Number),
        Just(Output::Average),
        Just(Output::LevelProbability),
        Just(Output::AllLevels),
    ]
}

fn any_lens() -> impl Strategy<Value = Vec<Column>> {
    let column = (select(vec!["q1", "q2", "q3", "q4", "gone"]), any_output());
    prop::collection::vec(column, 0..12).prop_map(|columns| {
        let named = columns
            .into_iter()
            .enumerate()
            .map(|(index, (question, output))| Column {
                name: read(json!(format!("c{index}"))),
                question: read(json!(question)),
                output,
            });
        named.collect()
    })
}

fn any_answer(question: &Question) -> BoxedStrategy<Answer> {
    let keys: Vec<_> = question
        .outcomes()
        .map(|outcome| read(json!(outcome.key)))
        .collect();
    let probabilities = prop::collection::vec(any_probability(), keys.len());
    let distribution = {
        let keys = keys.clone();
        probabilities.prop_map(move |probabilities| -> Distribution {
            keys.iter().cloned().zip(probabilities).collect()
        })
    };
    match question.question_type() {
        QuestionType::Choice => (
            prop::option::of(select(keys)),
            distribution,
            any_probability(),
        )
            .prop_map(|(value, probabilities, confidence)| Answer::Choice {
                value,
                probabilities,
                confidence,
            })
            .boxed(),
        QuestionType::YesNo => any_probability()
            .prop_map(|probability| Answer::YesNo { probability })
            .boxed(),
        QuestionType::Scale => distribution
            .prop_map(|levels| Answer::scale(levels).unwrap())
            .boxed(),
    }
}

fn any_status(version: &PrismVersion) -> BoxedStrategy<ResultStatus> {
    let answers: Vec<_> = version
        .questions()
        .iter()
        .map(|question| (Just(question.key.clone()), any_answer(question)))
        .collect();
    prop_oneof![
        4 => answers.prop_map(|answers| ResultStatus::Ok(Answers::new(answers))),
        1 => any_text().prop_map(|error| ResultStatus::Failed { error }),
    ]
    .boxed()
}

fn any_fields(version: &PrismVersion) -> impl Strategy<Value = FieldValues> + use<> {
    let values: Vec<_> = version
        .fields()
        .iter()
        .map(|field| (Just(field.key.clone()), any_text()))
        .collect();
    values.prop_map(FieldValues::new)
}

/// An arbitrary result of any version, under the columns of any other version.
pub(super) fn any_sample() -> impl Strategy<Value = Sample> {
    let answered = any_version()
        .prop_flat_map(|version| (any_status(&version), any_fields(&version), Just(version)));
    let moments = select(vec![
        "2026-05-04T09:08:07.060Z",
        "1999-12-31T23:59:59Z",
        "2400-02-29T00:00:00.999Z",
    ]);
    (
        any::<u128>(),
        prop::option::of(any_text()),
        1..=i32::MAX,
        answered,
        any_version(),
        any_lens(),
        moments,
    )
        .prop_map(
            |(id, reference, number, (status, fields, version), latest, lens, created_at)| {
                let mut id = format!("{id:032x}");
                for hyphen in [8, 13, 18, 23] {
                    id.insert(hyphen, '-');
                }
                Sample {
                    id: ResultId::parse(&id).unwrap(),
                    reference,
                    number: VersionNumber::new(number).unwrap(),
                    version,
                    latest,
                    lens,
                    status,
                    created_at,
                    fields,
                }
            },
        )
}
