//! The facts about a result other than its answers and texts.

use maud::{Markup, html};
use refract_domain::answer::probability::Probability;
use refract_service::results::ResultDetails;

use crate::components::moment::moment;
use crate::components::number::{count, percent};

/// The facts as a list of terms, with the actor that created the result.
pub(super) fn facts(details: &ResultDetails, actor: &Markup) -> Markup {
    let view = details.result.view();
    let provenance = &details.provenance;
    let counts = [
        ("Tokens read", provenance.input_tokens),
        ("Tokens from the cache", provenance.cached_tokens),
        ("Tokens written", provenance.output_tokens),
        ("Model requests", provenance.requests.map(u64::from)),
        ("Attempts", provenance.attempts.map(u64::from)),
    ];
    html! {
        dl.facts {
            dt { "Id" } dd { code { (view.id) } }
            @if let Some(reference) = view.reference { dt { "Ref" } dd { bdi { (reference) } } }
            dt { "Status" } dd { (view.status.name()) }
            dt { "Version" } dd { (view.version) }
            dt { "Saved" } dd { (moment(view.created_at)) }
            dt { "Took" } dd { (count(view.took_ms)) " ms" }
            dt { "Made by" } dd { (actor) }
            @if let Some(protocol) = &provenance.protocol { dt { "Protocol" } dd { (protocol) } }
            @if let Some(model) = &provenance.model { dt { "Model" } dd { bdi { (model) } } }
            @if let Some(prompts) = provenance.prompt_version { dt { "Prompts" } dd { "version " (prompts) } }
            @for (name, number) in counts {
                @if let Some(number) = number { dt { (name) } dd { (count(number)) } }
            }
            @if let Some(cost) = provenance.cost { dt { "Cost" } dd { (cost) } }
            @if let Some(request) = &provenance.host_request_id { dt { "Request id of the host" } dd { bdi { (request) } } }
            @if let Some(on_codes) = provenance.on_codes { dt { "Read from codes" } dd { (share(on_codes)) " of the probability" } }
            @if let Some(unread) = provenance.unread { dt { "Split evenly" } dd { (share(unread)) " of that" } }
        }
    }
}

fn share(probability: Probability) -> String {
    format!("{} %", percent(probability))
}
