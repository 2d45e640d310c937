//! The form of a retest: how many texts, of which model and version.

use maud::{Markup, html};
use refract_domain::prism::VersionNumber;
use refract_service::measures::stored_retests::{
    ModelName, RETEST_TEXTS, RetestPlan, StartRetestError, USUAL_RETEST_TEXTS,
};
use refract_service::prisms::Prism;

use crate::components::field::FormField;
use crate::components::form_errors::FormErrors;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::count;
use crate::components::retest::retests_address;
use crate::requests::form::Form;
use crate::requests::page_request::Query;
use crate::requests::visit::version_number;

/// The form with what was typed.
pub(super) struct RetestForm {
    texts: String,
    model: String,
    /// The number of a version; empty for the one that answered each text.
    version: String,
    errors: FormErrors,
}

impl RetestForm {
    /// The form with the values of the address, or the usual ones.
    pub(super) fn of_query(query: &Query) -> Self {
        let value = |name| query.get(name).unwrap_or_default().to_owned();
        let texts = query.get("texts").map(ToOwned::to_owned);
        Self {
            texts: texts.unwrap_or_else(|| USUAL_RETEST_TEXTS.to_string()),
            model: value("model"),
            version: value("version"),
            errors: FormErrors::default(),
        }
    }

    /// The submitted form.
    pub(super) fn of_form(form: &Form) -> Self {
        Self {
            texts: form.get("texts").to_owned(),
            model: form.get("model").to_owned(),
            version: form.get("version").to_owned(),
            errors: FormErrors::default(),
        }
    }

    /// What is to be asked; `None` if a value cannot be used, with its error noted.
    pub(super) fn plan(&mut self, prism: &Prism) -> Option<RetestPlan> {
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
            model,
            version,
        })
    }

    /// Notes why nothing was started.
    pub(super) fn refuse(&mut self, refused: &StartRetestError) {
        self.errors.note("", refused);
    }

    /// The form, which asks for an estimate.
    pub(super) fn markup(&self, prism: &Prism, present_model: &str) -> Markup {
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
                (model.errors(&self.errors).line("text", "off"))
                (version.clone().errors(&self.errors).select(&options))
                button type="submit" { "Estimate the cost" }
            }
        }
    }

    /// The values as hidden inputs of the form that starts the retest.
    pub(super) fn hidden(&self) -> Markup {
        html! {
            @for (name, value) in [("texts", &self.texts), ("model", &self.model), ("version", &self.version)] {
                input type="hidden" name=(name) value=(value);
            }
        }
    }
}
