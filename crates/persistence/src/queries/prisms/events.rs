//! Events of a prism that several queries save.

use refract_domain::event::{Event, EventAction, EventStamp, EventTarget, LensChangeDetails};
use refract_domain::ids::PrismId;
use refract_domain::lens::Lens;
use refract_domain::prism::DisplayName;

/// The event of a prism's new name.
pub(crate) fn renamed(
    stamp: EventStamp,
    prism: PrismId,
    before: String,
    name: DisplayName,
) -> Event {
    Event {
        from: Some(DisplayName::saved(before).into()),
        to: Some(name.into()),
        ..stamp.event(EventAction::PrismRenamed, EventTarget::Prism(prism))
    }
}

/// The event of a prism's new lens.
pub(crate) fn lens_changed(
    stamp: EventStamp,
    prism: PrismId,
    lens: &Lens,
    details: LensChangeDetails,
) -> Event {
    let action = match lens {
        Lens::Custom(_) => EventAction::LensSet,
        Lens::Automatic => EventAction::LensReset,
    };
    Event {
        from: Some(details.from),
        to: Some(details.to),
        ..stamp.event(action, EventTarget::Prism(prism))
    }
}
