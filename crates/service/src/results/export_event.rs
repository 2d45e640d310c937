//! The events of exports: who exported which results, in which format.

use refract_domain::event::{EventAction, EventDetail, EventTarget};
use refract_domain::ids::PrismId;
use refract_persistence::{Database, PersistenceError, ResultFilter};

use refract_identity::people::AccountActor;

/// Describes which results are exported, without repeating the searched values.
pub(crate) fn described(
    format: &'static str,
    filter: &ResultFilter,
    is_by_value: bool,
) -> EventDetail {
    let ResultFilter {
        is_ok,
        is_retried,
        since,
        until,
        version,
        model,
        reference,
        actor,
        run,
        is_of_run,
    } = filter;
    let mut parts: Vec<EventDetail> = vec![format.into()];
    parts.extend(is_ok.map(|is_ok| if is_ok { "ok" } else { "failed" }.into()));
    parts.extend(is_retried.map(|is| if is { "retried" } else { "not retried" }.into()));
    parts.extend(since.map(|since| EventDetail::at("since", since)));
    parts.extend(until.map(|until| EventDetail::at("until", until)));
    parts.extend(version.map(EventDetail::version));
    parts.extend(model.as_ref().map(|_| "of one model".into()));
    parts.extend(reference.as_ref().map(|_| "of one ref".into()));
    parts.extend(actor.map(|_| "made by one".into()));
    parts.extend(run.map(EventDetail::file_run));
    parts.extend(is_of_run.map(|is| if is { "of file runs" } else { "of no file run" }.into()));
    parts.extend(is_by_value.then(|| "of one answer".into()));
    EventDetail::list(&parts)
}

/// Saves the event of an export, before the first byte of the export is written.
pub(crate) async fn save(
    database: &Database,
    actor: &AccountActor,
    action: EventAction,
    prism: PrismId,
    what: EventDetail,
) -> Result<(), PersistenceError> {
    let stamp = actor.event_stamp().noted(what);
    let event = stamp.event(action, EventTarget::Prism(prism));
    database.save_event(event).await
}
