//! A walk along the links of all pages of an account that has one of everything.

use std::collections::HashSet;

use refract_test_stack::browser::forms::attribute;
use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::marked_texts::marked_texts;
use refract_test_stack::service::{Backend, LENS_FILE, PRISM, Service};

use crate::examples::kept;
use crate::retests::{DONE, started};
use crate::runs::{checked, page_with};

/// An account with marked results, right and wrong, a change of the lens, an example, a run and a
/// retest.
async fn account_with_everything() -> Service {
    let service = Service::start(Backend::Sqlite).await;
    service.ask_and_mark(&marked_texts(60)).await;
    service.run(&["lens", "set", PRISM, LENS_FILE]).await.done();
    let mut grace = joined(&service, "grace@example.com", "editor").await;
    kept(&mut grace, PRISM, "an example").await;
    checked(&mut grace, "in.csv", b"text\na text\n").await;
    let retest = started(&mut grace, "").await;
    page_with(&mut grace, &retest, DONE).await;
    drop(grace);
    service
}

/// A page that a link leads to.
struct LinkedPage {
    /// Its address, without the host.
    path: String,
    status: u16,
    body: String,
}

impl LinkedPage {
    /// The tags of the page, without the brackets.
    fn tags(&self) -> impl Iterator<Item = &str> {
        let tags = self.body.split('<').skip(1);
        tags.filter_map(|rest| Some(rest.split_once('>')?.0))
    }
}

/// Follows every link from the first page on, links that differ only in ids and values once.
async fn linked_pages(person: &mut PlainBrowser<'_>) -> Vec<LinkedPage> {
    let mut waiting = vec!["/".to_owned()];
    let (mut seen, mut pages) = (HashSet::new(), Vec::new());
    while let Some(path) = waiting.pop() {
        if !seen.insert(kind(&path)) {
            continue;
        }
        let answer = person.get(&path).await;
        let mut page = LinkedPage {
            path,
            status: answer.status,
            body: String::new(),
        };
        if answer
            .header("content-type")
            .is_some_and(|it| it.starts_with("text/html"))
        {
            page.body = answer.body;
        }
        let links = page.tags().filter(|tag| tag.starts_with("a "));
        let links = links.filter_map(|tag| attribute(tag, "href"));
        let inside = links.filter(|link| link.starts_with('/'));
        waiting.extend(inside.map(|link| link.split('#').next().unwrap().to_owned()));
        pages.push(page);
    }
    pages
}

/// The address without its ids and the values of its query.
fn kind(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is_id = |part: &&str| part.len() == 36 && part.matches('-').count() == 4;
    let parts = path
        .split('/')
        .map(|part| if is_id(&part) { "{id}" } else { part });
    let names = query.split('&').filter_map(|pair| pair.split('=').next());
    format!(
        "{}?{}",
        parts.collect::<Vec<_>>().join("/"),
        names.collect::<Vec<_>>().join("&")
    )
}

#[tokio::test]
async fn ids_are_unique_and_labels_name_a_control() {
    let service = account_with_everything().await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    for page in linked_pages(&mut ada).await {
        let mut controls = HashSet::new();
        let mut ids = HashSet::new();
        for tag in page.tags() {
            let Some(id) = attribute(tag, "id") else {
                continue;
            };
            if [
                "input", "select", "textarea", "output", "button", "meter", "progress",
            ]
            .contains(&tag.split(' ').next().unwrap())
            {
                controls.insert(id.clone());
            }
            assert!(ids.insert(id), "{}: twice: {tag}", page.path);
        }
        let labels = page.tags().filter(|tag| tag.starts_with("label "));
        for id in labels.filter_map(|tag| attribute(tag, "for")) {
            assert!(controls.contains(&id), "{}: a label for {id}", page.path);
        }
    }
}

#[tokio::test]
async fn links_lead_where_the_role_may_go() {
    let service = account_with_everything().await;
    for role in ["reviewer", "editor", "owner"] {
        let mut person = joined(&service, &format!("{role}@example.com"), role).await;
        let pages = linked_pages(&mut person).await;
        let refused = pages.iter().filter(|page| page.status >= 400);
        let refused: Vec<_> = refused.map(|page| (page.status, &page.path)).collect();
        assert!(refused.is_empty(), "{role}: {refused:?}");
        assert!(pages.len() > 40, "{role}: {} pages", pages.len());
    }
}
