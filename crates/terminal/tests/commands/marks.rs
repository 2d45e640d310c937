//! Marks: imported by id and by `ref`, changed, exported, and shown with results.

use refract_test_stack::browser::joined;
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, LENS_FILE, PRISM, Service, example_prism};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    a_row_marks_the_result_of_its_id_and_every_result_of_its_ref,
    csv_tsv_and_jsonl_say_the_same,
    a_mark_can_be_changed_and_stays_where_a_cell_is_empty,
    what_is_exported_can_be_imported_and_changes_nothing,
    marks_of_two_people_stand_beside_each_other,
    people_of_the_app_are_named_by_name_address_or_id,
    a_dry_run_saves_nothing,
    a_result_is_marked_by_the_labels_of_its_own_version,
    results_are_exported_with_their_marks_when_that_is_asked_for,
    a_result_shows_who_marked_it_and_when,
    many_rows_are_more_than_one_page,
);

fn counts(marks: u64, results: u64, changed: u64) -> Value {
    json!({"marks": marks, "results": results, "changed": changed})
}

fn header() -> String {
    "result_id,ref,person,topic,angry,urgency\r\n".to_owned()
}

async fn a_row_marks_the_result_of_its_id_and_every_result_of_its_ref(backend: Backend) {
    let service = service(backend).await;
    assert_eq!(service.marks("csv").await, header());
    assert_eq!(service.marks("jsonl").await, "");
    let ids = service.answered(&["r1", "twice", "", "twice", "=r"]).await;
    let before = service.results().await;
    let [first, second, third, fourth, last] = &ids[..] else {
        panic!("{ids:?}");
    };
    // an id takes precedence over a `ref`, and a key over a label
    let upper = third.to_uppercase();
    let file = format!(
        "note,result_id,ref,topic,angry,urgency\n\
         x,{upper},r1,Delivery,No,\n\
         x,, twice ,other,,Today\n\
         x, {last} ,,Not enough information,yes,today\n\
         x,,nobody,,,\n"
    );
    service.write("marks.csv", file);
    let ended = service.run(&["marks", "import", PRISM, "marks.csv"]).await;
    assert_eq!(
        ended.stderr,
        "marks.csv: CSV, 4 rows\n  ignored columns: note\n9 marks on 4 results: 9 new or changed.\n"
    );
    assert_eq!(ended.object(), counts(9, 4, 9));
    let marks = service.marks("csv").await;
    assert_eq!(
        marks,
        header()
            + &format!("{second},twice,,other,,today\r\n")
            + &format!("{third},,,delivery,no,\r\n")
            + &format!("{fourth},twice,,other,,today\r\n")
            + &format!("{last},'=r,,insufficient_information,yes,today\r\n")
    );
    assert!(!marks.contains(first.as_str()));
    assert_eq!(service.results().await, before, "a mark changes no result");
}

async fn csv_tsv_and_jsonl_say_the_same(backend: Backend) {
    let service = service(backend).await;
    let ids = service.answered(&["r1"]).await;
    let row = format!(
        "{{\"result_id\":\"{}\",\"ref\":\"r1\",\"person\":null,",
        ids[0]
    );
    for (name, content, marked) in [
        ("m.csv", "ref,topic,urgency\r\nr1,Billing,\r\n", "billing"),
        (
            "m.csv",
            "\u{feff}ref;topic;urgency\nr1;\"delivery\";\n",
            "delivery",
        ),
        ("m.tsv", "ref\ttopic\turgency\nr1\tProduct\t\n", "product"),
        (
            "m.jsonl",
            "{\"ref\":\"r1\",\"topic\":\"Other\",\"urgency\":null}\n",
            "other",
        ),
        // a gold file is also a valid file of marks
        (
            "gold.csv",
            "text,ref,expected_topic\nWhere?,r1,Billing\n",
            "billing",
        ),
        (
            "gold.jsonl",
            "{\"text\":\"Where?\",\"ref\":\"r1\",\"expected_topic\":\"other\"}",
            "other",
        ),
    ] {
        assert_eq!(
            service.import(name, content).await,
            counts(1, 1, 1),
            "{content}"
        );
        let topic = format!("\"topic\":\"{marked}\",\"angry\":null,\"urgency\":null}}\n");
        assert_eq!(service.marks("jsonl").await, format!("{row}{topic}"));
    }
}

async fn a_mark_can_be_changed_and_stays_where_a_cell_is_empty(backend: Backend) {
    let service = service(backend).await;
    let ids = service.answered(&["r1", "r2"]).await;
    let both = "ref,topic,angry\nr1,billing,yes\nr2,other,no\n";
    assert_eq!(service.import("m.csv", both).await, counts(4, 2, 4));
    assert_eq!(service.import("m.csv", both).await, counts(4, 2, 0));
    let one = "ref,topic,angry\nr1,,no\nr2,Other,no\n";
    assert_eq!(service.import("m.csv", one).await, counts(3, 2, 1));
    let empty = "ref,topic,angry\nr1,,\n";
    assert_eq!(service.import("m.csv", empty).await, counts(0, 0, 0));
    assert_eq!(
        service.import("m.csv", "ref,topic\n").await,
        counts(0, 0, 0)
    );
    // two rows may contain the same mark
    let twice = format!("result_id,ref,topic\n,r1,Billing\n{},,billing\n", ids[0]);
    assert_eq!(service.import("m.csv", twice).await, counts(1, 1, 0));
    assert_eq!(
        service.marks("csv").await,
        header() + &format!("{},r1,,billing,no,\r\n{},r2,,other,no,\r\n", ids[0], ids[1])
    );
}

async fn what_is_exported_can_be_imported_and_changes_nothing(backend: Backend) {
    let service = service(backend).await;
    service
        .answered(&["", "r, \"1\"", "=1+1", "-", "漢字"])
        .await;
    let rows = service.results().await;
    let marks = rows
        .iter()
        .zip(["billing", "other", "", "Delivery", "product"]);
    let marks = marks.map(|(row, topic)| {
        let mark = json!({"result_id": row["result_id"], "topic": topic, "angry": "No"});
        format!("{mark}\n")
    });
    let file: String = marks.collect();
    assert_eq!(service.import("m.jsonl", file).await, counts(9, 5, 9));
    for format in ["csv", "tsv", "jsonl"] {
        let exported = service.marks(format).await;
        let name = format!("again.{format}");
        assert_eq!(service.import(&name, &exported).await, counts(9, 5, 0));
        assert_eq!(service.marks(format).await, exported);
        let whole = [
            "marks", "export", PRISM, "--format", format, "--output", "whole",
        ];
        let ended = service.run(&whole).await;
        assert_eq!(ended.stderr, "5 marked results written to whole.\n");
        assert_eq!(service.written("whole"), exported);
    }
    let full = ["marks", "export", PRISM, "--output", "/dev/full"];
    let line = service.run(&full).await.refused();
    assert!(
        line.starts_with("error: cannot write /dev/full: No space"),
        "{line}"
    );
}

async fn marks_of_two_people_stand_beside_each_other(backend: Backend) {
    let service = service(backend).await;
    let ids = service.answered(&["r1", "r2"]).await;
    let file = "ref,person,topic,angry\nr1,Ada,billing,yes\nr1,Olga,billing,no\nr2,Ada,other,\n";
    assert_eq!(service.import("m.csv", file).await, counts(5, 2, 5));
    assert_eq!(service.import("m.csv", file).await, counts(5, 2, 0));
    let rows = [
        format!("{},r1,Ada,billing,yes,\r\n", ids[0]),
        format!("{},r1,Olga,billing,no,\r\n", ids[0]),
        format!("{},r2,Ada,other,,\r\n", ids[1]),
    ];
    let exported = service.marks("csv").await;
    assert_eq!(exported, header() + &rows.concat());
    for format in ["csv", "tsv", "jsonl"] {
        let name = format!("again.{format}");
        let content = service.marks(format).await;
        assert_eq!(service.import(&name, content).await, counts(5, 2, 0));
    }
    // the later row counts where they differ
    let marked = ["results", "export", PRISM, "--marks", "--format", "jsonl"];
    let rows = service.run(&marked).await.lines();
    assert_eq!(
        (&rows[0]["topic_marked"], &rows[0]["angry_marked"]),
        (&json!("billing"), &json!("no"))
    );
    // an export of results names nobody, and changes nothing
    let content = service.run(&marked).await.done();
    assert_eq!(service.import("rows.jsonl", content).await, counts(3, 2, 0));
    service.write("m.csv", "ref,person,topic\nr1,Ada,other\nr1,Ada,billing\n");
    let refused = service.run(&["marks", "import", PRISM, "m.csv"]).await;
    let line = "  line 3: topic: line 2 says another outcome of the same result";
    assert!(refused.stderr.contains(line), "{refused:?}");
    let show = service
        .run(&["results", "show", &ids[0], "--json"])
        .await
        .object();
    assert_eq!(show["marks"][0]["by"], json!("Olga"));
    assert_eq!(show["other_marks"].as_array().unwrap().len(), 2);
}

async fn people_of_the_app_are_named_by_name_address_or_id(backend: Backend) {
    let service = Service::start(backend).await;
    service.answered(&["r1"]).await;
    let ada = joined(&service, "ada@example.com", "reviewer").await;
    let import = async |by: &str| {
        let file = format!("ref,person,topic\nr1,{by},billing\n");
        service.import("m.csv", file).await
    };
    assert_eq!(import("ADA@example.com").await, counts(1, 1, 1));
    assert_eq!(import("Ada").await, counts(1, 1, 0));
    assert!(service.marks("csv").await.contains(",r1,Ada,billing,"));
    // of two people of one name each is named by the id
    let other = joined(&service, "other@example.com", "reviewer").await;
    assert_eq!(import("other@example.com").await, counts(1, 1, 1));
    let exported = service.marks("csv").await;
    assert!(!exported.contains("Ada"), "{exported}");
    assert_eq!(service.import("again.csv", exported).await, counts(2, 1, 0));
    drop((ada, other));
}

async fn a_dry_run_saves_nothing(backend: Backend) {
    let service = service(backend).await;
    service.answered(&["r1", "r2"]).await;
    service.import("m.csv", "ref,topic\nr1,billing\n").await;
    let before = service.marks("csv").await;
    service.write(
        "m.csv",
        "ref,topic,angry\nr1,billing,no\nr2,other,\nr1,other,\n",
    );
    let arguments = ["marks", "import", PRISM, "m.csv", "--dry-run"];
    let ended = service.run(&arguments).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    service.write("m.csv", "ref,topic,angry\nr1,billing,no\nr2,other,\n");
    let ended = service.run(&arguments).await;
    assert_eq!(
        ended.stderr,
        "m.csv: CSV, 2 rows\n3 marks on 2 results: 2 would be new or changed. Nothing is saved.\n"
    );
    assert_eq!(ended.object(), counts(3, 2, 2));
    assert_eq!(service.marks("csv").await, before);
}

/// Saves a version in which `Billing` is renamed, `delivery` is removed, and `angry` is replaced by
/// another question.
pub(crate) async fn save_another_version(service: &Service) {
    let mut second = example_prism();
    second["questions"][0]["options"] = json!([
        {"key": "billing", "label": "-Money"}, {"key": "product", "label": "Billing"},
    ]);
    second["questions"][1] = json!({"key": "german", "type": "yes_no", "text": "Is it German?"});
    let file = service.file("second.json", &second);
    service.run(&["prism", "save", PRISM, &file]).await.done();
}

async fn a_result_is_marked_by_the_labels_of_its_own_version(backend: Backend) {
    let service = service(backend).await;
    let old = service.answered(&["text"]).await.remove(0);
    save_another_version(&service).await;
    let new = service.answered(&["text"]).await.remove(0);
    // one `ref` matches results of both versions, and a label is resolved in each of them
    let file = "ref,topic\ntext,Billing\n";
    assert_eq!(service.import("m.csv", file).await, counts(2, 2, 2));
    let header = "result_id,ref,person,topic,german,urgency,angry\r\n";
    assert_eq!(
        service.marks("csv").await,
        format!("{header}{old},text,,billing,,,\r\n{new},text,,product,,,\r\n")
    );
    // the second version has no such outcome: its result keeps its mark
    let file = "ref,topic\ntext,delivery\n";
    assert_eq!(service.import("m.csv", file).await, counts(1, 1, 1));
    let file = format!("result_id,topic,angry,german\n{old},Delivery,yes,\n{new},'-Money,,no\n");
    assert_eq!(service.import("m.csv", file).await, counts(4, 2, 3));
    let marks = format!("{header}{old},text,,delivery,,,yes\r\n{new},text,,billing,no,,\r\n");
    assert_eq!(service.marks("csv").await, marks);
    assert_eq!(service.import("again.csv", &marks).await, counts(4, 2, 0));
    // an archived prism does not answer, but its results can be marked
    service.run(&["prism", "archive", PRISM]).await.done();
    assert_eq!(service.import("again.csv", &marks).await, counts(4, 2, 0));
}

async fn results_are_exported_with_their_marks_when_that_is_asked_for(backend: Backend) {
    let service = service(backend).await;
    service.run(&["lens", "set", PRISM, LENS_FILE]).await.done();
    let old = service.answered(&["old", "bare"]).await.remove(0);
    save_another_version(&service).await;
    let new = service.answered(&["new"]).await.remove(0);
    let export = async |arguments: &[&str]| {
        let mut all = vec!["results", "export", PRISM];
        all.extend(arguments);
        service.run(&all).await.done()
    };
    let plain = export(&[]).await;
    let file = format!("result_id,topic,angry,german\n{old},delivery,yes,\n{new},billing,,no\n");
    service.import("m.csv", file).await;
    assert_eq!(export(&[]).await, plain, "without the flag nothing changes");
    for (format, header, rows) in [
        (
            "csv",
            ",topic_marked,german_marked,urgency_marked",
            [",Delivery,,", ",,,", ",'-Money,No,"],
        ),
        (
            "tsv",
            "\ttopic_marked\tgerman_marked\turgency_marked",
            ["\tDelivery\t\t", "\t\t\t", "\t'-Money\tNo\t"],
        ),
    ] {
        let without = export(&["--format", format]).await;
        let with = export(&["--format", format, "--marks"]).await;
        let end = if format == "csv" { "\r\n" } else { "\n" };
        let lines = without.split_terminator(end);
        let mut expected = String::new();
        for (line, added) in lines.zip([header].into_iter().chain(rows)) {
            expected.extend([line, added, end]);
        }
        assert_eq!(with, expected);
    }
    let rows = export(&["--format", "jsonl", "--marks"]).await;
    for (row, added) in rows.lines().zip([
        r#","topic_marked":"delivery","german_marked":null,"urgency_marked":null}"#,
        r#","topic_marked":null,"german_marked":null,"urgency_marked":null}"#,
        r#","topic_marked":"billing","german_marked":"no","urgency_marked":null}"#,
    ]) {
        assert!(row.ends_with(added), "{row}");
    }
    let lens = json!({"columns": [
        {"question": "topic", "output": "top"},
        {"name": "german_marked", "question": "german", "output": "label"},
    ]});
    let file = service.file("lens.json", &lens);
    service.run(&["lens", "set", PRISM, &file]).await.done();
    let line = service.run(&["results", "export", PRISM, "--marks"]).await;
    assert_eq!(
        line.refused(),
        "error: --marks cannot be used: a field or a column of the lens is called german_marked \
         already, as a column of marks would be: give the column another name"
    );
    assert!(export(&[]).await.contains(",german_marked\r\n"));
}

async fn a_result_shows_who_marked_it_and_when(backend: Backend) {
    let service = service(backend).await;
    let id = service.answered(&["r1"]).await.remove(0);
    let show = async |format| {
        let show = ["results", "show", &id, "--format", format];
        service.run(&show).await.done()
    };
    let (table, json) = (show("table").await, show("json").await);
    assert!(!table.contains("marks"), "{table}");
    service.write("m.csv", "ref,angry,topic\nr1,no,delivery\n");
    let by = ["marks", "import", PRISM, "m.csv", "--by", " Ada \u{1b}[31m"];
    service.run(&by).await.done();
    service.import("m.csv", "ref,urgency\nr1,Today\n").await;
    let table = show("table").await;
    let lines = table.lines();
    let lines = lines.skip_while(|line| !line.starts_with("marks "));
    let lines: Vec<_> = lines.take(3).collect();
    assert_eq!(lines.len(), 3, "{table}");
    for (line, beginning) in lines.iter().zip([
        "marks  topic: Delivery, marked by Ada \\u001b[31m 20",
        "       angry: No, marked by Ada \\u001b[31m 20",
        "       urgency: Today, marked 20",
    ]) {
        assert!(line.starts_with(beginning), "{table}");
        assert!(line.ends_with(" UTC"), "{table}");
    }
    assert_eq!(show("json").await, json, "the API's formats have no marks");
    let by = ["marks", "import", PRISM, "m.csv", "--by", " "];
    let line = service.run(&by).await.refused();
    let words = "error: --by cannot be used: String must contain at least 1 character(s)";
    assert_eq!(line, words);
}

async fn many_rows_are_more_than_one_page(backend: Backend) {
    let service = service(backend).await;
    let refs: Vec<_> = (0..1_100).map(|number| format!("r{number}")).collect();
    let refs: Vec<_> = refs.iter().map(String::as_str).collect();
    let ids = service.answered(&refs).await;
    let rows = ids.iter().map(|id| format!("{id},Delivery,Yes,today\n"));
    let head = "result_id,topic,angry,urgency\n".to_owned();
    let file: String = std::iter::once(head).chain(rows).collect();
    service.write("m.csv", &file);
    let dry = ["marks", "import", PRISM, "m.csv", "--dry-run"];
    assert_eq!(
        service.run(&dry).await.object(),
        counts(3_300, 1_100, 3_300)
    );
    assert_eq!(
        service.import("m.csv", &file).await,
        counts(3_300, 1_100, 3_300)
    );
    assert_eq!(service.run(&dry).await.object(), counts(3_300, 1_100, 0));
    let rows = ids.iter().zip(&refs);
    let rows = rows.map(|(id, reference)| format!("{id},{reference},,delivery,yes,today\r\n"));
    assert_eq!(
        service.marks("csv").await,
        header() + &rows.collect::<String>()
    );
    let marked = ["results", "export", PRISM, "--marks"];
    let marked = service.run(&marked).await.done();
    assert_eq!(marked.matches(",Delivery,Yes,Today\r\n").count(), 1_100);
}
