//! The rows below the histogram of a lens: changed results near a cutoff, and a sample at every
//! percent.

use refract_domain::prism::VersionNumber;
use refract_service::lenses::{DraftRows, LensDraftRow, LensSample};
use refract_service::prisms::PrismError;
use refract_test_support::on_both;
use serde_json::json;

use super::fixture::{DraftFixture, answers};

on_both!(
    with crate::drafts::on;
    changed_results_come_nearest_to_the_cutoff_that_they_cross,
    a_sample_has_a_few_results_of_every_percent_with_their_labels,
);

async fn save_all(it: &DraftFixture, millionths: &[u32]) {
    let latest = it.lens().await.latest;
    for millionths in millionths {
        let text = millionths.to_string();
        it.insert(VersionNumber::FIRST, &text, answers(&latest, *millionths))
            .await;
    }
}

async fn changed_results_come_nearest_to_the_cutoff_that_they_cross(it: DraftFixture) {
    save_all(
        &it,
        &[
            100_000, 399_999, 410_000, 480_000, 510_000, 690_000, 700_000,
        ],
    )
    .await;
    let file = json!({ "columns": [
        { "question": "angry", "output": "label", "no_below": 0.4, "yes_from": 0.7 }] });
    let (account, file) = (it.actor.account(), file.to_string());
    let rows = DraftRows::Changed {
        near: Some(0),
        skip: 0,
    };
    let lenses = it.refract.lenses();
    let draft = lenses
        .draft(account, &it.prism, file.as_bytes(), rows)
        .await;
    let draft = draft.unwrap();
    let texts: Vec<_> = draft
        .rows
        .iter()
        .map(|row| row.result.view().fields.as_slice()[0].1.clone())
        .collect();
    // 0.51 crosses the far cutoff: 0.19 from it
    assert_eq!(texts, ["690000", "410000", "480000", "510000"]);
    let labels: Vec<_> = draft
        .rows
        .iter()
        .map(|row| (row.cells[0].now.as_deref(), row.cells[0].text.as_str()))
        .collect();
    let (yes, no) = (Some("Yes"), Some("No"));
    let expected = [
        (yes, "Unsure"),
        (no, "Unsure"),
        (no, "Unsure"),
        (yes, "Unsure"),
    ];
    assert_eq!(labels, expected);
    // the next page, and all of them
    let columns = draft.preview.columns.iter();
    let columns: Vec<_> = columns.map(|it| it.after.column.clone()).collect();
    let next = DraftRows::Changed {
        near: Some(0),
        skip: 3,
    };
    let lens = it.lens().await;
    let draft = lenses.draft_of(lens.clone(), &columns, next).await.unwrap();
    let (mut rest, mut all) = (Vec::new(), Vec::new());
    let first = |row: &LensDraftRow| row.result.view().fields.as_slice()[0].1.clone();
    rest.extend(draft.rows.iter().map(first));
    assert_eq!(rest, ["510000"]);
    let each = |row: &LensDraftRow| all.push(first(row));
    let counted = lenses.changed_results(lens, &columns, Some(0), each);
    assert_eq!(counted.await.unwrap().changed_results, 4);
    assert_eq!(all, texts);
}

async fn a_sample_has_a_few_results_of_every_percent_with_their_labels(it: DraftFixture) {
    save_all(&it, &[400_000; 6]).await;
    save_all(&it, &[0, 990_000, 409_999]).await;
    let sample = async |column: &str| -> Result<LensSample, PrismError> {
        let lenses = it.refract.lenses();
        lenses.sample(it.actor.account(), &it.prism, column).await
    };
    let found = sample("angry").await.unwrap();
    let found: Vec<_> = found
        .results
        .iter()
        .map(|it| (it.probability.millionths(), it.now.label()))
        .collect();
    let newest = [(409_999, "No"), (400_000, "No")];
    let expected = [(0, "No"), newest[0], newest[1], (990_000, "Yes")];
    assert_eq!(found, expected);
    for none in ["topic", "nothing", ""] {
        assert!(sample(none).await.unwrap().results.is_empty(), "{none}");
    }
}
