//! What handlers know about a request: its values, visitor and client.

mod arriving_file;
mod carried_form;
mod form;
mod form_id;
mod form_size;
pub(crate) mod origin;
mod page_request;
mod visit;

pub(crate) use self::arriving_file::{ArrivingFile, ArrivingForm, arriving_form};
pub(crate) use self::carried_form::{CarriedForm, is_own_address};
pub(crate) use self::form::Form;
pub(crate) use self::form_id::{form_id, id_of_made};
pub(crate) use self::form_size::FormSize;
pub(crate) use self::page_request::{Day, NO_DAY, PageRequest, PathValues, Query};
pub(crate) use self::visit::{OpenVisit, PageLine, Visit, Visitor, off_event_loop, version_number};
