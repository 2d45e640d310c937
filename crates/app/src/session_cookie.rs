//! The cookie that says who is signed in.

use actix_web::HttpRequest;
use actix_web::http::header::COOKIE;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};

use crate::app_site::AppUrl;

/// How long a browser keeps the cookie: the most that browsers allow. Whether a session still holds
/// is for the database to say; a browser that keeps the cookie longer lets the app tell a session
/// that ended from a stranger.
const KEPT: Duration = Duration::days(400);

/// The cookie's name: with the prefix that binds it to the host where the app has TLS.
fn name(app: &AppUrl) -> &'static str {
    if app.is_secure() {
        "__Host-refract"
    } else {
        "refract"
    }
}

/// The token in the request's cookie.
pub(crate) fn token_of(request: &HttpRequest, app: &AppUrl) -> Option<String> {
    let sent = request.headers().get_all(COOKIE);
    let mut cookies = sent
        .filter_map(|header| header.to_str().ok())
        .flat_map(Cookie::split_parse)
        .flatten();
    let cookie = cookies.find(|cookie| cookie.name() == name(app))?;
    Some(cookie.value().to_owned())
}

/// The cookie that signs in.
pub(crate) fn for_token(token: &str, app: &AppUrl) -> Cookie<'static> {
    cookie(token.to_owned(), KEPT, app)
}

/// The cookie that takes the place of the one before, when somebody signs out.
pub(crate) fn ended(app: &AppUrl) -> Cookie<'static> {
    cookie(String::new(), Duration::ZERO, app)
}

fn cookie(value: String, max_age: Duration, app: &AppUrl) -> Cookie<'static> {
    Cookie::build((name(app), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(app.is_secure())
        .max_age(max_age)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_bound_to_the_host_where_there_is_tls() {
        let secure = AppUrl::parse("https://a").unwrap();
        let text = for_token("t", &secure).to_string();
        assert_eq!(
            text,
            "__Host-refract=t; HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=34560000"
        );
        let plain = AppUrl::parse("http://a").unwrap();
        let text = for_token("t", &plain).to_string();
        assert_eq!(
            text,
            "refract=t; HttpOnly; SameSite=Lax; Path=/; Max-Age=34560000"
        );
        assert!(ended(&plain).to_string().contains("refract=; "));
    }
}
