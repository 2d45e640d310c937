//! `/prisms/{slug}/retests`: stored texts asked again, of another model or another version: a form
//! with an estimate, and the former retests.

use std::sync::Arc;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::prism::VersionNumber;
use refract_service::lenses::PrismLens;
use refract_service::measures::DrawnFrom;
use refract_service::measures::stored_retests::{
    KEPT_RETEST_DAYS, ModelName, RETEST_TEXTS, RetestEstimate, RetestPlan, StartRetestError,
    StoredRetest, TextOrigin, USUAL_RETEST_TEXTS,
};
use refract_service::prisms::Prism;

use crate::components::{
    FormErrors, FormField, NoticeKind, PrismTab, RETEST_TITLE, asked_version, count, counted,
    empty_state, left_out, moment, notice, price, prism_address, retest_address, retest_tag,
    retests_address, stacked_table,
};
use crate::replies::{PageError, PageReply};
use crate::requests::{Form, Query, Visit, version_number};

/// Shows the page, with an estimate if the address has the values of the form.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let lens = Arc::new(visit.find_lens().await?);
    let query = &visit.sent.query;
    let mut form = RetestForm::of_query(query);
    let is_asked = query.get("texts").is_some() && visit.visitor.role.may(Role::Editor);
    let mut estimate = html! {};
    let mut status = StatusCode::OK;
    if is_asked {
        status = StatusCode::UNPROCESSABLE_ENTITY;
        if let Some(plan) = form.plan(&lens.prism) {
            match visit.refract.retests().estimate(&lens, &plan).await {
                Ok(found) => {
                    estimate = estimated(&visit, &lens.prism, &form, &found);
                    status = StatusCode::OK;
                }
                Err(StartRetestError::Internal(error)) => return Err(error.into()),
                Err(refused) => form.refuse(&refused),
            }
        }
    }
    page(&visit, &lens, &form, &estimate, status).await
}

/// Starts a retest.
pub(crate) async fn start(visit: Visit) -> Result<PageReply, PageError> {
    let lens = Arc::new(visit.find_lens().await?);
    let mut form = RetestForm::of_form(&visit.sent.form);
    let mut status = StatusCode::UNPROCESSABLE_ENTITY;
    if let Some(plan) = form.plan(&lens.prism) {
        let retests = visit.refract.retests();
        match retests.start(&visit.actor(), &lens, &plan).await {
            Ok(id) => return Ok(PageReply::see_other(&retest_address(&lens.prism, id))),
            Err(StartRetestError::Internal(error)) => return Err(error.into()),
            Err(refused) => {
                if let StartRetestError::UnderWay(_) | StartRetestError::TooMany = refused {
                    status = StatusCode::CONFLICT;
                }
                form.refuse(&refused);
            }
        }
    }
    page(&visit, &lens, &form, &html! {}, status).await
}

async fn page(
    visit: &Visit,
    lens: &PrismLens,
    form: &RetestForm,
    estimate: &Markup,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let prism = &lens.prism;
    let retests = visit.refract.retests();
    let listed = retests.list(visit.account(), prism.id).await?;
    let model = retests.present_model()?;
    let main = html! {
        p.soft { a href={ (prism_address(prism)) "/quality" } { "Quality" } }
        h2 { (RETEST_TITLE) }
        p {
            "Answered texts are drawn at random and asked again, of another model or another version. "
            "No result is saved; the page shows how many answers flip, towards what, and whether marks prefer the new ones."
        }
        @if prism.archived_at.is_some() {
            (notice(NoticeKind::Warning, &html! { "This prism is archived, so no model is asked." }))
        } @else if visit.visitor.role.may(Role::Editor) {
            (form.markup(prism, &model))
            (estimate)
        }
        @if listed.is_empty() {
            @if estimate.0.is_empty() { (empty_state("Nothing was asked again yet.", &html! {})) }
        } @else {
            h3 { "Former retests" }
            (rows(prism, &listed))
            p.hint { "A retest that ended is deleted after " (counted(KEPT_RETEST_DAYS.unsigned_abs(), "day")) "." }
        }
    };
    let title = format!("{RETEST_TITLE} · {}", prism.name);
    let page = visit.prism_page(prism, PrismTab::Quality, title, &main);
    Ok(page.status(status).reply())
}

/// What a retest would cost, with the button that starts it.
fn estimated(visit: &Visit, prism: &Prism, form: &RetestForm, estimate: &RetestEstimate) -> Markup {
    html! {
        section #estimate {
            h3 { "What it would cost" }
            @if estimate.texts() == 0 {
                p { "There is no answered result that can be asked about again." }
                (left_out(&estimate.drawn))
            } @else {
                (price(estimate, visit.refract.token_price()))
                (left_out(&estimate.drawn))
                form method="post" action=(retests_address(prism)) {
                    (form.hidden())
                    button.main type="submit" { "Start the retest" }
                }
            }
        }
    }
}

fn rows(prism: &Prism, listed: &[StoredRetest]) -> Markup {
    let headings = ["When", "State", "Model", "Version", "Texts", "Flips", "By"];
    let rows = html! {
        @for retest in listed {
            tr {
                th scope="row" { a href=(retest_address(prism, retest.id)) { (moment(retest.made_at)) } }
                td data-label="State" { (retest_tag(retest.state)) }
                td data-label="Model" { bdi { (retest.model) } }
                td data-label="Version" { (asked_version(retest)) }
                td.number data-label="Texts" {
                    (count(retest.counts.answered)) " of " (count(retest.counts.texts))
                    @if retest.drawn.from == TextOrigin::Marked { " marked" }
                }
                td.number data-label="Flips" { @match retest.flips { Some(flips) => (count(flips)), None => "–" } }
                td data-label="By" { @match &retest.by { Some(name) => bdi { (name) }, None => "–" } }
            }
        }
    };
    stacked_table("Retests, newest first", &headings, &rows)
}

/// The name of the checkbox for marked texts only.
const MARKED: &str = "marked";

const fn drawn_from(is_checked: bool) -> DrawnFrom {
    if is_checked {
        DrawnFrom::Marked
    } else {
        DrawnFrom::Answered
    }
}

/// The form with what was typed.
struct RetestForm {
    texts: String,
    from: DrawnFrom,
    model: String,
    /// The number of a version; empty for the one that answered each text.
    version: String,
    errors: FormErrors,
}

impl RetestForm {
    /// The form with the values of the address, or the usual ones.
    fn of_query(query: &Query) -> Self {
        let value = |name| query.get(name).unwrap_or_default().to_owned();
        let texts = query.get("texts").map(ToOwned::to_owned);
        Self {
            texts: texts.unwrap_or_else(|| USUAL_RETEST_TEXTS.to_string()),
            from: drawn_from(query.get(MARKED).is_some()),
            model: value("model"),
            version: value("version"),
            errors: FormErrors::default(),
        }
    }

    /// The submitted form.
    fn of_form(form: &Form) -> Self {
        Self {
            texts: form.get("texts").to_owned(),
            from: drawn_from(form.has(MARKED)),
            model: form.get("model").to_owned(),
            version: form.get("version").to_owned(),
            errors: FormErrors::default(),
        }
    }

    /// What is to be asked; `None` if a value cannot be used, with its error noted.
    fn plan(&mut self, prism: &Prism) -> Option<RetestPlan> {
        let texts = self.texts.trim().parse();
        let texts = texts.ok().filter(|texts| RETEST_TEXTS.contains(texts));
        if texts.is_none() {
            let (least, most) = (RETEST_TEXTS.start(), count(*RETEST_TEXTS.end()));
            let range = format!("A whole number from {least} to {most}.");
            self.errors.note("texts", &range);
        }
        let model = match self.model.trim() {
            "" => None,
            typed => match typed.parse::<ModelName>() {
                Ok(name) => Some(name),
                Err(error) => {
                    self.errors.note("model", &error);
                    None
                }
            },
        };
        let version = version_number(&self.version);
        let is_known = match version {
            None => self.version.is_empty(),
            Some(number) => number <= prism.latest_version,
        };
        if !is_known {
            self.errors
                .note("version", "The prism has no such version.");
        }
        let texts = texts.filter(|_| self.errors.is_empty())?;
        Some(RetestPlan {
            texts,
            from: self.from.into(),
            model,
            version: version.into(),
        })
    }

    /// Notes why nothing was started.
    fn refuse(&mut self, refused: &StartRetestError) {
        self.errors.note("", refused);
    }

    /// The form, which asks for an estimate.
    fn markup(&self, prism: &Prism, present_model: &str) -> Markup {
        let (least, most) = (RETEST_TEXTS.start(), RETEST_TEXTS.end());
        let hint = format!("From {least} to {}.", count(*most));
        let texts = FormField::new("texts", "Texts")
            .hint(&hint)
            .value(&self.texts);
        let texts = texts.errors(&self.errors);
        let model = FormField::new("model", "Model");
        let model = model.hint("Its name at the node's own server; empty for the present one.");
        let model = model.placeholder(present_model).value(&self.model);
        let version = FormField::new("version", "Version").value(&self.version);
        let latest = prism.latest_version.get();
        let versions: Vec<_> = (1..=latest).rev().filter_map(VersionNumber::new).collect();
        let options = html! {
            (version.option("", "The version that answered each text"))
            @for number in &versions { (version.option(&number.to_string(), &format!("Version {number}"))) }
        };
        let refused = self.errors.of("");
        html! {
            @if !refused.is_empty() { (notice(NoticeKind::Refused, &html! { (refused) })) }
            form.narrow method="get" action=(retests_address(prism)) aria-label="Retest" {
                (texts.line("text", "off"))
                p { label.check {
                    input type="checkbox" name=(MARKED) checked[self.from == DrawnFrom::Marked];
                    " Marked texts only (random and imported marks): these say which answers are better"
                } }
                (model.errors(&self.errors).line("text", "off"))
                (version.clone().errors(&self.errors).select(&options))
                button type="submit" { "Estimate the cost" }
            }
        }
    }

    /// The values as hidden inputs of the form that starts the retest.
    fn hidden(&self) -> Markup {
        html! {
            @for (name, value) in [("texts", &self.texts), ("model", &self.model), ("version", &self.version)] {
                input type="hidden" name=(name) value=(value);
            }
            @if self.from == DrawnFrom::Marked { input type="hidden" name=(MARKED) value="on"; }
        }
    }
}
