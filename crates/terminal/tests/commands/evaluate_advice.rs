//! `refract evaluate --advise`: cutoffs checked against a plain search, and lens files.

use std::cmp::Reverse;

use refract_test_stack::marked_texts::{MarkedText, assert_close, marked_texts};
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, LENS_FILE, PRISM, Service, example_prism};
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::evaluate::next_version;

on_both!(
    a_precision_is_reached_on_rows_that_did_not_choose_the_cutoff,
    a_recall_and_costs_give_one_cutoff,
    a_written_lens_file_is_the_lens_with_the_cutoffs,
    a_label_column_is_added_where_there_is_none,
    a_goal_out_of_reach_writes_nothing,
    wrong_usage_is_explained,
);

/// Probability of yes in percent, and whether yes is marked.
type Row = (u32, bool);

fn rows(texts: &[MarkedText]) -> Vec<Row> {
    texts
        .iter()
        .map(|text| (text.angry_percent, text.is_angry))
        .collect()
}

fn count(rows: &[Row], holds: impl Fn(&Row) -> bool) -> u32 {
    u32::try_from(rows.iter().filter(|row| holds(row)).count()).unwrap()
}

/// Of the rows that `holds` selects, the number marked yes and the number of all.
fn marked_yes(rows: &[Row], holds: impl Fn(&Row) -> bool) -> (u32, u32) {
    (count(rows, |row| holds(row) && row.1), count(rows, holds))
}

fn reaches((part, whole): (u32, u32), percent: u32) -> bool {
    whole > 0 && part * 100 >= whole * percent
}

/// The fold of each row: a hash of its probability, its mark and how many equal rows precede it.
fn folds(rows: &[Row]) -> Vec<u64> {
    let fold = |place: usize| {
        let row = rows[place];
        let before = rows[..place].iter().filter(|other| **other == row).count();
        let code = u64::from(row.0) * 20_000 + u64::from(row.1);
        let code = code << 32 | u64::try_from(before).unwrap();
        let code = (code ^ (code >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let code = (code ^ (code >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (code ^ (code >> 31)) % 5
    };
    (0..rows.len()).map(fold).collect()
}

/// The cutoff that `choose` finds for the smallest target at which the wanted percent holds over
/// five folds, with the pooled counts of the held-out rows.
fn cross_fitted(
    all: &[Row],
    wanted: u32,
    choose: impl Fn(&[Row], u32) -> Option<u32>,
    counted: impl Fn(&[Row], u32) -> (u32, u32),
) -> Option<(u32, (u32, u32))> {
    let folds = folds(all);
    (wanted..=100).find_map(|target| {
        let mut pooled = (0, 0);
        for fold in 0..5 {
            let is_held = |index: usize| folds[index] == fold;
            let part = |held| {
                let rows = all
                    .iter()
                    .enumerate()
                    .filter(move |(index, _)| is_held(*index) == held);
                rows.map(|(_, row)| *row).collect::<Vec<_>>()
            };
            let held = part(true);
            let counts = match choose(&part(false), target) {
                Some(cutoff) => counted(&held, cutoff),
                // without a cutoff no answer is yes
                None => (0, counted(&held, 101).1),
            };
            pooled = (pooled.0 + counts.0, pooled.1 + counts.1);
        }
        let cutoff = choose(all, target)?;
        reaches(pooled, wanted).then_some((cutoff, pooled))
    })
}

fn precision(rows: &[Row], cutoff: u32) -> (u32, u32) {
    marked_yes(rows, |row| row.0 >= cutoff)
}

fn recall(rows: &[Row], cutoff: u32) -> (u32, u32) {
    (precision(rows, cutoff).0, count(rows, |row| row.1))
}

/// The middle of the percents from which yes finds the same rows.
fn middle(rows: &[Row], cutoff: u32) -> Option<u32> {
    let same: Vec<u32> = (1..=99)
        .filter(|it| precision(rows, *it) == precision(rows, cutoff))
        .collect();
    Some(u32::midpoint(*same.first()?, *same.last()?))
}

async fn advised(service: &Service, arguments: &[&str]) -> Value {
    let mut all = vec!["evaluate", PRISM, "--json", "--advise", "angry"];
    all.extend_from_slice(arguments);
    service.run(&all).await.object()
}

fn ratio((part, whole): (u32, u32)) -> f64 {
    f64::from(part) / f64::from(whole)
}

async fn a_precision_is_reached_on_rows_that_did_not_choose_the_cutoff(backend: Backend) {
    let service = service(backend).await;
    let texts = marked_texts(160);
    service.ask_and_mark(&texts).await;
    let rows = rows(&texts);
    // the greatest recall, then the greatest precision, then the middle of the gap
    let choose = |rows: &[Row], target| {
        let reached = (1..=100).filter(|it| reaches(precision(rows, *it), target));
        let found = |it: &u32| (precision(rows, *it).0, Reverse(precision(rows, *it).1));
        middle(rows, reached.max_by_key(found)?)
    };
    let (yes_from, held_out) = cross_fitted(&rows, 85, choose, precision).unwrap();
    let found = advised(&service, &["--precision", "0.85"]).await;
    assert_close(&found["yes_from"], f64::from(yes_from) / 100.0);
    assert_close(&found["held_out"]["precision"], ratio(held_out));
    assert_eq!(
        (&found["question"], &found["marks"]),
        (&json!("angry"), &json!(160))
    );
    assert_eq!(found["target"], json!({"precision": 0.85}));
    assert!(
        found["no_below"].as_f64().unwrap() < f64::from(yes_from) / 100.0,
        "{found}"
    );
    let words = service
        .run(&[
            "evaluate",
            PRISM,
            "--advise",
            "angry",
            "--precision",
            "0.85",
        ])
        .await
        .done();
    let (low, high) = (
        &found["held_out"]["precision_low"],
        &found["held_out"]["precision_high"],
    );
    let line = format!(
        "\nrule of thumb on held-out marks: yes is right in {:.2} ({:.2} to {:.2}) and finds ",
        ratio(held_out),
        low.as_f64().unwrap(),
        high.as_f64().unwrap(),
    );
    let wanted = "At most 150 of 1,000 automatic answers wrong\n";
    assert!(words.starts_with(wanted), "{words}");
    assert!(words.contains(&line), "{line} {words}");
    let row = words.lines().find(|line| line.contains("Rule of thumb"));
    let shown = (f64::from(yes_from) / 100.0).to_string();
    assert!(row.unwrap().contains(&shown), "{words}");
    let yes = count(&rows, |row| row.1);
    assert!(
        words.contains(&format!("from 160 marks, {yes} of them yes; ")),
        "{words}"
    );
}

async fn a_recall_and_costs_give_one_cutoff(backend: Backend) {
    let service = service(backend).await;
    let texts = marked_texts(100);
    service.ask_and_mark(&texts).await;
    let rows = rows(&texts);
    // the greatest precision, then the greatest recall, then the middle of the gap
    let choose = |rows: &[Row], target| {
        let reached = (1..=99).filter(|it| reaches(recall(rows, *it), target));
        let share = |it: &u32| {
            let (right, answered) = precision(rows, *it);
            (
                u64::from(right) * 1_000_000_000 / u64::from(answered.max(1)),
                right,
            )
        };
        middle(rows, reached.max_by_key(share)?)
    };
    let (cutoff, held_out) = cross_fitted(&rows, 90, choose, recall).unwrap();
    let found = advised(&service, &["--recall", "0.9"]).await;
    assert_close(&found["yes_from"], f64::from(cutoff) / 100.0);
    assert_eq!(found["no_below"], found["yes_from"]);
    assert_close(&found["held_out"]["recall"], ratio(held_out));
    assert_close(&found["held_out"]["coverage"], 1.0);
    let cost = |cutoff: u32| {
        let wrong_yes = count(&rows, |row| row.0 >= cutoff && !row.1);
        let wrong_no = count(&rows, |row| row.0 < cutoff && row.1);
        5 * wrong_yes + 2 * wrong_no
    };
    let wrong = |cutoff: u32| count(&rows, |row| (row.0 >= cutoff) != row.1);
    let cheapest = (1..=99).min_by_key(|cutoff| (cost(*cutoff), wrong(*cutoff)));
    let cheapest = middle(&rows, cheapest.unwrap()).unwrap();
    let costs = ["--cost-of-wrong-yes", "5", "--cost-of-wrong-no", "2"];
    let found = advised(&service, &costs).await;
    assert_close(&found["yes_from"], f64::from(cheapest) / 100.0);
    assert_eq!(
        found["target"],
        json!({"cost_of_wrong_yes": 5, "cost_of_wrong_no": 2})
    );
    let found = advised(&service, &["--cost-of-wrong-yes", "0.5"]).await;
    assert_eq!(
        found["target"],
        json!({"cost_of_wrong_yes": 0.5, "cost_of_wrong_no": 1})
    );
}

async fn a_written_lens_file_is_the_lens_with_the_cutoffs(backend: Backend) {
    let service = service(backend).await;
    service.ask_and_mark(&marked_texts(160)).await;
    service.run(&["lens", "set", PRISM, LENS_FILE]).await.done();
    let before = service.run(&["lens", "show", PRISM]).await.object();
    let goal = ["--precision", "0.85", "--write", "lens.json"];
    service.write("lens.json", "what was there");
    let found = advised(&service, &goal).await;
    let file: Value = serde_json::from_str(&service.written("lens.json")).unwrap();
    let mut expected = before["columns"].clone();
    expected[2]["no_below"] = found["no_below"].clone();
    expected[2]["yes_from"] = found["yes_from"].clone();
    assert_eq!(file, json!({"columns": expected}));
    assert_eq!(
        service.run(&["lens", "show", PRISM]).await.object(),
        before,
        "nothing is set"
    );
    service
        .run(&["lens", "preview", PRISM, "lens.json"])
        .await
        .done();
    let set = service
        .run(&["lens", "set", PRISM, "lens.json"])
        .await
        .object();
    assert_eq!(set["columns"], expected);
    let answered = service.evaluated(&["--question", "angry"]).await[0]["answered"].clone();
    assert!(
        answered.as_u64().unwrap() < 160,
        "what is between the cutoffs is unsure"
    );
    // a single cutoff is written alone
    let goal = ["--recall", "0.9", "--write", "lens.json"];
    let found = advised(&service, &goal).await;
    let file: Value = serde_json::from_str(&service.written("lens.json")).unwrap();
    expected[2]["no_below"] = found["no_below"].clone();
    expected[2].as_object_mut().unwrap().remove("yes_from");
    assert_eq!(file, json!({"columns": expected}));
    service
        .run(&["lens", "set", PRISM, "lens.json"])
        .await
        .done();
    let found = service.evaluated(&["--question", "angry"]).await;
    assert_eq!(found[0]["answered"], 160, "nothing is unsure");
}

async fn a_label_column_is_added_where_there_is_none(backend: Backend) {
    let service = service(backend).await;
    let mut texts = marked_texts(60);
    for text in &mut texts {
        // from 70 up yes is always right, and no is never right often enough
        let percent = text.angry_percent;
        text.is_angry = percent >= 70 || percent % 2 == 0 || percent < 30;
    }
    service.ask_and_mark(&texts).await;
    let lens =
        json!({"columns": [{"name": "angry", "question": "angry", "output": "probability"}]});
    let file = service.file("probabilities.json", &lens);
    service.run(&["lens", "set", PRISM, &file]).await.done();
    let found = advised(&service, &["--precision", "0.9", "--write", "lens.json"]).await;
    assert_eq!(found["no_below"], Value::Null);
    let yes_from = found["yes_from"].as_f64().unwrap();
    assert!(yes_from > 0.5, "{found}");
    let file: Value = serde_json::from_str(&service.written("lens.json")).unwrap();
    let added = json!({"name": "angry_2", "question": "angry", "output": "label",
        "no_below": 0.5, "yes_from": yes_from});
    assert_eq!(file["columns"], json!([lens["columns"][0], added]));
    service
        .run(&["lens", "set", PRISM, "lens.json"])
        .await
        .done();
    // no lens can show a question that the latest version lacks
    let mut prism = example_prism();
    prism["questions"].as_array_mut().unwrap().remove(1);
    next_version(&service, &prism).await;
    let arguments = ["evaluate", PRISM, "--advise", "angry", "--precision", "0.9"];
    assert!(
        service
            .run(&arguments)
            .await
            .done()
            .contains("Rule of thumb")
    );
    let mut writing = arguments.to_vec();
    writing.extend(["--write", "other.json"]);
    let line = service.run(&writing).await.refused();
    assert!(
        line.starts_with("error: version 2, the latest, has no question 'angry'"),
        "{line}"
    );
    assert!(!service.folder.path().join("other.json").exists());
}

async fn a_goal_out_of_reach_writes_nothing(backend: Backend) {
    let service = service(backend).await;
    let arguments = ["evaluate", PRISM, "--advise", "angry", "--precision", "0.9"];
    let mut writing = arguments.to_vec();
    writing.extend(["--write", "lens.json"]);
    let ended = service.run(&writing).await;
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(1), ""),
        "{ended:?}"
    );
    assert!(
        ended
            .stderr
            .starts_with("There are no marks of question 'angry'"),
        "{ended:?}"
    );
    let mut texts = marked_texts(20);
    for text in &mut texts {
        text.is_angry = false;
    }
    service.ask_and_mark(&texts).await;
    let words = service.run(&arguments).await.done();
    let expected = "\nrule of thumb: needs marks of Yes and of No, all are No\n";
    assert!(words.contains(expected), "{words}");
    assert!(
        words.ends_with("\nfrom 20 marks, 0 of them yes\n"),
        "{words}"
    );
    let found = advised(&service, &["--precision", "0.9"]).await;
    assert_eq!(found["yes_from"], Value::Null);
    let ended = service.run(&writing).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let line = "error: there is no rule of thumb: needs marks of Yes and of No, all are No: \
                lens.json is not written\n";
    assert_eq!(ended.stderr, line);
    assert!(!service.folder.path().join("lens.json").exists());
    // neither do costs give advice then
    let words = service
        .run(&[
            "evaluate",
            PRISM,
            "--advise",
            "angry",
            "--cost-of-wrong-yes",
            "5",
        ])
        .await
        .done();
    assert!(words.contains(expected), "{words}");
}

async fn wrong_usage_is_explained(backend: Backend) {
    let service = service(backend).await;
    let run = async |arguments: &[&str]| {
        let mut all = vec!["evaluate", PRISM];
        all.extend_from_slice(arguments);
        service.run(&all).await
    };
    for wrong in [
        &["--advise", "angry"][..],
        &["--precision", "0.9"],
        &["--write", "lens.json"],
        &["--advise", "angry", "--precision", "0.9", "--recall", "0.9"],
        &["--advise", "angry", "--precision", "0"],
        &["--advise", "angry", "--precision", "1.01"],
        &["--advise", "angry", "--recall", "high"],
        &["--advise", "angry", "--cost-of-wrong-yes", "0"],
        &["--advise", "angry", "--cost-of-wrong-yes", "inf"],
        &[
            "--advise",
            "angry",
            "--precision",
            "0.9",
            "--cost-of-wrong-no",
            "2",
        ],
        &[
            "--advise",
            "angry",
            "--precision",
            "0.9",
            "--question",
            "angry",
        ],
        &["--version", "0"],
    ] {
        let ended = run(wrong).await;
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{wrong:?}: {ended:?}"
        );
    }
    let line = run(&["--advise", "topic", "--recall", "0.9"])
        .await
        .refused();
    let expected = "error: question 'topic' is a choice: only a yes_no question has cutoffs to \
         advise on; `--error` certifies a confidence";
    assert_eq!(line, expected);
    let line = run(&["--advise", "angri", "--recall", "0.9"])
        .await
        .refused();
    assert_eq!(
        line,
        "error: the prism has no question 'angri': did you mean `angry`?"
    );
}
