//! What handlers know about a request: its values, visitor and client. And the size limits of
//! forms, by sender.

mod arriving_file;
mod carried_form;
mod form;
mod page_request;
mod visit;

pub(crate) use self::arriving_file::{ArrivingFile, ArrivingForm, arriving_form};
pub(crate) use self::carried_form::{CarriedForm, is_own_address};
pub(crate) use self::form::{Form, form_id, id_of_made};
pub(crate) use self::page_request::{Day, NO_DAY, PageRequest, PathValues, Query, is_own_origin};
pub(crate) use self::visit::{OpenVisit, PageLine, Visit, Visitor, off_event_loop, version_number};

/// The prefix of the names of values carried along from another form.
const CARRIED: &str = "kept.";

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// The largest form that is kept until its sender has signed in again.
const KEPT_BYTES: usize = 256 * KIB;
/// The largest form for signing in, for signing out, or for a link.
const OWN_BYTES: usize = 16 * KIB;
/// The limit for a sign-in form that carries another form. Browsers percent-encode most bytes of
/// the carried form as three bytes, and its names are longer.
const WITH_KEPT_BYTES: usize = MIB;
/// The largest form: eight fields of 100,000 characters, percent-encoded, with their context.
const WHOLE_BYTES: usize = 16 * MIB;
/// The most bytes of the largest form in a page that gives it back, where an escaped quote takes
/// six bytes.
const WHOLE_SHOWN: usize = 24 * MIB;
/// The most values in a form. The largest prism, with 100 questions of 253 options, has about
/// 76,500 when each option has its inputs.
const WHOLE_VALUES: usize = 100_000;
/// The most values in a form from a sender who is not signed in. The page for editing a prism stays
/// below it, since it folds the questions of larger prisms.
const OTHER_VALUES: usize = 8_192;

/// The size limit of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormSize {
    /// For a signed-in sender.
    Whole,
    /// For a sender whose session has ended: the form is kept until they have signed in again.
    Kept,
    /// For a form that needs no session.
    Own,
    /// For the sign-in form, which may carry another form.
    OwnWithKept,
}

impl FormSize {
    /// The most bytes that are read.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Whole => WHOLE_BYTES,
            Self::Kept => KEPT_BYTES,
            Self::Own => OWN_BYTES,
            Self::OwnWithKept => WITH_KEPT_BYTES,
        }
    }

    /// The most values that are read.
    pub(crate) fn values(self) -> usize {
        match self {
            Self::Whole => WHOLE_VALUES,
            Self::Kept | Self::Own | Self::OwnWithKept => OTHER_VALUES,
        }
    }

    /// Whether a form is within the limit. `shown` is its size in a page, `own` the bytes of its
    /// own values, and `carried` the bytes of another form in it.
    pub(crate) fn holds(self, shown: usize, own: usize, carried: usize) -> bool {
        match self {
            Self::Whole => shown <= WHOLE_SHOWN,
            Self::Kept | Self::Own => true,
            Self::OwnWithKept => own <= OWN_BYTES && carried <= KEPT_BYTES,
        }
    }

    /// The message for a form above the limit.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Whole => {
                "What was sent is larger than 16 MiB. Send less at once; nothing was saved."
            }
            Self::Kept | Self::OwnWithKept => {
                "You are not signed in, and what you sent is larger than the 256 KiB that are kept \
                 until you are. Nothing was saved. Sign in in another tab, then go back in this one \
                 and send it again: a browser keeps what you typed."
            }
            Self::Own => {
                "What was sent is larger than the 16 KiB that this form takes. Nothing was changed."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_for_signing_in_has_room_for_what_a_browser_makes_of_a_kept_one() {
        // each byte of the carried form percent-encoded, and each name longer
        let longer_names = "kept.value.".len() * OTHER_VALUES;
        assert!(3 * KEPT_BYTES + longer_names + OWN_BYTES <= WITH_KEPT_BYTES);
    }
}
