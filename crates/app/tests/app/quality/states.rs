//! What the page of a question's quality shows for few marks, chosen results, wrong answers and
//! large prisms.

use refract_test_stack::browser::joined;
use refract_test_stack::marked_texts::{json_lines, marked_texts, scripted_side};
use refract_test_stack::service::{Backend, PRISM, Service, text};
use refract_test_support::on_both;
use serde_json::{Map, Value, json};

use super::{QUALITY, figure, page};

on_both!(
    too_few_marks_lead_to_the_random_queue,
    marks_of_chosen_results_count_only_on_request,
    wrong_answers_stand_beside_the_words_of_their_option,
    a_filter_that_cannot_be_read_measures_nothing,
    a_page_of_many_questions_and_options_is_small,
);

async fn too_few_marks_lead_to_the_random_queue(backend: Backend) {
    let service = Service::start(backend).await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let queue = format!("/prisms/{PRISM}/review?queue=random&amp;question=angry");
    let none = page(&mut eve, "?question=angry").await;
    assert!(
        none.contains(&queue) && none.contains("30 marks would give ± "),
        "{none}"
    );
    assert!(!none.contains("data-figure"), "{none}");
    let mut texts = marked_texts(12);
    for text in &mut texts {
        // the answers are the opposite of the marks, so that no cutoff is right often
        text.is_angry = text.angry_percent < 50;
    }
    service.ask_and_mark(&texts).await;
    let few = page(&mut eve, "?question=angry").await;
    assert!(
        few.contains(&queue) && few.contains("Only 12 marks"),
        "{few}"
    );
    assert!(few.contains(" more would give ± "), "{few}");
    assert!(few.contains("none from 12 marks, mark more"), "{few}");
    let none = page(&mut eve, "?question=angry&version=2").await;
    assert!(none.contains("No mark of this question matches."), "{none}");
}

async fn marks_of_chosen_results_count_only_on_request(backend: Backend) {
    let service = Service::start(backend).await;
    let id = text(
        &service.create(&json!({"text": "a text"})).await.value(),
        "id",
    );
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let marked = eve
        .post(&format!("/results/{id}/marks"), &[("mark.angry", "no")])
        .await;
    assert_eq!(marked.status, 303, "{marked:?}");
    let left_out = page(&mut eve, "?question=angry").await;
    assert!(!left_out.contains("data-figure"), "{left_out}");
    assert!(
        left_out.contains("1 mark, but not of results drawn at random"),
        "{left_out}"
    );
    let all = page(&mut eve, "?question=angry&marks=all").await;
    assert!(all.contains("no fair sample"), "{all}");
    let line = &service
        .evaluated(&["--question", "angry", "--marks", "all"])
        .await[0];
    assert_eq!(json!(figure(&all, "accuracy")), line["accuracy"]);
}

async fn wrong_answers_stand_beside_the_words_of_their_option(backend: Backend) {
    let service = Service::start(backend).await;
    let mut texts = marked_texts(25);
    for text in &mut texts {
        (text.topic, text.marked_topic) = (1, 0);
    }
    service.ask_and_mark(&texts).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let first = page(&mut ada, "?question=topic&option=billing").await;
    let (_, wrong) = first.split_once("id=\"wrong\"").unwrap();
    assert!(
        wrong.contains("charges"),
        "the option's description: {wrong}"
    );
    let edit = format!("/prisms/{PRISM}/edit#questions.0.options.0");
    assert!(wrong.contains(&edit), "{wrong}");
    let form = ada.get(&format!("/prisms/{PRISM}/edit")).await.body;
    assert!(form.contains("id=\"questions.0.options.0"), "{form}");
    assert_eq!(wrong.matches("href=\"/results/").count(), 20, "{wrong}");
    assert!(
        wrong.contains("{&quot;a&quot;"),
        "texts are escaped: {wrong}"
    );
    let (_, older) = wrong.split_once("rel=\"next\" href=\"").unwrap();
    let (older, _) = older.split_once('"').unwrap();
    let older = ada
        .get(&older.replace("&amp;", "&").replace("#wrong", ""))
        .await
        .body;
    let (_, wrong) = older.split_once("id=\"wrong\"").unwrap();
    assert_eq!(wrong.matches("href=\"/results/").count(), 5, "{wrong}");
}

async fn a_filter_that_cannot_be_read_measures_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    for (query, status) in [
        ("?version=x", 422),
        ("?marks=some", 422),
        ("?from=yesterday", 422),
        ("?question=nothing", 404),
    ] {
        let answer = eve.get(&format!("{QUALITY}{query}")).await;
        assert_eq!(answer.status, status, "{query}");
    }
    let file = eve.get(&format!("{QUALITY}/download?question=topic")).await;
    assert_eq!(file.body, "marked,predicted,count\r\n");
}

/// A prism of 99 Yes / No questions and one choice of 253 options.
fn large_prism() -> Value {
    let options: Vec<_> = (0..253)
        .map(|number| json!({"key": format!("option_{number}"), "label": format!("The option number {number}")}))
        .collect();
    let choice =
        json!({"key": "choice", "type": "choice", "text": "Which one?", "options": options});
    let others = (0..99).map(|number| {
        json!({"key": format!("question_{number}"), "type": "yes_no", "text": format!("Is it so, in case {number}?")})
    });
    let questions: Vec<_> = std::iter::once(choice).chain(others).collect();
    json!({"name": "Large", "fields": [{"key": "text", "label": "Text"}], "questions": questions})
}

async fn a_page_of_many_questions_and_options_is_small(backend: Backend) {
    let service = Service::start(backend).await;
    let file = service.file("large.json", &large_prism());
    service.run(&["prism", "create", &file]).await.done();
    service.model.then_always(scripted_side("m1", "a"));
    let rows = (0..60_usize).map(|number| {
        let mut answers = Map::new();
        let chosen = format!("option_{}", number * 4);
        let confidence = 0.3 + 0.01 * f64::from(u32::try_from(number).unwrap());
        answers.insert("choice".to_owned(), json!({"type": "choice", "choice": chosen,
            "confidence": confidence, "probabilities": {&chosen: confidence, "option_1": 0.1}}));
        for question in 0..99 {
            answers.insert(format!("question_{question}"), json!({"type": "noul", "noul": 0.3}));
        }
        json!({"ref": format!("t{number}"), "expected_choice": format!("option_{}", number * 4 % 25),
            "text": json!({"a": answers, "words": "Words. ".repeat(300)}).to_string()})
    });
    let rows: Vec<_> = rows.collect();
    std::fs::write(service.folder.path().join("rows.jsonl"), json_lines(&rows)).unwrap();
    let asked = [
        "run",
        "large",
        "rows.jsonl",
        "--output",
        "out.jsonl",
        "--concurrency",
        "4",
    ];
    service.run(&asked).await.done();
    service
        .run(&["marks", "import", "large", "rows.jsonl"])
        .await
        .done();
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let page = eve.get("/prisms/large/quality").await;
    assert!(figure(&page.body, "accuracy").is_some());
    assert!(page.body.len() < 100_000, "{} bytes", page.body.len());
}
