//! Moving cutoffs: one count gives the changes for every position of a slider.

use proptest::prelude::*;
use refract_domain::answer::probability::{ONE, Probability};

use super::*;
use crate::counting::percent_histogram::{LabelCounts, PercentCutoffs};

/// A lens of two label columns of `angry` with these cutoffs, a probability and a topic.
fn lens(strict: PercentCutoffs, mild: PercentCutoffs, topic: &str) -> Vec<Column> {
    let label = |cutoffs: PercentCutoffs| Output::Label(cutoffs.cutoffs());
    let with = |name: &str, question: &str, output| Column {
        name: ColumnName::parse(name).unwrap(),
        output,
        ..column(question, "label")
    };
    vec![
        with("strict", "angry", label(strict)),
        with("p", "angry", Output::YesProbability),
        Column {
            name: ColumnName::parse("topic").unwrap(),
            ..column("topic", topic)
        },
        with("mild", "angry", label(mild)),
    ]
}

fn cutoffs() -> impl Strategy<Value = PercentCutoffs> {
    (1_u8..100, 0_u8..40).prop_map(|(no_below, band)| {
        PercentCutoffs::new(no_below, no_below.saturating_add(band).min(100)).unwrap()
    })
}

fn counted(before: &[Column], after: &[Column], answers: &[ResultStatus]) -> LensPreview {
    let sample = Sample::new();
    let mut preview = LensPreview::new(before, after, &sample.version);
    for status in answers {
        preview.add(sample.view(status).answers());
    }
    preview
}

fn answers() -> impl Strategy<Value = Vec<ResultStatus>> {
    let probability = prop_oneof![
        0..=ONE,
        // exactly at a percent, and one millionth below it
        (0..=100_u32, 0..=1_u32)
            .prop_map(|(percent, less)| (percent * ONE / 100).saturating_sub(less)),
    ];
    let probability = probability.prop_map(|millionths| {
        let probability = Probability::from_millionths(millionths).unwrap().to_f64();
        Sample::answers("billing", probability, "low")
    });
    prop::collection::vec(probability, 0..20)
}

proptest! {
    #[test]
    fn each_place_of_a_slider_is_counted_exactly(
        answers in answers(),
        now in (cutoffs(), cutoffs()),
        draft in (cutoffs(), cutoffs()),
        moved in cutoffs(),
        topic in prop::sample::select(vec!["top", "probability"]),
    ) {
        let before = lens(now.0, now.1, "top");
        let preview = counted(&before, &lens(draft.0, draft.1, topic), &answers);
        let after_move = counted(&before, &lens(moved, draft.1, topic), &answers);
        let moves = preview.columns[0].moves.as_ref().unwrap();
        let expected = &after_move.columns[0];
        prop_assert_eq!(moves.changed_results(moved), after_move.changed_results);
        prop_assert_eq!(moves.changed_results(draft.0), preview.changed_results);
        let cells = |key: &str| {
            let mut values = expected.after.values.iter();
            values.find(|value| value.key == key).unwrap().cells()
        };
        let labels = LabelCounts { yes: cells("yes"), unsure: cells("unsure"), no: cells("no") };
        prop_assert_eq!(moves.labels(moved), labels);
    }

    #[test]
    fn a_label_in_the_place_of_another_output_changes_every_cell(
        answers in answers(), draft in cutoffs(), moved in cutoffs(),
    ) {
        let mut before = lens(draft, draft, "top");
        before[0].output = Output::YesProbability;
        let preview = counted(&before, &lens(draft, draft, "top"), &answers);
        let moves = preview.columns[0].moves.as_ref().unwrap();
        let all = u64::try_from(answers.len()).unwrap();
        prop_assert_eq!(moves.changed_results(moved), all);
        prop_assert_eq!(preview.changed_results, all);
    }
}

#[test]
fn a_new_column_changes_no_result_and_is_labelled_all_the_same() {
    let cutoffs = PercentCutoffs::new(40, 60).unwrap();
    let after = lens(cutoffs, cutoffs, "top");
    let answers = [0.1, 0.5, 0.9].map(|angry| Sample::answers("billing", angry, "low"));
    let preview = counted(&after[1..3], &after, &answers);
    assert_eq!(preview.changed_results, 0);
    let moves = preview.columns[3].moves.as_ref().unwrap();
    assert_eq!(moves.changed_results(cutoffs), 0);
    let one_each = LabelCounts {
        yes: 1,
        unsure: 1,
        no: 1,
    };
    assert_eq!(moves.labels(cutoffs), one_each);
}
