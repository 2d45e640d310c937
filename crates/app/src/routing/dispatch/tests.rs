//! Tests of finding a route and of the redirect to sign-in.

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use actix_web::test::TestRequest;

use super::*;

#[test]
fn a_known_address_with_another_method_is_distinguished() {
    assert!(find(&Method::HEAD, "/").is_ok());
    let refused = find(&Method::DELETE, "/").err().unwrap();
    assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
    let refused = find(&Method::GET, "/nothing").err().unwrap();
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
}

#[test]
fn a_word_comes_before_a_varying_segment() {
    for (place, route) in ROUTES.iter().enumerate() {
        let hidden = ROUTES.iter().take(place).find(|earlier| {
            earlier.method == route.method && earlier.matches(route.pattern).is_some()
        });
        let hidden = hidden.map(|earlier| earlier.pattern);
        assert_eq!(hidden, None, "{} is never reached", route.pattern);
    }
}

#[test]
fn the_way_back_is_kept() {
    let sent = PageRequest {
        path: "/prisms/a/results".to_owned(),
        query: Query::parse("status=failed"),
        ..PageRequest::default()
    };
    let request = TestRequest::default().to_http_request();
    let under_way = RequestUnderWay::begin(&request);
    let reply = to_sign_in(&Method::GET, &sent).into_response([], Payload::None, under_way);
    let location = reply.headers().get("location");
    let expected =
        HeaderValue::from_static("/sign-in?then=%2Fprisms%2Fa%2Fresults%3Fstatus%3Dfailed");
    assert_eq!(location, Some(&expected));
}
