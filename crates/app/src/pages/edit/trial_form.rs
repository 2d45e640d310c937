//! Which stored texts a draft is tried on: the choice in an address, and its form.

use maud::{Markup, html};
use refract_domain::ids::RetestId;
use refract_domain::key::QuestionKey;
use refract_service::lenses::PrismLens;
use refract_service::measures::DrawnFrom;
use refract_service::measures::stored_retests::{StoredRetest, TRIAL_TEXTS, TextChoice};
use refract_service::results::ResultSearch;

use super::editing::Editing;
use crate::components::{FormErrors, FormField, clamped, prism_address};
use crate::pages::results::FilterValues;
use crate::replies::PageError;
use crate::requests::{Query, Visit};

/// The number of texts unless another one is typed.
const USUAL_TEXTS: &str = "100";
/// The most characters of a question in the list of choices.
const TEXT: usize = 60;

/// Which texts the draft is tried on, as they were sent.
pub(super) struct TrialForm {
    /// The values, with the filter of results if they are chosen by one.
    pub(super) query: Query,
    pub(super) texts: Option<u16>,
    pub(super) choice: Option<TextChoice>,
    pub(super) errors: FormErrors,
}

impl TrialForm {
    /// The choice in the address, or the one that is kept with the draft.
    pub(super) async fn read(
        visit: &Visit,
        editing: &Editing,
        lens: &PrismLens,
    ) -> Result<Self, PageError> {
        let sent = &visit.sent.query;
        let kept = Query::parse(&editing.extras.choice);
        let query = if sent.get("choice").is_some() {
            sent
        } else {
            &kept
        };
        let columns = visit.refract.results().searchable_columns(lens).await?;
        let filter = FilterValues::read(query, lens, &columns);
        let typed = query.get("texts").unwrap_or(USUAL_TEXTS);
        let chosen = query.get("choice").unwrap_or("random");
        let is_filter = chosen == "filter";
        let own = if is_filter {
            filter.query.clone()
        } else {
            Query::default()
        };
        let mut form = Self {
            query: own.and("choice", chosen).and("texts", typed),
            texts: typed
                .parse()
                .ok()
                .filter(|texts| TRIAL_TEXTS.contains(texts)),
            choice: None,
            errors: FormErrors::default(),
        };
        if form.texts.is_none() {
            let (least, most) = (TRIAL_TEXTS.start(), TRIAL_TEXTS.end());
            form.errors
                .note("texts", &format!("A whole number from {least} to {most}."));
        }
        if is_filter && filter.has_errors() {
            let gone =
                "The filter names something that this prism does not have: set it anew on Results.";
            form.errors.note("choice", gone);
        } else if is_filter {
            let is_least_sure_first = filter.is_least_sure_first();
            form.choice = Some(found(filter.filter, is_least_sure_first));
        } else {
            form.choice = choice_named(chosen);
            if form.choice.is_none() {
                form.errors.note("choice", "Choose one of the list.");
            }
        }
        Ok(form)
    }

    /// The form, which asks for the price.
    pub(super) fn markup(&self, lens: &PrismLens, before: Option<&StoredRetest>) -> Markup {
        let (least, most) = (TRIAL_TEXTS.start(), TRIAL_TEXTS.end());
        let hint = format!("At most, from {least} to {most}.");
        let value = |name| self.query.get(name).unwrap_or_default();
        let texts = FormField::new("texts", "Number of texts")
            .hint(&hint)
            .value(value("texts"));
        let choice = FormField::new("choice", "Which texts").value(value("choice"));
        let filter = self.query.with("choice", None).with("texts", None);
        let is_filter = value("choice") == "filter";
        let again = before.map(|trial| format!("again:{}", trial.id));
        let options = html! {
            @for (name, words) in CHOICES { (choice.option(name, words)) }
            @if let Some(again) = &again { (choice.option(again, "the same texts as last time")) }
            @if is_filter { (choice.option("filter", "what the filter of Results finds, the newest or least sure first as there")) }
            @for question in lens.latest.questions() {
                (choice.option(&format!("wrong:{}", question.key), &format!("answered wrongly: {}", clamped(&question.text, TEXT))))
            }
        };
        html! {
            form.narrow method="get" action={ (prism_address(&lens.prism)) "/edit/trial" } aria-label="Texts" data-found="estimate" {
                (filter.inputs())
                (choice.errors(&self.errors).select(&options))
                (texts.errors(&self.errors).line("text", "off"))
                button type="submit" { "Show the price" }
            }
        }
    }
}

/// The choices that every prism has, in the order in which people see them.
const CHOICES: [(&str, &str); 3] = [
    ("random", "random ones"),
    ("marked", "marked ones (random and imported marks)"),
    ("least_sure", "the least sure ones"),
];

/// A choice by its name in the address.
fn choice_named(name: &str) -> Option<TextChoice> {
    match name.split_once(':') {
        Some(("wrong", key)) => Some(TextChoice::Wrong(QuestionKey::parse(key).ok()?)),
        Some(("again", id)) => RetestId::parse(id).map(TextChoice::Again),
        Some(_) => None,
        None => match name {
            "random" => Some(DrawnFrom::Answered.into()),
            "marked" => Some(DrawnFrom::Marked.into()),
            "least_sure" => Some(found(ResultSearch::default(), true)),
            _ => None,
        },
    }
}

fn found(search: ResultSearch, is_least_sure_first: bool) -> TextChoice {
    TextChoice::Found {
        search: Box::new(search),
        is_least_sure_first,
    }
}
