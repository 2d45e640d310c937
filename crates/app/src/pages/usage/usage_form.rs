//! The form that chooses the groups and the period.

use maud::{Markup, html};
use refract_domain::ids::ApiKeyId;
use refract_service::prisms::Prism;
use refract_service::results::UsageDimension;

use super::usage_query::{ADDRESS, UsageQuery};

/// The form with the values that were sent, valid or not.
pub(super) fn usage_form(
    query: &UsageQuery,
    prisms: &[Prism],
    keys: &[(ApiKeyId, String)],
) -> Markup {
    let by = query.field("by", "Added up by");
    let prism = query.field("prism", "Of");
    let key = query.field("key", "Made by key");
    html! {
        form.filters method="get" action=(ADDRESS) aria-label="Filters" {
            (by.select(&html! {
                @for dimension in UsageDimension::ALL {
                    (by.option(dimension.name(), label(dimension)))
                }
            }))
            (prism.select(&html! {
                option value="" { "all prisms" }
                @for listed in prisms {
                    (prism.option(&listed.id.to_string(), listed.name.as_str()))
                }
            }))
            (key.select(&html! {
                option value="" { "any, or none" }
                @for (id, label) in keys {
                    (key.option(&id.to_string(), label))
                }
            }))
            (query.field("from", "From (UTC)").line("date", "off"))
            (query.field("to", "To (UTC)").line("date", "off"))
            button.main type="submit" { "Show" }
        }
    }
}

/// A dimension as people name it.
pub(super) fn label(dimension: UsageDimension) -> &'static str {
    match dimension {
        UsageDimension::Prism => "Prism",
        UsageDimension::Key => "Key",
        UsageDimension::Person => "Person",
        UsageDimension::Run => "File run",
        UsageDimension::Model => "Model",
        UsageDimension::Day => "Day",
    }
}
