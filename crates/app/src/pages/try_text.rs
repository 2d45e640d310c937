//! `/prisms/{slug}/try`: one text, answered by one or two versions.

mod try_form;

use std::sync::Arc;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::ids::ResultId;
use refract_domain::prism::{PrismSelector, PrismVersion, Question, VersionNumber};
use refract_domain::result::ResultActor;
use refract_domain::submission::IdempotencyKey;
use refract_service::prisms::{Prism, PrismError, sample_texts};
use refract_service::results::{
    CreateCall, Provenance, ReadableResult, ResultDetails, ResultFilter, ResultSearch,
    SearchLimits, SearchPage,
};
use refract_service::{CallError, Refract};
use uuid::Uuid;

use self::try_form::{TryForm, TryValues};
use crate::components::{
    NoticeKind, PrismTab, answer_bars, bar, clamped, count, describe_answer, moment, notice,
    prism_address, table,
};
use crate::pages::result::{cut_notice, order_check_form, retry_form};
use crate::replies::{Page, PageError, PageReply};
use crate::requests::{Query, Visit};

/// The most characters of a sample text in its link.
const SAMPLE: usize = 40;

/// Shows the form; if the address names a result, with its texts and answer.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let prism = visit.find_prism().await?;
    let query = &visit.sent.query;
    let first = result_of(&visit, &prism, query.get("result")).await?;
    let second = result_of(&visit, &prism, query.get("beside")).await?;
    let mut form = TryForm::empty(prism.latest_version);
    if let Some(first) = &first {
        form = TryForm::of_result(&first.result);
    } else {
        form.choose(query.get("version").unwrap_or_default());
    }
    let beside = second
        .as_ref()
        .map(|it| it.result.view().version.to_string());
    let against = beside.or(query.get("against").map(str::to_owned));
    form.against = against.unwrap_or_default();
    let version = version_of_form(&visit, &prism, &form).await?;
    let version = version.ok_or(PageError::NotFound)?;
    let sample = query
        .get("sample")
        .and_then(|place| place.parse::<usize>().ok());
    if let Some(text) = sample.and_then(|place| sample_texts(&version).get(place)) {
        form = form.with_text(&version, text);
    }
    let answer = answered(&visit.refract, first.as_ref(), second.as_ref());
    Ok(page(&visit, &prism, &version, &form, &answer)
        .await?
        .reply())
}

/// Answers the typed text with one or two versions.
pub(crate) async fn submit(visit: Visit) -> Result<PageReply, PageError> {
    let prism = visit.find_prism().await?;
    let mut form = TryForm::sent(&visit.sent.form);
    let read = form.read(prism.latest_version);
    let Some(version) = version_of_form(&visit, &prism, &form).await? else {
        form.refuse("version", &CallError::VersionNotFound);
        form.choose(&prism.latest_version.to_string());
        let latest = version_of_form(&visit, &prism, &form).await?;
        let latest = latest.ok_or(PageError::NotFound)?;
        return refused(&visit, &prism, &latest, &form).await;
    };
    let Some(values) = read else {
        return refused(&visit, &prism, &version, &form).await;
    };
    form.check_fields(&version);
    form.ask_about_empty();
    if let Some(against) = values.against {
        let other = visit.refract.prisms().find_version(&prism, against).await;
        match other {
            Ok(other) => form.check_same_fields(&version, &other),
            Err(_) => form.refuse("against", &CallError::VersionNotFound),
        }
    }
    if form.is_refused() {
        return refused(&visit, &prism, &version, &form).await;
    }
    match answer(&visit, &prism, values).await {
        Ok(results) => {
            let ids = ["result", "beside"].into_iter().zip(results);
            let query = ids.fold(Query::default(), |query, (name, result)| {
                query.with(name, Some(&result.id().to_string()))
            });
            let address = format!("{}/try{}", prism_address(&prism), query.in_address());
            Ok(PageReply::see_other(&address))
        }
        Err(CallError::Internal(error)) => Err(error.into()),
        Err(refusal) => {
            form.refuse("", &refusal);
            refused(&visit, &prism, &version, &form).await
        }
    }
}

/// Runs the versions on the text. If one of two fails, its error is the outcome.
async fn answer(
    visit: &Visit,
    prism: &Prism,
    values: TryValues,
) -> Result<Vec<ReadableResult>, CallError> {
    let selector = PrismSelector::Id(prism.id);
    let actor = visit.actor();
    let made = visit.sent.form.id_of_made();
    let Some(against) = values.against else {
        let call = CreateCall {
            prism: selector,
            fields: values.fields,
            context: values.context,
            reference: values.reference,
            version: Some(values.version),
            idempotency_key: Some(key_of_try(made, values.version)),
        };
        return Ok(vec![visit.refract.results().create_as(actor, call).await?]);
    };
    let versions = [values.version, against].map(|version| (version, key_of_try(made, version)));
    let results = visit.refract.prisms().try_on(
        actor,
        &selector,
        &values.fields,
        values.context.as_ref(),
        values.reference.as_ref(),
        &versions,
    );
    results.await.into_iter().collect()
}

/// The idempotency key of a try: sent twice, a form has one answer of a version.
fn key_of_try(made: Uuid, version: VersionNumber) -> IdempotencyKey {
    IdempotencyKey::saved(format!("try:{made}:{version}"))
}

async fn refused(
    visit: &Visit,
    prism: &Prism,
    version: &PrismVersion,
    form: &TryForm,
) -> Result<PageReply, PageError> {
    let nothing = answered(&visit.refract, None, None);
    let page = page(visit, prism, version, form, &nothing).await?;
    Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY).reply())
}

async fn page<'a>(
    visit: &'a Visit,
    prism: &Prism,
    version: &PrismVersion,
    form: &TryForm,
    answer: &Markup,
) -> Result<Page<'a>, PageError> {
    let samples = sample_texts(version);
    let main = html! {
        @if prism.archived_at.is_some() {
            (notice(NoticeKind::Warning, &html! {
                "This prism is archived, so it does not answer. "
                @if visit.visitor.role.may(Role::Editor) { "Restore it on its overview." }
                @else { "An editor can restore it." }
            }))
        }
        @if !samples.is_empty() {
            p.row {
                span.soft { "Sample texts:" }
                @for (place, text) in samples.iter().enumerate() {
                    a href={ (prism_address(prism)) "/try?sample=" (place) } { (clamped(text, SAMPLE)) }
                }
            }
        }
        div.split {
            (form.markup(prism, version))
            (answer)
        }
        (last_tries(visit, prism).await?)
    };
    let title = format!("Try · {}", prism.name);
    let page = visit.prism_page(prism, PrismTab::Try, title, &main);
    Ok(page.script("try.js"))
}

/// The version in the form; `None` if the prism has no such version.
async fn version_of_form(
    visit: &Visit,
    prism: &Prism,
    form: &TryForm,
) -> Result<Option<Arc<PrismVersion>>, PageError> {
    let Some(number) = form.version_number() else {
        return Ok(None);
    };
    match visit.refract.prisms().find_version(prism, number).await {
        Ok(version) => Ok(Some(version)),
        Err(PrismError::VersionNotFound) => Ok(None),
        Err(refusal) => Err(refusal.into()),
    }
}

/// The prism's result that the address names; any other id is not found.
async fn result_of(
    visit: &Visit,
    prism: &Prism,
    id: Option<&str>,
) -> Result<Option<ResultDetails>, PageError> {
    let Some(id) = id else {
        return Ok(None);
    };
    let id = ResultId::parse(id).ok_or(PageError::NotFound)?;
    match visit.refract.results().details(visit.account(), id).await {
        Ok(details) if details.result.prism().id == prism.id => Ok(Some(details)),
        Err(CallError::Internal(error)) => Err(error.into()),
        Ok(_) | Err(_) => Err(PageError::NotFound),
    }
}

/// The most results, and the most of a person's newest ones among which they are looked for: the rows
/// of their file runs are no tries.
const LIMITS: SearchLimits = SearchLimits {
    results: 5,
    candidates: 5_000,
    counted: 0,
};
/// The most characters of a text.
const TEXT: usize = 80;

/// The list; empty before the first try.
async fn last_tries(visit: &Visit, prism: &Prism) -> Result<Markup, PageError> {
    let lens = Arc::new(visit.refract.lenses().of(prism.clone()).await?);
    let own = ResultSearch {
        filter: ResultFilter {
            actor: Some(ResultActor::Person(visit.visitor.person)),
            is_of_run: Some(false),
            ..ResultFilter::default()
        },
        ..ResultSearch::default()
    };
    let results = visit.refract.results();
    let searching = results.search(&lens, &own, SearchPage::Newest, LIMITS);
    let found = searching.await?.results;
    Ok(html! {
        @if !found.is_empty() {
            section aria-label="Your last tries" {
                h2 { "Your last tries" }
                ul.plain {
                    @for row in &found {
                        @let view = row.result.view();
                        @let text = view.fields.as_slice().first().map_or("", |(_, value)| value.as_str());
                        li {
                            (moment(view.created_at)) " "
                            a href={ (prism_address(prism)) "/try?result=" (view.id) } dir="auto" {
                                @if text.trim().is_empty() { "(no text)" } @else { (clamped(text, TEXT)) }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// The model's answer; an explanation before the first try.
fn answered(
    refract: &Refract,
    first: Option<&ResultDetails>,
    second: Option<&ResultDetails>,
) -> Markup {
    html! {
        section #answer aria-label="Answer" {
            @match (first, second) {
                (None, _) => {
                    h2 { "Answer" }
                    p.soft { "Write a text and press Answer: the model's probabilities appear here, and the try is kept as a result like all others." }
                }
                (Some(details), None) => {
                    (one(details, |_| false))
                    (order_check_form(refract, &details.result))
                }
                (Some(first), Some(second)) => { (both(first, second)) }
            }
        }
    }
}

fn one(details: &ResultDetails, differs: impl Fn(&Question) -> bool) -> Markup {
    let (result, view) = (&details.result, details.result.view());
    let Provenance {
        model, protocol, ..
    } = &details.provenance;
    html! {
        h2 { "Version " (view.version) }
        p.soft {
            (count(view.took_ms)) " ms · "
            @if let Some(model) = model { "model " bdi { (model) } " · " }
            @if let Some(protocol) = protocol { "protocol " (protocol) " · " }
            a href={ "/results/" (view.id) } { "This result: tokens, attempts, marks" }
        }
        @if let Some(error) = view.status.error() {
            (notice(NoticeKind::Refused, &html! { "The result is failed: " bdi { (error) } }))
            @match details.retried_as {
                None => (retry_form(result, true)),
                Some(retry) => p { "It was retried: " a href={ "/results/" (retry) } { "the retry" } "." },
            }
        }
        @if let Some(tokens) = details.provenance.truncated_to { (cut_notice(tokens)) }
        (answer_bars(result, differs))
    }
}

fn both(first_details: &ResultDetails, second_details: &ResultDetails) -> Markup {
    let (first, second) = (&first_details.result, &second_details.result);
    let differs = |question: &Question| {
        let words = [first, second].map(|result| described(result, question).map(|it| it.0));
        words.first() != words.last()
    };
    let versions = [first, second].map(|it| format!("Version {}", it.view().version));
    let headings: Vec<_> = ["Question"]
        .into_iter()
        .chain(versions.iter().map(String::as_str))
        .chain(["Difference"])
        .collect();
    let of_first = first.view().questions.iter();
    let only_second = second.view().questions.iter();
    let only_second = only_second.filter(|it| first.version().question(&it.key).is_none());
    let rows = html! {
        @for question in of_first.chain(only_second) {
            tr {
                th scope="row" { bdi { (question.text) } " " code.soft { (question.key) } }
                @for result in [first, second] {
                    td {
                        @match described(result, question) {
                            Some((words, probability)) => {
                                bdi { (words) } " "
                                @if let Some(probability) = probability { (bar(probability, true)) }
                            }
                            None => span.soft { "no answer" }
                        }
                    }
                }
                td { @if differs(question) { strong { "differs" } } @else { "alike" } }
            }
        }
    };
    html! {
        h2 { "Both versions" }
        (table("The answers of both versions", &headings, &rows))
        div.split {
            div { (one(first_details, differs)) }
            div { (one(second_details, differs)) }
        }
    }
}

/// A result's answer to a question: its label with its probability.
fn described<'a>(
    result: &'a ReadableResult,
    question: &Question,
) -> Option<(
    &'a str,
    Option<refract_domain::answer::probability::Probability>,
)> {
    let view = result.view();
    let question = view.questions.iter().find(|it| it.key == question.key)?;
    let answer = view.status.answers()?.get(&question.key)?;
    Some(describe_answer(question, answer, result.columns().lens))
}
