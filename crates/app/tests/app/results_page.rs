//! The app's pages Results and Result, the first page and a prism's page, over HTTP.

use refract_test_stack::browser::forms::{inputs, post, post_through};
use refract_test_stack::browser::joined;
use refract_test_stack::service::{Backend, PRISM, Service, Setup, text};
use refract_test_support::model_server::{Script, ScriptedReply, system_one_answers};
use refract_test_support::on_both;
use serde_json::json;

use crate::lens::{LENS, submitted};

on_both!(
    several_filters_narrow_the_list_and_the_matches_are_counted,
    each_filter_that_is_set_can_be_removed_by_itself,
    the_least_sure_results_come_first,
    a_download_has_the_columns_that_were_chosen,
    a_result_leads_on_within_the_list_that_one_came_from,
    a_newcomer_has_steps_until_they_are_done,
    a_prism_shows_what_it_answered_lately,
    a_copy_of_a_prism_is_a_new_one,
);

const RESULTS: &str = "/prisms/support-triage/results";

/// Messages with the probability that their writer is angry.
const MESSAGES: [(&str, f64); 4] = [
    ("Outrageous, my bike is broken!", 0.9),
    ("Hm, where is my bike?", 0.55),
    ("Thank you, the bike is here.", 0.1),
    ("Outrageous ÄRGER 50 %!", 0.8),
];

/// A service with a result for each message, and the results' ids.
async fn with_messages(backend: Backend) -> (Service, Vec<String>) {
    let reply = ScriptedReply::with(|request| {
        let body = request.text();
        let mut known = MESSAGES.iter().filter(|(words, _)| body.contains(words));
        let mut reply = system_one_answers(request);
        if let Some((_, angry)) = known.next() {
            reply["answers"]["angry"]["noul"] = json!(angry);
        }
        reply
    });
    let setup = Setup {
        script: Script::from(reply),
        ..Setup::default()
    };
    let service = Service::with(backend, setup).await;
    let mut ids = Vec::new();
    for (words, _) in MESSAGES {
        let made = service.create(&json!({"text": words, "ref": "r"})).await;
        ids.push(text(&made.value(), "id"));
    }
    (service, ids)
}

/// The places in `ids` of the results that a page links to, in the page's order.
fn listed(page: &str, ids: &[String]) -> Vec<usize> {
    let links = page.split("href=\"/results/").skip(1);
    let place = |link: &str| ids.iter().position(|id| link.starts_with(id.as_str()));
    links.filter_map(place).collect()
}

async fn several_filters_narrow_the_list_and_the_matches_are_counted(backend: Backend) {
    let (service, ids) = with_messages(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let marked = [("mark.angry", "no"), ("was.angry", "")];
    let address = format!("/results/{}/marks", ids[0]);
    assert_eq!(ada.post(&address, &marked).await.status, 303);
    // Review leads to what each person marked
    let review = ada.get(&format!("/prisms/{PRISM}/review")).await.body;
    let (_, by_ada) = review
        .split_once(&format!("{RESULTS}?marks=by:"))
        .expect("the link");
    let by_ada = format!("marks=by:{}", by_ada.split_once('"').unwrap().0);
    // the list says what was marked, and People and Events lead to it too
    let list = ada.get(&format!("{RESULTS}?{by_ada}")).await.body;
    let marked = "<td class=\"marked\" data-label=\"Marked\"><div><bdi>No</bdi>";
    assert!(list.contains(marked), "{list}");
    assert!(!ada.get(RESULTS).await.body.contains("Marked"));
    let mut olga = joined(&service, "olga@example.com", "owner").await;
    let people = olga.get("/people").await.body;
    assert!(people.contains(&format!("/results?{by_ada}\"")), "{people}");
    let events = olga.get("/events").await.body;
    assert!(events.contains(&format!("/results?{by_ada}\"")), "{events}");
    let by_nobody = "marks=by:00000000-0000-0000-0000-000000000000";
    for (query, expected) in [
        (by_ada.as_str(), vec![0]),
        (by_nobody, vec![]),
        ("value=angry%3Ayes&value=topic%3Abilling", vec![3, 1, 0]),
        ("value=angry%3Ayes&words=outrageous", vec![3, 0]),
        ("words=%C3%A4rger+50", vec![3]),
        ("words=text", vec![]),
        ("answer=angry%3Ano", vec![2]),
        ("marks=any", vec![0]),
        ("marks=none&value=angry%3Ayes", vec![3, 1]),
        ("marks=angry%3Ano", vec![0]),
        ("marks=angry%3Ayes", vec![]),
        ("period=today&ref=r", vec![3, 2, 1, 0]),
    ] {
        let page = ada.get(&format!("{RESULTS}?{query}")).await;
        assert_eq!(page.status, 200, "{query}");
        assert_eq!(listed(&page.body, &ids), expected, "{query}");
        let plural = if expected.len() == 1 { "" } else { "s" };
        let count = format!("{} result{plural}, newest first", expected.len());
        let is_shown = page.body.contains(&count);
        assert_eq!(is_shown, !expected.is_empty(), "{query}: {}", page.body);
        let address = format!("{RESULTS}/download?format=jsonl&{query}");
        assert_eq!(
            ada.download(&address).await.body.lines().count(),
            expected.len(),
            "{query}"
        );
        let counted = ada
            .get(&format!("{RESULTS}/progress?{query}&so_far=7"))
            .await;
        let count = format!("{} results, newest first", expected.len() + 7);
        assert!(counted.body.contains(&count), "{query}: {}", counted.body);
        assert!(!counted.body.contains("data-address"), "{}", counted.body);
    }
}

async fn each_filter_that_is_set_can_be_removed_by_itself(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let page = ada.get(RESULTS).await;
    assert!(!page.body.contains("class=\"chips\""), "{}", page.body);
    let query = "?value=angry%3Ayes&value=topic%3A&words=%3Cb%3E&by=terminal&order=least_sure";
    let page = ada.get(&format!("{RESULTS}{query}")).await;
    let (_, chips) = page.body.split_once("class=\"chips\"").expect("chips");
    let (chips, _) = chips.split_once("</ul>").unwrap();
    let all = [
        "words=%3Cb%3E",
        "value=angry%3Ayes",
        "value=topic%3A",
        "by=terminal",
    ];
    let shown = [
        "words: &lt;b&gt;",
        "<bdi>Is the writer angry?</bdi> <bdi>angry: yes</bdi>",
        "topic: no value",
        "by terminal",
    ];
    for (removed, words) in all.iter().zip(shown) {
        let rest: Vec<_> = all.iter().filter(|one| *one != removed).copied().collect();
        let link = format!(
            "href=\"{RESULTS}?{}&amp;order=least_sure\"",
            rest.join("&amp;")
        );
        let (_, chip) = chips.split_once(&link).expect(&link);
        let (chip, _) = chip.split_once("</a>").unwrap();
        assert!(chip.contains(words), "{words}: {chip}");
    }
    assert_eq!(chips.matches("<li>").count(), all.len());
}

async fn the_least_sure_results_come_first(backend: Backend) {
    let (service, ids) = with_messages(backend).await;
    service.failed(&json!({"text": "a failure"})).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let page = ada.get(&format!("{RESULTS}?order=least_sure")).await;
    assert!(page.body.contains("least sure first"), "{}", page.body);
    // the other answers are alike
    assert_eq!(listed(&page.body, &ids), [1, 3, 2, 0]);
    assert!(page.body.contains("Least sure of"), "{}", page.body);
    let least = "<bdi>Is the writer angry?</bdi> <span class=\"yes\"><bdi>Yes</bdi>";
    assert!(page.body.contains(least), "{}", page.body);
    // the failed one comes last, in the download too
    let download = "/download?format=jsonl&order=least_sure";
    let rows = ada.download(&format!("{RESULTS}{download}")).await.body;
    let statuses: Vec<bool> = rows.lines().map(|row| row.contains("\"failed\"")).collect();
    assert_eq!(statuses, [false, false, false, false, true], "{rows}");
}

async fn a_download_has_the_columns_that_were_chosen(backend: Backend) {
    let (service, _) = with_messages(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let page = ada.get(&format!("{RESULTS}?words=bike")).await.body;
    assert!(page.contains("Download with other columns"), "{page}");
    let download = format!("{RESULTS}/download?words=bike&raw=yes");
    let address = format!("{download}&format=csv&mark=commas&columns=cost&columns=model");
    let rows = ada.download(&address).await.body;
    let header = rows.lines().next().unwrap();
    assert!(header.starts_with("\u{feff}result_id;ref;"), "{rows}");
    assert!(header.ends_with(";angry.yes;angry.no;urgency;urgency.can_wait;urgency.this_week;urgency.today;model;cost"), "{rows}");
    assert!(rows.contains(";yes;0,9;0,1;"), "{rows}");
    assert!(rows.contains(";scripted-1;\r\n"), "{rows}");
    let lines = ada.download(&format!("{download}&format=jsonl")).await.body;
    assert_eq!(lines.matches("\"probability\":0.9").count(), 1, "{lines}");
    let unknown = ada.get(&format!("{RESULTS}/download?columns=price")).await;
    assert_eq!(unknown.status, 404);
}

async fn a_result_leads_on_within_the_list_that_one_came_from(backend: Backend) {
    let (service, ids) = with_messages(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let list = "?list=%3Fwords%3Doutrageous";
    let page = ada.get(&format!("/results/{}{list}", ids[3])).await;
    let next = format!("href=\"/results/{}{list}\" rel=\"next\"", ids[0]);
    assert!(page.body.contains(&next), "{}", page.body);
    assert!(!page.body.contains("rel=\"prev\""), "{}", page.body);
    let back = format!("href=\"{RESULTS}?words=outrageous\"");
    assert!(page.body.contains(&back), "{}", page.body);
    let marked = [("mark.angry", "no"), ("was.angry", "")];
    let address = format!("/results/{}/marks{list}", ids[3]);
    let saved = ada.post(&address, &marked).await;
    let address = saved.header("location").unwrap();
    assert_eq!(address, format!("/results/{}{list}&done=marked", ids[3]));
    let page = ada.get(address).await;
    assert!(
        page.body.contains("Differs from the answer."),
        "{}",
        page.body
    );
    assert!(page.body.contains(&next), "{}", page.body);
    let happened = "<td>Marked <code>angry</code> as <span><bdi>No</bdi></span></td><td><bdi>";
    assert!(page.body.contains(happened), "{}", page.body);
    // a list that cannot be read leads nowhere
    let page = ada
        .get(&format!("/results/{}?list=%3Fversion%3Dx", ids[3]))
        .await;
    assert_eq!(page.status, 200);
    assert!(!page.body.contains("rel=\"next\""), "{}", page.body);
}

async fn a_newcomer_has_steps_until_they_are_done(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let steps = ["Try a text", "Move a cutoff", "Make your own"];
    let left = |page: &str| steps.map(|step| page.contains(step));
    assert_eq!(left(&ada.get("/").await.body), [true; 3]);
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    assert_eq!(left(&eve.get("/").await.body), [true, true, false]);
    let tried = [
        ("fields.text", "a text"),
        ("version", "1"),
        ("action", "answer"),
    ];
    let address = format!("/prisms/{PRISM}/try");
    assert_eq!(ada.post(&address, &tried).await.status, 303);
    assert_eq!(left(&ada.get("/").await.body), [false, true, true]);
    let made = ada.post("/prisms/new", &[("example", "review-moderation")]);
    assert_eq!(made.await.status, 303);
    assert_eq!(left(&ada.get("/").await.body), [false, true, false]);
}

async fn a_prism_shows_what_it_answered_lately(backend: Backend) {
    let (service, ids) = with_messages(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let marked = [("mark.angry", "no"), ("was.angry", "")];
    let address = format!("/results/{}/marks", ids[0]);
    assert_eq!(ada.post(&address, &marked).await.status, 303);
    let page = ada.get(&format!("/prisms/{PRISM}")).await.body;
    for part in [
        "4 answers of the last 14 days",
        "title=\"3 of 4\"",
        "75.0 %",
        "Yes from 50 %.",
        "1 mark",
        "answer=angry%3Ayes",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

async fn a_copy_of_a_prism_is_a_new_one(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let cutoffs = [("columns.1.no_below", "90"), ("columns.1.yes_from", "95")];
    let lens = ada.get(LENS).await;
    submitted(&mut ada, &lens, "/save", &cutoffs).await;
    let page = ada.get(&format!("/prisms/{PRISM}")).await.body;
    let (_, rest) = page.split_once("href=\"/prisms/new/edit?copy=").unwrap();
    let (id, _) = rest.split_once('"').unwrap();
    let copied = ada.get(&format!("/prisms/new/edit?copy={id}")).await;
    assert_eq!(copied.status, 200);
    for part in [
        "Copy of Support triage",
        "What is the message about?",
        "Create the prism",
    ] {
        assert!(copied.body.contains(part), "{part}: {}", copied.body);
    }
    // the lens comes along, without the columns whose question is gone
    let form = inputs(&copied, "action=\"/prisms/new/edit\"");
    let remove = [("act", "questions.0.remove")];
    let without = post_through(&mut ada, "/prisms/new/edit", &form, &remove).await;
    let form = inputs(&without, "action=\"/prisms/new/edit\"");
    let made = post(&mut ada, "/prisms/new/edit", &form, &[("act", "save")]).await;
    let at = "/prisms/copy-of-support-triage";
    let location = format!("{at}?done=created");
    assert_eq!(made.header("location"), Some(location.as_str()), "{made:?}");
    let lens = ada.get(&format!("{at}/lens")).await;
    let form = inputs(&lens, &format!("action=\"{at}/lens\""));
    for (name, percent) in [("columns.0.no_below", "90"), ("columns.0.yes_from", "95")] {
        let found = form.iter().find(|(known, _)| known == name);
        assert_eq!(found.unwrap().1, percent, "{form:?}");
    }
    let unknown = "00000000-0000-0000-0000-000000000000";
    let hidden = ada.get(&format!("/prisms/new/edit?copy={unknown}")).await;
    assert_eq!(hidden.status, 404);
}
