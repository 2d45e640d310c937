use refract_domain::key::QuestionKey;

use super::*;

fn questions(keys: &[&str]) -> Vec<QuestionKey> {
    let keys = keys.iter();
    keys.map(|key| QuestionKey::parse(key).unwrap()).collect()
}

fn read_with(name: &str, bytes: &str, keys: &[&str]) -> Result<MarksFileRows, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let file = MarksFile::open(InputSource::Path(&path), &questions(keys))
        .map_err(|error| error.to_string())?;
    file.read().map_err(|error| error.to_string())
}

fn read(name: &str, bytes: &str) -> Result<MarksFileRows, String> {
    read_with(name, bytes, &["topic", "angry"])
}

/// Each row as `line result: question=outcome …`.
fn shown(read: &MarksFileRows) -> Vec<String> {
    let rows = read.rows.iter().map(|row| {
        let named = match &row.named {
            refract_service::marks::NamedResult::Id(id) => id.to_string(),
            refract_service::marks::NamedResult::Ref(reference) => reference.as_str().to_owned(),
        };
        let cells = row.cells.iter();
        let cells = cells.map(|cell| format!(" {}={}", cell.question, cell.outcome));
        format!("{} {named}:{}", row.line, cells.collect::<String>())
    });
    rows.collect()
}

fn errors(read: &MarksFileRows) -> Vec<String> {
    let errors = read.errors.listed();
    errors
        .map(|(line, error)| format!("{line} {error}"))
        .collect()
}

const ID: &str = "0190b8f2-0000-7000-8000-0000000000aa";

#[test]
fn a_row_names_its_result_by_id_and_else_by_ref() {
    let csv = format!(
        "note,ref,result_id,topic,angry\nx, r1 , {ID} ,billing,\nx, r1 ,,,yes\n\nx,r3,,,\n,,,,\n"
    );
    let expected = [
        format!("2 {ID}: topic=billing"),
        "3 r1: angry=yes".to_owned(),
    ];
    let found = read("a.csv", &csv).unwrap();
    assert_eq!(shown(&found), expected);
    assert_eq!(
        (found.rows_in_file, found.unused_columns.as_str()),
        (4, "note")
    );
    let tsv = csv.replace(',', "\t");
    assert_eq!(shown(&read("a.tsv", &tsv).unwrap()), expected);
    let jsonl = format!(
        "{{\"note\":1,\"ref\":\"r1\",\"result_id\":\"{ID}\",\"topic\":\"billing\"}}\n\
         {{\"ref\":\"r1\",\"result_id\":null,\"topic\":null,\"angry\":\"yes\"}}\n\
         {{\"ref\":\"r3\"}}\n"
    );
    let found = read("a.jsonl", &jsonl).unwrap();
    assert_eq!(
        shown(&found),
        [
            format!("1 {ID}: topic=billing"),
            "2 r1: angry=yes".to_owned()
        ]
    );
    assert_eq!(
        (found.rows_in_file, found.unused_columns.as_str()),
        (3, "note")
    );
}

#[test]
fn expected_columns_are_read_where_there_is_no_column_of_the_key() {
    let found = read("a.csv", "text,ref,expected_topic\nhello,r1,billing\n").unwrap();
    assert_eq!(shown(&found), ["2 r1: topic=billing"]);
    assert_eq!(found.unused_columns, "text");
    let both = "ref,expected_topic,topic,expected_angry\nr1,billing,,yes\nr2,x,other,\n";
    let found = read("a.csv", both).unwrap();
    assert_eq!(shown(&found), ["2 r1: angry=yes", "3 r2: topic=other"]);
    assert_eq!(found.unused_columns, "expected_topic");
    let jsonl = "{\"ref\":\"r1\",\"expected_topic\":\"billing\"}";
    assert_eq!(
        shown(&read("a.jsonl", jsonl).unwrap()),
        ["1 r1: topic=billing"]
    );
}

#[test]
fn in_an_export_of_results_the_column_of_marks_counts_and_not_the_answers() {
    let csv = "result_id,ref,topic,angry,topic_marked,angry_marked\n,r1,a,b,c,\n,r2,a,b,,\n";
    let found = read("a.csv", csv).unwrap();
    assert_eq!(shown(&found), ["2 r1: topic=c"]);
    assert_eq!(found.unused_columns, "topic, angry");
    let jsonl = "{\"ref\":\"r1\",\"topic\":\"a\",\"topic_marked\":null,\"angry\":\"yes\"}";
    assert_eq!(shown(&read("a.jsonl", jsonl).unwrap()), ["1 r1: angry=yes"]);
}

#[test]
fn an_export_of_results_without_its_marks_is_recognised() {
    let header = "result_id,ref,version,status,error,created_at,text,topic,angry";
    let holds_answers = |csv: &str| read("a.csv", csv).unwrap().holds_answers;
    assert!(holds_answers(header));
    assert!(!holds_answers(&format!("{header},topic_marked")));
    assert!(!holds_answers("result_id,ref,status,topic"));
}

#[test]
fn a_question_may_be_called_expected() {
    let keys = ["topic", "expected_topic"];
    let found = read_with("a.csv", "ref,expected_topic\nr1,billing\n", &keys).unwrap();
    assert_eq!(shown(&found), ["2 r1: expected_topic=billing"]);
    let both = "ref,topic,expected_topic\nr1,other,billing\n";
    let found = read_with("a.csv", both, &keys).unwrap();
    assert_eq!(shown(&found), ["2 r1: topic=other expected_topic=billing"]);
    assert_eq!(found.unused_columns, "");
}

#[test]
fn a_row_that_cannot_be_read_is_an_error_and_does_not_end_the_reading() {
    let long = "a".repeat(201);
    let csv =
        format!("result_id,ref,topic\nx,r1,billing\n,,billing\n,{long},billing\nx,,\n,r1,a\n");
    let found = read("a.csv", &csv).unwrap();
    assert_eq!(shown(&found), ["6 r1: topic=a"]);
    assert_eq!(
        errors(&found),
        [
            "2 result_id: Invalid uuid",
            "3 neither result_id nor ref names a result",
            "4 ref: String must contain at most 200 character(s)",
        ]
    );
    let jsonl = "{\"ref\":\"r1\",\"topic\":1,\"angry\":\"\\ud800\"}\n{\"ref\":[7],\"topic\":\"a\"}\n\
        {\"ref\":\"r\",\"expected_topic\":true,\"angry\":\"yes\"}\n{\"ref\":7,\"topic\":\"a\"}\n";
    let found = read("a.jsonl", jsonl).unwrap();
    // whether a question has an outcome that is called 1 or true, its version knows
    assert_eq!(
        shown(&found),
        ["1 r1: topic=1", "3 r: topic=true angry=yes", "4 7: topic=a"]
    );
    assert_eq!(
        errors(&found),
        [
            "1 angry: must not contain NUL or unpaired surrogate characters",
            "2 ref: Expected string, received array",
        ]
    );
}

#[test]
fn a_file_names_results_and_questions() {
    let error = |bytes: &str| read("a.csv", bytes).err().unwrap();
    let jsonl = |bytes: &str| read("a.jsonl", bytes).err().unwrap();
    let no_results = "it has neither a column result_id nor a column ref: it has topic, note";
    assert_eq!(error("note,topic\nx,billing\n"), no_results);
    assert_eq!(error("note,topic\n"), no_results);
    assert_eq!(jsonl(r#"{"note":"x","topic":"billing"}"#), no_results);
    let no_questions =
        "it has no column of a question: it has ref, note; the questions are topic, angry";
    assert_eq!(error("note,ref\nx,r1\n"), no_questions);
    assert_eq!(jsonl(r#"{"note":"x","ref":"r1"}"#), no_questions);
    let misspelt = "its column expected_topik is of no question: the questions are topic, angry";
    assert_eq!(
        error("ref,expected_topik,angry\nr1,billing,yes\n"),
        misspelt
    );
    assert_eq!(
        jsonl(r#"{"ref":"r1","expected_topik":"x","angry":"yes"}"#),
        misspelt
    );
    let twice = "it has two columns that are called topic";
    assert_eq!(error("ref,topic,topic\nr1,a,b\n"), twice);
    let cells = "line 3 has 3 cells, the header has 2";
    assert_eq!(error("ref,topic\nr1,a\nr2,b,c\n"), cells);
    let hidden = error(&format!("{},topic\nx,a\n", "secret ".repeat(9)));
    assert!(!hidden.contains("secret"), "{hidden}");
}

#[test]
fn what_may_be_mistyped_stands_beside_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    for (header, names, known) in [
        ("refs,topic", vec!["refs"], vec!["result_id", "ref"]),
        ("ref,topics", vec!["topics"], vec!["topic", "angry"]),
        ("ref,expected_topik", vec!["topik"], vec!["topic", "angry"]),
    ] {
        std::fs::write(&path, header).unwrap();
        let file =
            MarksFile::open(InputSource::Path(&path), &questions(&["topic", "angry"])).unwrap();
        let error = file.read().err().unwrap();
        assert_eq!(error.names(), names);
        assert_eq!(error.known(), known);
    }
}

#[test]
fn a_row_names_who_marked() {
    let read = read(
        "a.csv",
        "ref,person,adjudicated,topic\nr1,Ada,,a\nr1,Olga,TRUE,b\nr1,,0,c\n",
    );
    let read = read.unwrap();
    let people = read
        .rows
        .iter()
        .map(|row| (row.person.as_deref(), row.is_adjudicated));
    let expected = [(Some("Ada"), false), (Some("Olga"), true), (None, false)];
    assert_eq!(people.collect::<Vec<_>>(), expected);
    let wrong = self::read("a.csv", "ref,person,adjudicated,topic\nr1,Ada,maybe,a\n").unwrap();
    assert_eq!(errors(&wrong), ["2 adjudicated: must be true or false"]);
}

#[test]
fn in_an_export_of_results_a_person_is_a_field() {
    let header = "result_id,ref,version,status,error,created_at,person,topic_marked";
    let read = read(
        "a.csv",
        &format!("{header}\n{ID},,1,ok,,2026-11-28T10:00:00.000Z,Ada,a\n"),
    );
    let read = read.unwrap();
    assert_eq!(read.rows[0].person, None);
    assert!(
        read.unused_columns.contains("person"),
        "{}",
        read.unused_columns
    );
}
