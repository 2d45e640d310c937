//! The cookies by which a session and a browser are known.

pub(crate) mod browser_cookie;
pub(crate) mod sent_cookies;
pub(crate) mod session_cookie;
