//! Examples of a prism over HTTP and without scripts: kept, checked, changed, removed, and as a file.

use refract_test_stack::browser::forms::{inputs, post, post_through};
use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, text};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    an_example_is_kept_changed_and_removed,
    a_result_is_kept_with_its_marks_or_its_answers,
    a_check_shows_what_is_broken_and_saves_no_result,
    a_broken_example_stands_first_before_a_version_is_saved,
    a_file_of_them_is_a_gold_file_and_the_other_way_round,
    a_file_is_refused_line_by_line_and_whole,
    reviewers_read_and_check_and_change_nothing,
);

const EXAMPLES: &str = "/prisms/support-triage/examples";

/// Keeps a text as an example whose writer is angry, and returns the example's address.
pub(crate) async fn kept(browser: &mut PlainBrowser<'_>, prism: &str, typed: &str) -> String {
    let address = format!("/prisms/{prism}/examples");
    let values = [("fields.text", typed), ("expected.angry", "yes")];
    let answer = browser.post(&address, &values).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    let list = browser.get(&address).await;
    let (_, id) = list.body.rsplit_once("id=\"example-").expect(&list.body);
    format!("{address}/{}", id.split('"').next().unwrap())
}

/// Sends a file as a browser does.
pub(crate) async fn uploaded(
    browser: &mut PlainBrowser<'_>,
    address: &str,
    name: &str,
    content: &str,
) -> HttpAnswer {
    let body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: text/csv\r\n\r\n{content}\r\n--x--\r\n"
    );
    let request = Request::outside("POST", address)
        .header("Sec-Fetch-Site", "same-origin")
        .header("Content-Type", "multipart/form-data; boundary=x")
        .body(body);
    browser.send(request).await
}

/// A reply that says No to the question about anger, and otherwise what the script says.
pub(crate) fn not_angry() -> ScriptedReply {
    let shares = json!({"billing": 0.7, "delivery": 0.1, "product": 0.1, "other": 0.05, "insufficient_information": 0.05});
    let answers = json!({
        "topic": {"type": "choice", "choice": "billing", "confidence": 0.6, "probabilities": shares},
        "angry": {"type": "noul", "noul": 0.05},
        "urgency": {"type": "score", "score": 0, "probabilities": {"0": 0.7, "1": 0.2, "2": 0.1}},
    });
    let reply = json!({"model": "scripted-1", "answers": answers});
    ScriptedReply::with(move |_| reply.clone())
}

async fn an_example_is_kept_changed_and_removed(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let empty = ada.get(EXAMPLES).await;
    assert!(
        empty.body.contains("There is no example yet."),
        "{}",
        empty.body
    );
    // what is refused is given back
    let form = inputs(&ada.get(&format!("{EXAMPLES}/new")).await, "class=\"wide\"");
    let typed = [
        ("fields.text", "My <b>order</b> is late"),
        ("note", "typed"),
    ];
    let refused = post(&mut ada, EXAMPLES, &form, &typed).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    for words in [
        "right answer to at least one question",
        "My &lt;b&gt;order",
        "value=\"typed\"",
    ] {
        assert!(refused.body.contains(words), "{words}: {}", refused.body);
    }
    let form = inputs(&refused, "class=\"wide\"");
    let chosen = [("expected.angry", "yes"), ("expected.topic", "delivery")];
    for done in ["kept", "changed"] {
        let saved = post(&mut ada, EXAMPLES, &form, &chosen).await;
        assert_eq!(
            saved.header("location"),
            Some(&*format!("{EXAMPLES}?done={done}"))
        );
    }
    let list = ada.get(EXAMPLES).await;
    assert_eq!(
        list.body.matches("id=\"example-").count(),
        1,
        "{}",
        list.body
    );
    assert!(list.body.contains("<bdi>Delivery</bdi>") && list.body.contains("Not checked yet"));
    let address = kept(&mut ada, PRISM, "My <b>order</b> is late").await;
    let page = ada.get(&address).await;
    assert!(page.body.contains("<bdi>typed</bdi>") && page.body.contains("by <bdi>Ada</bdi>"));
    let form = inputs(&page, &format!("action=\"{address}\""));
    let changed = [("expected.angry", "no"), ("note", "")];
    assert_eq!(post(&mut ada, &address, &form, &changed).await.status, 303);
    let page = ada.get(&address).await;
    assert!(page.body.contains("<bdi>No</bdi>") && !page.body.contains("<bdi>typed</bdi>"));
    let remove = format!("{address}/remove");
    assert_eq!(ada.post(&remove, &[]).await.status, 303);
    assert_eq!(ada.post(&remove, &[]).await.status, 404);
    assert_eq!(ada.get(&address).await.status, 404);
}

async fn a_result_is_kept_with_its_marks_or_its_answers(backend: Backend) {
    let service = Service::start(backend).await;
    let body = json!({"text": "Late again", "context": "A regular", "ref": "r-1"});
    let result = text(&service.create(&body).await.value(), "id");
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let page = format!("/results/{result}");
    let mark = [("mark.topic", "delivery")];
    assert_eq!(ada.post(&format!("{page}/marks"), &mark).await.status, 303);
    let link = format!("{EXAMPLES}/new?result={result}");
    assert!(ada.get(&page).await.body.contains(&link));
    let form = inputs(&ada.get(&link).await, "class=\"wide\"");
    let value = |name: &str| {
        let found = form.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap()
    };
    let names = [
        "fields.text",
        "context",
        "ref",
        "expected.topic",
        "expected.angry",
    ];
    let expected = ["Late again", "A regular", "r-1", "delivery", "yes"];
    assert_eq!(names.map(value), expected);
    assert_eq!(post(&mut ada, EXAMPLES, &form, &[]).await.status, 303);
    let list = ada.get(EXAMPLES).await;
    let (_, id) = list.body.split_once("id=\"example-").unwrap();
    let own = format!("{EXAMPLES}/{}", id.split('"').next().unwrap());
    assert!(
        ada.get(&own)
            .await
            .body
            .contains(&format!("href=\"{page}\""))
    );
    // erasing the result erases the copy, and nothing of it is left
    let erased = service.run(&["results", "erase", &result]).await.object();
    assert_eq!(erased, json!({"results": 1, "examples": 1}));
    assert_eq!(ada.get(&own).await.status, 404);
    assert_eq!(ada.get(&link).await.status, 404);
}

async fn a_check_shows_what_is_broken_and_saves_no_result(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    kept(&mut ada, PRISM, "one").await;
    kept(&mut ada, PRISM, "two").await;
    service.model.then_once(not_angry());
    let asked = service.asked();
    let list = post_through(&mut ada, &format!("{EXAMPLES}/check"), &[], &[]).await;
    assert_eq!(service.asked() - asked, 2);
    assert!(
        list.body.contains("✕ 1 of 2 examples is broken."),
        "{}",
        list.body
    );
    let (_, rows) = list.body.split_once("id=\"example-").unwrap();
    let (first, second) = rows.split_once("id=\"example-").unwrap();
    assert!(
        first.contains("✕ Broken") && first.contains("<bdi>No</bdi>") && first.contains("5.0 %")
    );
    assert!(second.contains("✓ Holds"), "{second}");
    let results = ada.get(&format!("/prisms/{PRISM}/results")).await;
    assert!(
        !results.body.contains("href=\"/results/"),
        "{}",
        results.body
    );
}

async fn a_broken_example_stands_first_before_a_version_is_saved(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    kept(&mut ada, PRISM, "one").await;
    ada.post(&format!("{EXAMPLES}/check"), &[]).await;
    let edit = format!("/prisms/{PRISM}/edit");
    let form = inputs(&ada.get(&edit).await, &format!("action=\"{edit}\""));
    service.model.then_once(not_angry());
    let asked = service.asked();
    let changed = [
        ("act", "review"),
        ("questions.1.text", "Is the writer calm?"),
    ];
    let review = post_through(&mut ada, &edit, &form, &changed).await;
    assert_eq!(service.asked() - asked, 1);
    let (before, after) = review.body.split_once("What changes against").unwrap();
    for words in [
        "✕ 1 of 1 example is broken.",
        "1 held with version 1. You can save all the same.",
        "data-label=\"Right answer\"><bdi>Yes</bdi></td><td data-label=\"Version 1\"><span class=\"yes\"><bdi>Yes</bdi>",
        "80.0 %",
        "<td class=\"broken\" data-label=\"Your version\"><span class=\"no\"><bdi>No</bdi>",
    ] {
        assert!(before.contains(words), "{words}: {before}");
    }
    assert!(!after.contains("broken"), "{after}");
    // looking again asks nobody again, and the saved version has its answers
    let draft = format!("{edit}/draft");
    let again = ada.get(&format!("{edit}/review")).await;
    let form = inputs(&again, "id=\"before-saving\"");
    let saved = post(&mut ada, &draft, &form, &[("act", "save")]).await;
    assert_eq!(saved.status, 303, "{saved:?}");
    let list = ada.get(EXAMPLES).await;
    assert!(
        list.body.contains("✕ 1 of 1 example is broken."),
        "{}",
        list.body
    );
    assert_eq!(service.asked() - asked, 1);
}

async fn a_file_of_them_is_a_gold_file_and_the_other_way_round(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let gold = "text,ref,context,expected_topic,expected_angry,expected_urgency\r\n\
        \"Late, \"\"again\"\"\nand again\",r-1,,billing,yes,\r\n\
        Where is it?,,A regular,,no,\r\n";
    let upload = format!("{EXAMPLES}/upload");
    let answer = uploaded(&mut ada, &upload, "gold.csv", gold).await;
    assert_eq!(
        answer.header("location"),
        Some(&*format!("{EXAMPLES}?done=uploaded"))
    );
    let download = format!("{EXAMPLES}/download");
    let file = ada.get(&download).await;
    let name = "attachment; filename=\"support-triage-examples.csv\"";
    assert_eq!(file.header("content-disposition"), Some(name));
    assert_eq!(file.body, gold);
    // the terminal reads that very file
    let checked = ["check", PRISM, "-", "--json"];
    let checked = service.run_with_input(&checked, file.body.as_bytes()).await;
    let angry: Vec<Value> = checked.lines();
    let angry = angry
        .iter()
        .find(|line| line["question"] == "angry")
        .unwrap();
    assert_eq!(angry["marks"], 2, "{angry}");
    // a text like a formula makes it JSON Lines, which is taken too
    kept(&mut ada, PRISM, "=1+1").await;
    let file = ada.get(&download).await;
    let name = "attachment; filename=\"support-triage-examples.jsonl\"";
    assert_eq!(file.header("content-disposition"), Some(name));
    let answer = uploaded(&mut ada, &upload, "any", &file.body).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    assert_eq!(ada.get(&download).await.body, file.body);
}

async fn a_file_is_refused_line_by_line_and_whole(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let upload = format!("{EXAMPLES}/upload");
    let bad = "text,expected_topic,expected_anger\nOne,bills,yes\nTwo,billing,\nTwo,other,\n";
    let refused = uploaded(&mut ada, &upload, "gold.csv", bad).await;
    assert_eq!(refused.status, 422, "{refused:?}");
    for words in [
        "The column expected_anger is of no question: there are topic, angry, urgency.",
        "Line 2: <bdi>the right answer to topic is none of its outcomes: billing, delivery, product",
        "Line 4: <bdi>it has the text of line 3</bdi>",
    ] {
        assert!(refused.body.contains(words), "{words}: {}", refused.body);
    }
    let rows: Vec<_> = (0..101).map(|row| format!("Text {row},yes\n")).collect();
    let long = format!("text,expected_angry\n{}", rows.concat());
    for (name, content, words) in [
        (
            "a.csv",
            "topic\nx\n",
            "It lacks the column text: it has topic.",
        ),
        (
            "a.csv",
            "text\nx\n",
            "No row has a right answer: add a column such as expected_topic.",
        ),
        (
            "a.csv",
            &*long,
            "It has 101 rows, at most 100 examples can be kept.",
        ),
        ("a.csv", "", "Choose a file first."),
    ] {
        let refused = uploaded(&mut ada, &upload, name, content).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        assert!(refused.body.contains(words), "{words}: {}", refused.body);
    }
    let list = ada.get(EXAMPLES).await;
    assert!(
        list.body.contains("There is no example yet."),
        "{}",
        list.body
    );
}

async fn reviewers_read_and_check_and_change_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let own = kept(&mut ada, PRISM, "one").await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let list = post_through(&mut eve, &format!("{EXAMPLES}/check"), &[], &[]).await;
    assert!(list.body.contains("✓ The example holds."), "{}", list.body);
    assert!(!list.body.contains("/upload") && !list.body.contains("/examples/new"));
    let page = eve.get(&own).await;
    assert!(page.body.contains("✓ Holds") && !page.body.contains("/remove\""));
    for address in [EXAMPLES.to_owned(), own.clone(), format!("{own}/remove")] {
        assert_eq!(eve.post(&address, &[]).await.status, 403, "{address}");
    }
    assert_eq!(eve.get(&format!("{EXAMPLES}/download")).await.status, 200);
    // another prism of the account does not have the example
    let other = service.another_prism("Other").await;
    let elsewhere = own.replace(PRISM, &other);
    assert_eq!(ada.get(&elsewhere).await.status, 404);
    assert_eq!(
        ada.post(&format!("{elsewhere}/remove"), &[]).await.status,
        404
    );
}
