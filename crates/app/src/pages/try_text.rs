//! `/prisms/{slug}/try`: one text, answered by one or two versions.

mod answered;
mod try_form;

use std::sync::Arc;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_domain::ids::ResultId;
use refract_domain::prism::PrismVersion;
use refract_domain::prism::slug::PrismSelector;
use refract_domain::result::actor::ResultActor;
use refract_service::CallError;
use refract_service::prisms::{Prism, PrismError, sample_texts};
use refract_service::results::{
    CreateCall, ReadableResult, ResultDetails, ResultFilter, ResultSearch, SearchLimits, SearchPage,
};

use self::answered::answered;
use self::try_form::{TryForm, TryValues};
use crate::components::{NoticeKind, PrismTab, clamped, moment, notice, prism_address};
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
    let Some(against) = values.against else {
        let call = CreateCall {
            prism: selector,
            fields: values.fields,
            context: values.context,
            reference: values.reference,
            version: Some(values.version),
            idempotency_key: None,
        };
        return Ok(vec![visit.refract.results().create_as(actor, call).await?]);
    };
    let versions = [values.version, against];
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
