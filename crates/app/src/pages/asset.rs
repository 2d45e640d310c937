//! `/assets/{folder}/{name}`: a script, a style or a picture of the app itself.

use actix_web::http::header::{CACHE_CONTROL, HeaderValue};

use crate::assets;
use crate::replies::{PageError, PageReply};
use crate::requests::OpenVisit;

/// Serves an asset. If the address names the folder of another binary, as during an upgrade, the
/// browser may not cache the reply.
pub(crate) fn show(visit: &OpenVisit) -> Result<PageReply, PageError> {
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
