//! A request from its head to its reply, on one worker thread of the app.
//!
//! The order of the checks is the same for every route: is there such a route, does the server
//! drain, does an action come from the app itself, who is signed in, what may they do. Only then is
//! the form given to the handler. An action goes on when its client disconnects, so that an answer
//! that was paid for is saved.

use std::rc::Rc;
use std::time::Instant;

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse, web};
use refract_answering::Answering;
use refract_domain::event::EventRequest;
use refract_http_serving::{
    CallInFlight, ClientAddress, Lifecycle, RequestId, X_REQUEST_ID, begin_trace, request_span,
    with_causes,
};
use refract_traces::Traces;
use tracing::Instrument as _;

use crate::app_site::AppSite;
use crate::form::Form;
use crate::page_refusal::PageRefusal;
use crate::page_reply::PageReply;
use crate::path_values::PathValues;
use crate::route::{AppRoute, Door};
use crate::routes::ROUTES;
use crate::sent::{Query, Sent};
use crate::visit::{OpenVisit, Visit};
use crate::visitor::Visitor;
use crate::{origin, policy, refusal_page, session_cookie};

/// What a worker thread needs to answer requests. Clones are cheap.
#[derive(Clone)]
pub(crate) struct Dispatcher {
    pub(crate) answering: Answering,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) traces: Traces,
    pub(crate) site: Rc<AppSite>,
}

impl Dispatcher {
    /// Answers a request, and logs and traces it by its route, never by its path.
    pub(crate) async fn answer(
        mut self,
        request: HttpRequest,
        payload: web::Payload,
    ) -> HttpResponse {
        let began = Instant::now();
        let id = RequestId::of(request.headers());
        let client = ClientAddress::of(&request, &self.site.proxies);
        let found = find(request.method(), request.path());
        let pattern = found.as_ref().map_or("unknown", |(route, _)| route.pattern);
        let mut trace = begin_trace(&self.traces, &request, pattern);
        let span = request_span(&id, &trace);
        if let Some(call) = trace.call() {
            self.answering = self.answering.traced(call);
        }
        let answering = self.reply(found, &request, payload, &id);
        let reply = answering.instrument(span).await;
        trace.end(reply.status().as_u16());
        tracing::info!(
            method = request.method().as_str(),
            route = pattern,
            status = reply.status().as_u16(),
            ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            client = client.map(tracing::field::display),
            request_id = %id,
            trace_id = trace.trace_id().map(tracing::field::display),
            span_id = trace.span_id().map(tracing::field::display),
            "page"
        );
        let mut response = reply.into_response(policy::headers(&self.site.url));
        let id = id.to_header_value();
        response.headers_mut().insert(X_REQUEST_ID, id);
        response
    }

    async fn reply(
        &self,
        found: Result<(&'static AppRoute, PathValues), PageRefusal>,
        request: &HttpRequest,
        payload: web::Payload,
        id: &RequestId,
    ) -> PageReply {
        let mut sent = Sent {
            path: request.path().to_owned(),
            query: Query::parse(request.query_string()),
            ..Sent::default()
        };
        let mut visitor = None;
        let outcome = match found {
            Ok((route, values)) => {
                sent.values = values;
                let id = EventRequest::new(id);
                self.visit(route, request, payload, id, &mut sent, &mut visitor)
                    .await
            }
            Err(refusal) => Err(refusal),
        };
        outcome.unwrap_or_else(|refusal| {
            if let PageRefusal::Internal(_) | PageRefusal::Secret(_) = &refusal {
                tracing::error!(error = with_causes(&refusal), "a page failed");
            }
            if matches!(refusal, PageRefusal::SignedOut) && sent.form.values().is_empty() {
                return to_sign_in(request.method(), &sent);
            }
            refusal_page::show(&refusal, &self.site, visitor.as_ref(), &sent, id)
        })
    }

    /// Makes the checks that every route has, then calls the handler.
    async fn visit(
        &self,
        route: &'static AppRoute,
        request: &HttpRequest,
        payload: web::Payload,
        id: EventRequest,
        sent: &mut Sent,
        visitor: &mut Option<Visitor>,
    ) -> Result<PageReply, PageRefusal> {
        let admitted = self.lifecycle.admit();
        if route.method == Method::POST {
            if !origin::is_own(request.headers(), &self.site.url) {
                return Err(PageRefusal::OtherOrigin);
            }
            sent.form = Form::read(request.headers(), payload.into_inner()).await?;
        }
        let in_flight = admitted?;
        let token = session_cookie::token_of(request, &self.site.url);
        *visitor = match &token {
            Some(token) => Visitor::find(&self.answering, token).await?,
            None => None,
        };
        let handling = match &route.door {
            Door::Open(handle) => handle(OpenVisit {
                visitor: visitor.clone(),
                session: token,
                request: id,
                sent: sent.clone(),
                answering: self.answering.clone(),
                site: Rc::clone(&self.site),
            }),
            Door::For(least, handle) => {
                let visitor = visitor.clone().ok_or(PageRefusal::SignedOut)?;
                if !visitor.role.may(*least) {
                    return Err(PageRefusal::NeedsRole(*least));
                }
                handle(Visit {
                    visitor,
                    request: id,
                    sent: sent.clone(),
                    answering: self.answering.clone(),
                    site: Rc::clone(&self.site),
                })
            }
        };
        run(in_flight, handling).await
    }
}

async fn run(
    in_flight: CallInFlight,
    handling: crate::route::Handling,
) -> Result<PageReply, PageRefusal> {
    in_flight.detached(handling).await?
}

/// The route of a request. HEAD is answered like GET.
fn find(method: &Method, path: &str) -> Result<(&'static AppRoute, PathValues), PageRefusal> {
    let method = if method == Method::HEAD {
        &Method::GET
    } else {
        method
    };
    let mut is_known = false;
    for route in ROUTES {
        if let Some(values) = route.matches(path) {
            if route.method == method {
                return Ok((route, values));
            }
            is_known = true;
        }
    }
    Err(if is_known {
        PageRefusal::MethodNotAllowed
    } else {
        PageRefusal::NotFound
    })
}

/// Sends somebody who is not signed in to the page where they sign in, and back afterwards. What an
/// action is sent to is no page to come back to.
fn to_sign_in(method: &Method, sent: &Sent) -> PageReply {
    let address = (method != Method::POST).then(|| sent.address());
    let then = Query::default().with("then", address.as_deref());
    PageReply::see_other(&format!("/sign-in{}", then.in_address()))
}

#[cfg(test)]
mod tests {
    use actix_web::http::StatusCode;
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[test]
    fn a_known_address_with_another_method_is_told_apart() {
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
        let sent = Sent {
            path: "/prisms/a/results".to_owned(),
            query: Query::parse("status=failed"),
            ..Sent::default()
        };
        let reply = to_sign_in(&Method::GET, &sent).into_response([]);
        let location = reply.headers().get("location");
        let expected =
            HeaderValue::from_static("/sign-in?then=%2Fprisms%2Fa%2Fresults%3Fstatus%3Dfailed");
        assert_eq!(location, Some(&expected));
    }
}
