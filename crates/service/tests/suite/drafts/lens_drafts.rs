//! Drafts of a lens over stored results.

use futures_util::future::join_all;
use refract_domain::answer::Probability;
use refract_domain::lens::Column;
use refract_domain::prism::VersionNumber;
use refract_domain::result::RowColumns;
use refract_evaluation::counting::{PercentCutoffs, UnreachableCutoff};
use refract_lens_rendering::{Format, render};
use refract_service::lenses::{DRAFT_RESULTS, DraftRows, LensDraft, LensDraftRow};
use refract_test_support::on_both;
use serde_json::{Value, json};

use super::fixture::{DraftFixture, answers, failed, file};

on_both!(
    with crate::drafts::on;
    a_draft_is_counted_over_all_answered_results_and_shows_the_newest,
    the_lens_itself_is_a_draft_that_changes_nothing,
    results_of_older_versions_are_read_with_their_own_questions,
    a_wrong_lens_file_is_refused_as_saving_refuses_it,
    only_the_newest_results_are_counted,
    cutoffs_beyond_what_the_model_gives_are_found,
);

async fn draft(it: &DraftFixture, columns: &Value) -> LensDraft {
    let file = json!({ "columns": columns }).to_string();
    let account = it.actor.account();
    let draft = it
        .refract
        .lenses()
        .draft(account, &it.prism, file.as_bytes(), DraftRows::Newest);
    draft.await.unwrap()
}

/// The cells of the lens columns in a result's csv row.
fn csv_cells(row: &LensDraftRow, columns: &[Column]) -> Vec<String> {
    let columns = RowColumns {
        fields: &[],
        lens: columns,
    };
    let mut csv = Vec::new();
    render(Format::Csv, &columns, &row.result.view(), &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let line = csv.lines().nth(1).unwrap();
    line.split(',').skip(6).map(str::to_owned).collect()
}

/// Saves a result for each of these probabilities, in millionths.
async fn save_all(it: &DraftFixture, probabilities: impl IntoIterator<Item = u32>) {
    let latest = it.lens().await.latest;
    for millionths in probabilities {
        it.insert(VersionNumber::FIRST, "Hello", answers(&latest, millionths))
            .await;
    }
}

async fn a_draft_is_counted_over_all_answered_results_and_shows_the_newest(it: DraftFixture) {
    it.set_lens(&json!([
        { "question": "angry", "output": "label" },
        { "question": "topic", "output": "top" },
        { "question": "rude", "output": "label" }]))
        .await;
    save_all(&it, (0..25).map(|n| n * 40_000)).await;
    save_all(
        &it,
        [
            399_999, 400_000, 409_999, 499_999, 500_000, 599_999, 600_000, 990_000, 1_000_000,
        ],
    )
    .await;
    it.insert(VersionNumber::FIRST, "Hello", failed()).await;
    let draft = draft(
        &it,
        &json!([
            { "question": "topic", "output": "all" },
            { "question": "angry", "output": "label", "no_below": 0.4, "yes_from": 0.6 },
            { "question": "rude", "output": "label" },
            { "question": "angry", "output": "probability" }]),
    )
    .await;
    let preview = &draft.preview;
    assert_eq!((preview.results, draft.in_all), (34, None));
    let dropped: Vec<_> = preview
        .dropped
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(dropped, ["topic"]);
    let angry = &preview.columns[1];
    // 0.4 (twice), 0.409999, 0.44, 0.48, 0.499999, 0.5, 0.52, 0.56, 0.599999
    assert_eq!((angry.changed, preview.changed_results), (Some(10), 10));
    let moves = angry.moves.as_ref().unwrap();
    let at = |no_below, yes_from| PercentCutoffs::new(no_below, yes_from).unwrap();
    assert_eq!(moves.changed_results(at(40, 60)), 10);
    assert_eq!(moves.changed_results(at(50, 50)), 0);
    assert_eq!(moves.changed_results(at(50, 60)), 4);
    let labels = moves.labels(at(40, 60));
    assert_eq!((labels.no, labels.unsure, labels.yes), (11, 10, 13));
    rows_are_the_newest_as_csv_shows_them(&draft);
}

fn rows_are_the_newest_as_csv_shows_them(draft: &LensDraft) {
    assert_eq!(draft.rows.len(), 20);
    let columns: Vec<_> = draft
        .preview
        .columns
        .iter()
        .map(|column| column.after.column.clone())
        .collect();
    for row in &draft.rows {
        let cells: Vec<_> = row.cells.iter().map(|cell| cell.text.clone()).collect();
        assert_eq!(cells, csv_cells(row, &columns));
        assert_eq!(row.now, csv_cells(row, draft.lens.columns().lens));
        assert_eq!(row.cells[1].now.as_ref(), Some(&row.now[0]));
        assert_eq!(row.cells[1].is_changed, row.cells[1].text != row.now[0]);
        assert_eq!(
            (row.cells[3].now.clone(), row.cells[3].is_changed),
            (None, false)
        );
        assert_eq!(
            (row.cells[0].probability, row.cells[3].probability),
            (None, None)
        );
    }
    let newest: Vec<_> = draft
        .rows
        .iter()
        .map(|row| row.cells[1].probability.unwrap().percent())
        .collect();
    assert_eq!(newest[..9], [100, 99, 60, 59, 50, 49, 40, 40, 39]);
    let texts: Vec<_> = draft
        .rows
        .iter()
        .map(|row| row.cells[1].text.as_str())
        .collect();
    assert_eq!(
        texts[..9],
        [
            "Yes", "Yes", "Yes", "Unsure", "Unsure", "Unsure", "Unsure", "Unsure", "No"
        ]
    );
}

async fn the_lens_itself_is_a_draft_that_changes_nothing(it: DraftFixture) {
    save_all(&it, [100_000, 900_000]).await;
    let lens = it.lens().await;
    let columns = lens.columns().lens.to_vec();
    let draft = it
        .refract
        .lenses()
        .draft_of(lens, &columns, DraftRows::Newest)
        .await
        .unwrap();
    assert_eq!(
        (draft.preview.results, draft.preview.changed_results),
        (2, 0)
    );
    assert!(
        draft
            .rows
            .iter()
            .flat_map(|row| &row.cells)
            .all(|cell| !cell.is_changed)
    );
    assert!(draft.preview.dropped.is_empty());
}

async fn results_of_older_versions_are_read_with_their_own_questions(it: DraftFixture) {
    save_all(&it, [100_000, 900_000]).await;
    let mut file = file();
    file["questions"].as_array_mut().unwrap().remove(1);
    file["questions"][1]["text"] = json!("Is it rude?");
    file["questions"].as_array_mut().unwrap().push(json!({
        "key": "german", "type": "yes_no", "text": "?" }));
    let second = it.save_version(&file).await;
    let latest = it.lens().await.latest;
    it.insert(second, "Hallo", answers(&latest, 700_000)).await;
    let draft = draft(
        &it,
        &json!([
            { "question": "german", "output": "label", "no_below": 0.8 },
            { "question": "rude", "output": "label", "no_below": 0.95 }]),
    )
    .await;
    let changed: Vec<_> = draft
        .preview
        .columns
        .iter()
        .map(|column| column.changed)
        .collect();
    assert_eq!(changed, [Some(1), Some(2)]);
    assert_eq!(
        (draft.preview.results, draft.preview.changed_results),
        (3, 2)
    );
    let texts: Vec<_> = draft
        .rows
        .iter()
        .map(|row| row.cells[0].text.as_str())
        .collect();
    assert_eq!(texts, ["No", "", ""]);
    let percents: Vec<_> = draft
        .rows
        .iter()
        .map(|row| row.cells[0].probability.map(Probability::percent))
        .collect();
    assert_eq!(percents, [Some(70), None, None]);
}

async fn a_wrong_lens_file_is_refused_as_saving_refuses_it(it: DraftFixture) {
    let file = br#"{"columns": [{"question": "angry", "output": "top"}]}"#;
    let account = it.actor.account();
    let refused = it
        .refract
        .lenses()
        .draft(account, &it.prism, file, DraftRows::Newest)
        .await;
    let words = refused.err().unwrap().to_string();
    assert_eq!(
        words,
        "Invalid request: columns.0.output: Expected 'label' | 'probability'"
    );
}

async fn only_the_newest_results_are_counted(it: DraftFixture) {
    let latest = it.lens().await.latest;
    it.insert(VersionNumber::FIRST, "old", answers(&latest, 0))
        .await;
    let numbers: Vec<_> = (0..DRAFT_RESULTS).collect();
    for some in numbers.chunks(500) {
        let saving = some
            .iter()
            .map(|_| it.insert(VersionNumber::FIRST, "new", answers(&latest, 900_000)));
        join_all(saving).await;
    }
    let lens = it.lens().await;
    let columns = lens.columns().lens.to_vec();
    let draft = it
        .refract
        .lenses()
        .draft_of(lens, &columns, DraftRows::Newest)
        .await
        .unwrap();
    assert_eq!(draft.in_all, Some(10_001));
    assert_eq!(draft.preview.results, 10_000);
    let moves = draft.preview.columns[1].moves.as_ref().unwrap();
    let all_yes = moves.labels(PercentCutoffs::new(50, 50).unwrap());
    assert_eq!((all_yes.no, all_yes.yes), (0, 10_000));
}

async fn cutoffs_beyond_what_the_model_gives_are_found(it: DraftFixture) {
    let clipped = (0..110).map(|n| (n * 11_000).clamp(10_000, 990_000));
    save_all(&it, clipped).await;
    let column =
        json!({ "question": "angry", "output": "label", "no_below": 0.4, "yes_from": 0.995 });
    let draft = draft(&it, &json!([column])).await;
    let unreachable = |found: &[UnreachableCutoff]| -> Vec<_> {
        let found = found.iter();
        found
            .map(|it| {
                (
                    it.name.key(),
                    it.bound.probability().millionths(),
                    it.answers,
                )
            })
            .collect()
    };
    let expected = [("yes_from", 990_000, 110)];
    assert_eq!(unreachable(&draft.unreachable), expected);
    let lenses = it.refract.lenses();
    let of_lens = lenses.unreachable_cutoffs(&it.lens().await).await.unwrap();
    assert!(of_lens.is_empty());
    it.set_lens(&json!([column])).await;
    let of_lens = lenses.unreachable_cutoffs(&it.lens().await).await.unwrap();
    assert_eq!(unreachable(&of_lens), expected);
    it.set_lens(&json!([{ "question": "angry", "output": "probability" }]))
        .await;
    let of_lens = lenses.unreachable_cutoffs(&it.lens().await).await.unwrap();
    assert!(of_lens.is_empty());
}
