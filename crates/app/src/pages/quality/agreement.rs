//! How far people agree who marked the same texts.

use maud::{Markup, html};
use refract_evaluation::measures::agreement::UndefinedAgreement;
use refract_evaluation::report::number;
use refract_service::marks::QueueKind;

use super::quality_view::QualityView;
use crate::components::bar::proportion_range;
use crate::components::number::{count, counted};
use crate::replies::page_error::PageError;
use crate::requests::page_request::Query;
use crate::requests::visit::Visit;

/// The section.
pub(super) async fn section(visit: &Visit, view: &QualityView<'_>) -> Result<Markup, PageError> {
    let (question, filters) = (view.question(), &view.filters.filter);
    let (filter, from) = (filters.results.clone(), filters.from);
    let measuring =
        visit
            .refract
            .measures()
            .agreement(view.history, Some(&question.key), filter, from);
    let measured = measuring.await?;
    let Some(agreement) = measured.first().map(|it| &it.agreement) else {
        return Ok(html! {});
    };
    let shared = Query::default().with("question", Some(question.key.as_str()));
    let shared = view.link_to("/review", &shared.with("shared", Some("1")));
    Ok(html! {
        section #agreement {
            h2 { "Do people agree?" }
            @if agreement.texts == 0 {
                p {
                    "Nobody has marked a text that somebody else marked. Where two people differ, no "
                    "prism can be right: let a second person mark some fifty texts."
                }
                p { a.button href=(shared) { "Mark what others have marked" } }
            } @else {
                p {
                    (count(u64::try_from(agreement.people).unwrap_or(u64::MAX))) " people marked "
                    (counted(agreement.texts, "text")) " in common. Of two marks of one text, "
                    strong { (proportion_range(agreement.pairs)) } " are the same."
                }
                dl.facts {
                    @if agreement.kappa.is_some() {
                        dt { "Cohen's kappa" } dd { (number(agreement.kappa)) }
                    }
                    @if agreement.quadratic_kappa.is_some() {
                        dt { "Quadratic kappa" } dd { (number(agreement.quadratic_kappa)) }
                    }
                    @if agreement.alpha.is_some() {
                        dt { "Krippendorff's alpha" } dd { (number(agreement.alpha)) }
                    }
                }
                p.hint {
                    @match agreement.undefined {
                        Some(undefined @ UndefinedAgreement::AllAlike) => (undefined.message()),
                        Some(UndefinedAgreement::NoPair | UndefinedAgreement::MoreThanTwo) | None => {
                            "1 is full agreement, 0 what chance gives."
                        }
                    }
                }
                @if agreement.pairs.count < agreement.pairs.of {
                    p { a.button href=(view.queue(QueueKind::Differ)) { "Settle where two differ" } }
                }
            }
        }
    })
}
