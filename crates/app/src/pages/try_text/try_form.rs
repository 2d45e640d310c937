//! The form of a try: typed values, parsed values, validation errors.

use maud::{Markup, html};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::submission::{CallContext, Ref, SentFields, Submission, field_value_errors};
use refract_service::prisms::Prism;
use refract_service::results::ReadableResult;

use crate::components::{FormErrors, FormField, NoticeKind, notice, prism_address};
use crate::requests::{Form, form_id, version_number};

/// The prefix of the fields' input names, the same as in the paths of problems.
const FIELDS: &str = "fields.";

/// The typed values before validation, with their errors.
#[derive(Default)]
pub(super) struct TryForm {
    fields: Vec<(String, String)>,
    context: String,
    version: String,
    /// The version to compare with; empty for none.
    pub(super) against: String,
    reference: String,
    is_comparison: bool,
    /// Whether the person wants an answer although there is no text.
    is_empty_wanted: bool,
    /// Whether there is no text, and the person is asked about it.
    asks_about_empty: bool,
    errors: FormErrors,
}

/// The parsed values.
pub(super) struct TryValues {
    pub(super) fields: SentFields,
    pub(super) context: Option<CallContext>,
    pub(super) version: VersionNumber,
    /// The version to compare with.
    pub(super) against: Option<VersionNumber>,
    pub(super) reference: Option<Ref>,
}

impl TryForm {
    /// An empty form.
    pub(super) fn empty(version: VersionNumber) -> Self {
        Self {
            version: version.to_string(),
            ..Self::default()
        }
    }

    /// The form with the values of a result.
    pub(super) fn of_result(result: &ReadableResult) -> Self {
        let view = result.view();
        let fields = result.submission().fields().iter();
        let fields = fields.map(|(key, value)| (key.to_string(), value.clone()));
        Self {
            fields: fields.collect(),
            context: result.submission().context().unwrap_or_default().to_owned(),
            version: view.version.to_string(),
            reference: view.reference.unwrap_or_default().to_owned(),
            ..Self::default()
        }
    }

    /// The form as submitted.
    pub(super) fn sent(form: &Form) -> Self {
        let fields = form.values().filter_map(|(name, value)| {
            let key = name.strip_prefix(FIELDS)?;
            Some((key.to_owned(), value.to_owned()))
        });
        Self {
            fields: fields.collect(),
            context: form.get("context").to_owned(),
            version: form.get("version").to_owned(),
            against: form.get("against").to_owned(),
            reference: form.get("ref").to_owned(),
            is_comparison: form.get("action") == "compare",
            is_empty_wanted: form.has("empty"),
            asks_about_empty: false,
            errors: FormErrors::default(),
        }
    }

    /// The form with a text in the first field of a version.
    pub(super) fn with_text(mut self, version: &PrismVersion, text: &str) -> Self {
        let field = version.fields().first();
        let value = field.map(|field| (field.key.to_string(), text.to_owned()));
        self.fields = value.into_iter().collect();
        self
    }

    /// Refuses a form without a text, unless the person wants it answered.
    pub(super) fn ask_about_empty(&mut self) {
        let is_blank = self.fields.iter().all(|(_, value)| value.trim().is_empty());
        self.asks_about_empty = is_blank && !self.is_empty_wanted;
        if self.asks_about_empty {
            self.refuse(
                "",
                "There is no text yet. Write one, or have the empty text answered.",
            );
        }
    }

    /// Selects another version; an empty text changes nothing.
    pub(super) fn choose(&mut self, version: &str) {
        if !version.is_empty() {
            version.clone_into(&mut self.version);
        }
    }

    /// The selected version; `None` if it is not a version number.
    pub(super) fn version_number(&self) -> Option<VersionNumber> {
        version_number(self.version.trim())
    }

    /// Adds a validation error of an input; an empty name means the whole form.
    pub(super) fn refuse(&mut self, input: &str, words: &(impl ToString + ?Sized)) {
        self.errors.note(input, words);
    }

    /// Whether anything is wrong.
    pub(super) fn is_refused(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Parses each value, with the specification's error texts; `None` if any is invalid. The
    /// version is the latest unless another is selected.
    pub(super) fn read(&mut self, latest: VersionNumber) -> Option<TryValues> {
        if self.version.is_empty() {
            self.version = latest.to_string();
        }
        for (key, value) in &self.fields {
            let input = format!("{FIELDS}{key}");
            self.errors
                .note_all(&input, value, &field_value_errors(value));
        }
        let context = CallContext::parse(self.context.clone());
        let context = self.errors.read("context", &self.context, context);
        let reference = match self.reference.trim() {
            "" => Ok(None),
            reference => Ref::parse(reference).map(Some),
        };
        let reference = self.errors.read("ref", &self.reference, reference);
        let version = self.version_number();
        let against = version_number(self.against.trim());
        if self.is_comparison && against.is_none() {
            self.refuse("against", "Choose the version to compare with");
        }
        if self.is_comparison && against.is_some() && against == version {
            self.refuse("against", "Choose another version than the first");
        }
        if self.is_refused() {
            return None;
        }
        Some(TryValues {
            fields: SentFields::new(self.fields.clone()),
            context: context?,
            version: version?,
            against: against.filter(|_| self.is_comparison),
            reference: reference?,
        })
    }

    /// Adds an error if the fields are not those of the version, with the specification's text.
    pub(super) fn check_fields(&mut self, version: &PrismVersion) {
        let sent = SentFields::new(self.fields.clone());
        if let Err(mismatch) = Submission::new(sent, None, version.fields()) {
            let words = format!(
                "{mismatch}. The form now has the fields of version {}: look at them and send \
                 it again.",
                self.version
            );
            self.refuse("", &words);
        }
    }

    /// Adds an error if the two compared versions have different fields.
    pub(super) fn check_same_fields(&mut self, version: &PrismVersion, other: &PrismVersion) {
        let keys = |version: &PrismVersion| {
            let keys = version.fields().iter().map(|field| field.key.to_string());
            let mut keys: Vec<_> = keys.collect();
            keys.sort();
            keys
        };
        let (first, second) = (keys(version), keys(other));
        if first != second {
            let words = format!(
                "Versions {} and {} have different fields ({} and {}), so one text cannot be sent \
                 to both. Try each by itself.",
                self.version,
                self.against,
                first.join(", "),
                second.join(", ")
            );
            self.refuse("against", &words);
        }
    }

    /// The form for the fields of a version.
    pub(super) fn markup(&self, prism: &Prism, version: &PrismVersion) -> Markup {
        let is_archived = prism.archived_at.is_some();
        let latest = prism.latest_version.get();
        let numbers: Vec<_> = (1..=latest).rev().map(|it| it.to_string()).collect();
        let labels: Vec<_> = numbers.iter().map(|it| version_label(it, latest)).collect();
        let versions = numbers.iter().zip(&labels);
        let versions: Vec<_> = versions
            .map(|(it, of)| (it.as_str(), of.as_str()))
            .collect();
        let mut others = vec![("", "none")];
        others.extend(&versions);
        let gone = self.fields.iter().filter(|(key, value)| {
            let is_kept = version.fields().iter().any(|it| it.key.as_str() == key);
            !is_kept && !value.is_empty()
        });
        html! {
            form #try method="post" action={ (prism_address(prism)) "/try" } {
                (form_id())
                @if self.is_refused() { (self.summary(version)) }
                @for field in version.fields() {
                    (FormField::new(&format!("{FIELDS}{}", field.key), &field.label)
                        .value(self.value(field.key.as_str())).hint(&format!("Field {}", field.key))
                        .errors(&self.errors).area(6))
                }
                @for (key, value) in gone {
                    details {
                        summary { "What you typed as " code { (key) } ", which this version lacks" }
                        div.text dir="auto" { (value) }
                    }
                }
                (FormField::new("context", "Context").value(&self.context)
                    .hint("Background for this text only; may be empty").errors(&self.errors).area(2))
                (FormField::new("ref", "Ref").value(&self.reference)
                    .hint("Your own reference; may be empty").errors(&self.errors).line("text", "off"))
                (FormField::new("version", "Version").value(&self.version)
                    .errors(&self.errors).choice(&versions))
                div.row {
                    button.main type="submit" name="action" value="answer" disabled[is_archived] { "Answer" }
                    @if self.asks_about_empty {
                        button type="submit" name="empty" value="1" disabled[is_archived] { "Answer the empty text" }
                    } @else {
                        span.hint { kbd { "Ctrl" } " + " kbd { "Enter" } }
                    }
                }
                @if latest > 1 {
                    (FormField::new("against", "Compare with version").value(&self.against)
                        .errors(&self.errors).choice(&others))
                    button type="submit" name="action" value="compare" disabled[is_archived] { "Compare versions" }
                }
                p #progress.hint role="status" aria-live="polite" {}
            }
        }
    }

    fn summary(&self, version: &PrismVersion) -> Markup {
        let label = |input: &str| {
            let key = input.strip_prefix(FIELDS)?;
            let field = version
                .fields()
                .iter()
                .find(|field| field.key.as_str() == key)?;
            Some(field.label.clone())
        };

        notice(
            NoticeKind::Refused,
            &html! {
                "Nothing was asked or saved."
                ul {
                    @for (input, words) in self.errors.all() {
                        li {
                            @if let Some(label) = label(input) { a href={ "#" (input) } { bdi { (label) } } ": " }
                            @else if !input.is_empty() { (label_of(input)) ": " }
                            bdi { (words) }
                        }
                    }
                }
            },
        )
    }

    fn value(&self, key: &str) -> &str {
        let found = self.fields.iter().find(|(sent, _)| sent == key);
        found.map_or("", |(_, value)| value)
    }
}

/// The label of an input that is no field of the prism.
fn label_of(input: &str) -> &str {
    match input {
        "against" => "Compare with version",
        "context" => "Context",
        "ref" => "Ref",
        "version" => "Version",
        other => other,
    }
}

fn version_label(number: &str, latest: i32) -> String {
    if number == latest.to_string() {
        format!("{number} (latest)")
    } else {
        number.to_owned()
    }
}
