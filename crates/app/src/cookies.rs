//! The cookies that identify a session, a browser and a begun sign-on.

pub(crate) mod browser_cookie;
pub(crate) mod sent_cookies;
pub(crate) mod session_cookie;
pub(crate) mod sign_on_cookie;
