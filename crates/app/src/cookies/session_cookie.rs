//! The session cookie.

use actix_web::HttpRequest;
use cookie::Cookie;
use cookie::time::Duration;
use refract_identity::people::AppUrl;
use refract_identity::people::token::Token;

use crate::cookies::sent_cookies::OwnCookie;

const COOKIE: OwnCookie = OwnCookie {
    plain: "refract",
    bound: "__Host-refract",
};
/// Lifetime of the cookie: the maximum that browsers allow. Only the database decides whether a
/// session is still valid; a cookie that outlives its session lets the app tell an expired session
/// from a stranger.
const KEPT: Duration = Duration::days(400);

/// The session tokens of a request: one, or several if another host planted a cookie.
pub(crate) fn tokens(request: &HttpRequest, app: &AppUrl) -> Vec<Token> {
    COOKIE.tokens(request, app)
}

/// The session cookie, set at sign-in.
pub(crate) fn for_token(token: &Token, app: &AppUrl) -> Cookie<'static> {
    COOKIE.with(token.reveal(), KEPT, app)
}

/// The cookie that deletes the session cookie at sign-out.
pub(crate) fn ended(app: &AppUrl) -> Cookie<'static> {
    COOKIE.with("", Duration::ZERO, app)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_bound_to_the_host_where_there_is_tls() {
        let token = Token::parse(&"t".repeat(43)).unwrap();
        let text = |app: &AppUrl| for_token(&token, app).to_string();
        let secure = AppUrl::parse("https://a").unwrap();
        let expected = "HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=34560000";
        assert_eq!(
            text(&secure),
            format!("__Host-refract={}; {expected}", token.reveal())
        );
        let plain = AppUrl::parse("http://a").unwrap();
        let expected = "HttpOnly; SameSite=Lax; Path=/; Max-Age=34560000";
        assert_eq!(
            text(&plain),
            format!("refract={}; {expected}", token.reveal())
        );
        assert!(ended(&plain).to_string().contains("refract=; "));
    }
}
