//! The security headers of every reply.

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use refract_service::people::AppUrl;

/// Content security policy: scripts, styles, pictures and requests only from the app itself. No
/// inline script or style, no other origin, no framing, no plug-in, no form sent elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// The headers of every reply.
pub(crate) fn headers(app: &AppUrl) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    let all = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // for browsers that do not know `frame-ancestors`
        (X_FRAME_OPTIONS, "DENY"),
        // an address may contain a search term
        (REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        // pages show private texts: no cache keeps them, and the back button shows none after
        // signing out
        (CACHE_CONTROL, "no-store"),
    ];
    let secure = app
        .is_secure()
        .then_some((STRICT_TRANSPORT_SECURITY, "max-age=31536000"));
    all.into_iter()
        .chain(secure)
        .map(|(name, value)| (name, HeaderValue::from_static(value)))
}
