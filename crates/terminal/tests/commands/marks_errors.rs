//! Files of marks that are refused: every fault is named with its line, and nothing is saved.

use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;

use crate::marks::save_another_version;

on_both!(
    every_error_is_listed_with_its_line_and_nothing_is_saved,
    a_result_elsewhere_is_unknown,
    a_file_that_cannot_be_read_is_refused_whole,
);

/// Imports a refused file, and returns the lines on stderr after the first, which names the file's
/// format.
async fn errors(service: &Service, name: &str, content: impl AsRef<[u8]>) -> Vec<String> {
    service.write(name, content);
    let ended = service.run(&["marks", "import", PRISM, name]).await;
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(1), ""),
        "{ended:?}"
    );
    assert!(ended.stderr.starts_with(&format!("{name}: ")), "{ended:?}");
    ended.stderr.lines().skip(1).map(str::to_owned).collect()
}

async fn every_error_is_listed_with_its_line_and_nothing_is_saved(backend: Backend) {
    let service = service(backend).await;
    let old = service.answered(&["old"]).await.remove(0);
    service.model.then_once(ScriptedReply::status(400));
    let failed = service.answered(&["failed"]).await.remove(0);
    save_another_version(&service).await;
    service.answered(&["new", "both"]).await;
    let new = service.answered(&["both"]).await.remove(0);
    let unknown = "0190b8f2-0000-7000-8000-0000000000aa";
    let file = format!(
        "result_id,ref,topic,angry\n\
         {old},,billing,no\n\
         {old},,Billnig\u{1b}[31m,\n\
         {failed},,billing,\n\
         ,failed,billing,\n\
         {unknown},old,billing,\n\
         nonsense,old,billing,\n\
         ,nobody,billing,\n\
         ,,billing,\n\
         ,new,delivery,yes\n\
         ,old,other,no\n\
         ,both,billing,\n\
         {new},,product,\n\
         ,both,product,\n"
    );
    let lines = errors(&service, "m.csv", &file).await;
    assert_eq!(
        lines,
        [
            "  line 3: topic: 'Billnig[31m' is no outcome in version 1, which has billing, \
             delivery, product, other, insufficient_information",
            "  line 4: result_id: the result is failed: it has no answers to mark",
            "  line 5: ref: the prism has no answered result with this ref",
            "  line 6: result_id: the prism has no such result",
            "  line 7: result_id: Invalid uuid",
            "  line 8: ref: the prism has no answered result with this ref",
            "  line 9: neither result_id nor ref names a result",
            "  line 10: topic: 'delivery' is no outcome in version 2, which has billing, product, \
             other, insufficient_information",
            "  line 10: angry: version 2, which answered, has no such question",
            "  line 11: topic: line 2 says another outcome of the same result",
            "  line 13: topic: line 12 says another outcome of the same result",
            "  line 14: topic: line 12 says another outcome of the same result",
            "error: m.csv: 12 faults, so nothing is saved: correct the lines above and import again",
        ]
    );
    assert_eq!(service.marks("jsonl").await, "");
    let many: String = (0..150).map(|_| ",nobody,billing,\n").collect();
    let good = format!("result_id,ref,topic,angry\n{old},,billing,no\n{many}");
    let lines = errors(&service, "m.csv", &good).await;
    assert_eq!(lines.len(), 102);
    let words = "  line 102: ref: the prism has no answered result with this ref";
    assert_eq!(lines[99], words);
    assert_eq!(lines[100], "  and 50 more");
    assert!(lines[101].starts_with("error: m.csv: 150 faults, so nothing"));
    assert_eq!(service.marks("jsonl").await, "");
}

async fn a_result_elsewhere_is_unknown(backend: Backend) {
    let service = service(backend).await;
    let here = service.answered(&["r1"]).await.remove(0);
    let other = service.another_prism("Another prism").await;
    service.run(&["account", "create", "acme"]).await.done();
    let file = refract_test_stack::service::PRISM_FILE;
    let create = ["prism", "create", file, "--account", "acme"];
    service.run(&create).await.done();
    let expected = [
        "  line 2: result_id: the prism has no such result",
        "  line 3: ref: the prism has no answered result with this ref",
        "error: m.csv: 2 faults, so nothing is saved: correct the lines above and import again",
    ];
    service.write(
        "m.csv",
        format!("result_id,ref,topic\n{here},,other\n,r1,other\n"),
    );
    for arguments in [
        &["marks", "import", &other, "m.csv"][..],
        &["marks", "import", PRISM, "m.csv", "--account", "acme"],
    ] {
        let ended = service.run(arguments).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
        assert_eq!(ended.stderr.lines().skip(1).collect::<Vec<_>>(), expected);
    }
    assert_eq!(service.marks("jsonl").await, "");
    service.import("m.csv", "ref,topic\nr1,other\n").await;
    let elsewhere = [
        "marks",
        "export",
        PRISM,
        "--account",
        "acme",
        "--format",
        "jsonl",
    ];
    assert_eq!(service.run(&elsewhere).await.done(), "");
    let line = service
        .run(&["marks", "export", "suport-triage"])
        .await
        .refused();
    assert_eq!(
        line,
        "error: Prism not found: did you mean `support-triage`?"
    );
    let line = service
        .run(&["marks", "import", "suport-triage", "m.csv"])
        .await
        .refused();
    assert_eq!(
        line,
        "error: Prism not found: did you mean `support-triage`?"
    );
}

async fn a_file_that_cannot_be_read_is_refused_whole(backend: Backend) {
    let service = service(backend).await;
    service.answered(&["r1"]).await;
    let of = "the questions are topic, angry, urgency";
    for (name, content, words) in [
        ("m.csv", "", "it is empty"),
        (
            "m.csv",
            "ref,topic\nr1,billing\nr1,billing,x\n",
            "line 3 has 3 cells, the header has 2",
        ),
        (
            "m.csv",
            "ref,topic\nr1,billing\nr1,\"billing\n",
            "line 3 opens a quote that is never closed: in a quoted cell, write a quote twice (\"\")",
        ),
        (
            "m.jsonl",
            "{\"ref\":\"r1\",\"topic\":\"billing\"}\n{\"ref\":\n",
            "line 2 is not valid JSON (column 7)",
        ),
        (
            "m.csv",
            "ref,topic,topic\nr1,billing,other\n",
            "it has two columns that are called topic",
        ),
        (
            "m.csv",
            "Ref,topic\nr1,billing\n",
            "it has neither a column result_id nor a column ref: it has topic, Ref: did you mean \
             `ref`?",
        ),
        (
            "m.csv",
            "ref,text\nr1,billing\n",
            &format!("it has no column of a question: it has ref, text; {of}"),
        ),
        (
            "m.jsonl",
            "{\"ref\":\"r1\",\"topics\":\"billing\"}\n",
            &format!(
                "it has no column of a question: it has ref, topics; {of}: did you mean `topic`?"
            ),
        ),
        (
            "m.csv",
            "ref,expected_topc,angry\nr1,billing,yes\n",
            &format!("its column expected_topc is of no question: {of}: did you mean `topic`?"),
        ),
    ] {
        service.write(name, content);
        let ended = service.run(&["marks", "import", PRISM, name]).await;
        assert_eq!(
            ended.refused(),
            format!("error: {name}: {words}"),
            "{content}"
        );
    }
    let line = service
        .run(&["marks", "import", PRISM, "gone.csv"])
        .await
        .refused();
    assert!(
        line.starts_with("error: gone.csv: it cannot be read: No such file"),
        "{line}"
    );
    assert_eq!(service.marks("jsonl").await, "");
}
