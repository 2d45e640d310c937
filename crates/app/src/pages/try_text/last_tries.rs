//! The visitor's last results of a prism, to try one of their texts again.

use maud::{Markup, html};
use refract_service::people::ResultActor;
use refract_service::prisms::Prism;
use refract_service::results::{ResultFilter, ResultSearch, SearchLimits, SearchPage};
use std::sync::Arc;

use crate::components::clamped::clamped;
use crate::components::moment::moment;
use crate::components::prism_tabs::prism_address;
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// The most results.
const LIMITS: SearchLimits = SearchLimits {
    results: 5,
    candidates: 6,
    counted: 0,
};
/// The most characters of a text.
const TEXT: usize = 80;

/// The list; empty before the first try.
pub(super) async fn last_tries(visit: &Visit, prism: &Prism) -> Result<Markup, PageError> {
    let lens = Arc::new(visit.refract.lenses().of(prism.clone()).await?);
    let own = ResultSearch {
        filter: ResultFilter {
            actor: Some(ResultActor::Person(visit.visitor.person)),
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
