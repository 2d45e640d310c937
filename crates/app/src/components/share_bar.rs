//! A share of results as a bar, drawn like a probability.

use maud::{Markup, html};

use super::number::{count, share};

/// A bar for `part` of `whole`, with the share in percent and the number on hover.
pub(crate) fn share_bar(part: u64, whole: u64) -> Markup {
    let percent = share(part, whole).unwrap_or_else(|| "0.0".to_owned());
    let width = format!("{percent}%");
    html! {
        span.probability title={ (count(part)) " of " (count(whole)) } {
            svg.bar aria-hidden="true" focusable="false" {
                rect.track width="100%" height="100%" {}
                rect.value width=(width) height="100%" {}
            }
            span.number { (percent) " %" }
        }
    }
}
