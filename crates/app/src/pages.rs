//! The pages: for each one a file or folder with its handlers, texts and markup.

pub(crate) mod codes;
#[cfg(debug_assertions)]
pub(crate) mod component_sheet;
pub(crate) mod edit;
pub(crate) mod events;
pub(crate) mod examples;
pub(crate) mod join;
pub(crate) mod keys;
pub(crate) mod lens;
pub(crate) mod me;
pub(crate) mod new_prism;
pub(crate) mod people;
pub(crate) mod prism;
pub(crate) mod prisms;
pub(crate) mod quality;
pub(crate) mod result;
pub(crate) mod results;
pub(crate) mod retest;
pub(crate) mod retests;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod sign_in;
pub(crate) mod sign_in_link;
pub(crate) mod sign_on;
pub(crate) mod sign_out;
pub(crate) mod try_text;
pub(crate) mod uploaded_file;
pub(crate) mod usage;

use actix_web::http::header::{CACHE_CONTROL, HeaderValue};

use crate::assets;
use crate::replies::{PageError, PageReply};
use crate::requests::OpenVisit;

/// A change to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListChange {
    /// The item is at this place now; unchanged if it was already at the end of the list.
    Moved(usize),
    /// The item is gone.
    Removed,
}

/// Applies a button's action (`up`, `down`, `remove`, or `to` with a place) to the item at `from`;
/// `None` for an unknown action or a place outside the list.
fn rearrange<T>(items: &mut Vec<T>, from: usize, button: &[&str]) -> Option<ListChange> {
    let end = items.len().checked_sub(1)?;
    if from > end {
        return None;
    }
    let to = match button {
        ["up"] => from.saturating_sub(1),
        ["down"] => (from + 1).min(end),
        ["to", place] => place.parse::<usize>().ok()?.min(end),
        ["remove"] => {
            items.remove(from);
            return Some(ListChange::Removed);
        }
        _ => return None,
    };
    let item = items.remove(from);
    items.insert(to, item);
    Some(ListChange::Moved(to))
}

/// Serves an asset. If the address names the folder of another binary, as during an upgrade, the
/// browser may not cache the reply.
pub(crate) fn show_asset(visit: &OpenVisit) -> Result<PageReply, PageError> {
    let values = &visit.sent.values;
    let found = assets::find(values.get("name"));
    let (media_type, text) = found.ok_or(PageError::NotFound)?;
    let keeping = if visit.site.assets.is(values.get("folder")) {
        "public, max-age=31536000, immutable"
    } else {
        "no-store"
    };
    let keeping = HeaderValue::from_static(keeping);
    Ok(PageReply::text(media_type, text).with_header(CACHE_CONTROL, keeping))
}
