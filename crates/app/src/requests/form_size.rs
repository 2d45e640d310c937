//! How large a form may be, by who sends it.

/// What the names of values begin with that a form carries along from another one.
pub(crate) const CARRIED: &str = "kept.";

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// The largest form that is kept until somebody has signed in again.
const KEPT_BYTES: usize = 256 * KIB;
/// The largest form for signing in or out, or for taking up a link.
const OWN_BYTES: usize = 16 * KIB;
/// What a form for signing in may have with another one that it carries along. Browsers write most
/// bytes of that one as three, and its names are longer.
const WITH_KEPT_BYTES: usize = MIB;
/// The largest form: eight fields of 100,000 characters, percent-encoded, with their context.
const WHOLE_BYTES: usize = 16 * MIB;
/// What a form of that size may take in a page that gives it back, in which a quote is six bytes.
const WHOLE_SHOWN: usize = 24 * MIB;
/// The most values that a form may have. The largest prism, with 100 questions of 253 options, has
/// about 76,500 when every option has its inputs.
const WHOLE_VALUES: usize = 100_000;
/// The most values of a form of somebody who is not signed in: the page on which a prism is edited has
/// no more, since it folds the questions of larger ones.
const OTHER_VALUES: usize = 8_192;

/// The size that a form may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormSize {
    /// That of somebody who is signed in.
    Whole,
    /// That of somebody whose session is gone: it is kept until they have signed in again.
    CarriedForm,
    /// That of a form of somebody who need not be signed in.
    Own,
    /// That of the form for signing in, which carries another one along.
    OwnWithKept,
}

impl FormSize {
    /// The most bytes that are read.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Whole => WHOLE_BYTES,
            Self::CarriedForm => KEPT_BYTES,
            Self::Own => OWN_BYTES,
            Self::OwnWithKept => WITH_KEPT_BYTES,
        }
    }

    /// The most values.
    pub(crate) fn values(self) -> usize {
        match self {
            Self::Whole => WHOLE_VALUES,
            Self::CarriedForm | Self::Own | Self::OwnWithKept => OTHER_VALUES,
        }
    }

    /// Whether a form has this size which takes `shown` bytes in a page, has `carried` bytes of another
    /// one and `own` bytes beside them.
    pub(crate) fn holds(self, shown: usize, own: usize, carried: usize) -> bool {
        match self {
            Self::Whole => shown <= WHOLE_SHOWN,
            Self::CarriedForm | Self::Own => true,
            Self::OwnWithKept => own <= OWN_BYTES && carried <= KEPT_BYTES,
        }
    }

    /// What to tell somebody who sent more.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Whole => {
                "What was sent is larger than 16 MiB. Send less at once; nothing was saved."
            }
            Self::CarriedForm | Self::OwnWithKept => {
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
        // each byte of it percent-encoded, and each of its names longer
        let longer_names = "kept.value.".len() * OTHER_VALUES;
        assert!(3 * KEPT_BYTES + longer_names + OWN_BYTES <= WITH_KEPT_BYTES);
    }
}
