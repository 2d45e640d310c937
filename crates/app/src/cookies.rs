//! The cookies that identify a session and a browser.

pub(crate) mod browser_cookie;
pub(crate) mod sent_cookies;
pub(crate) mod session_cookie;
