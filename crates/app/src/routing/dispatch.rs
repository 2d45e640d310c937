//! A request from its head to its reply, on one worker thread of the app.
//!
//! Every route has the same checks in the same order: route, origin of an action (CSRF), session,
//! size limit of the form, draining, one-time codes, role. Only then does the handler get the form. An action
//! continues when its client disconnects, so that a paid answer is saved.

use std::rc::Rc;

use actix_web::http::Method;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse, web};
use refract_domain::account::Role;
use refract_domain::event::EventRequest;
use refract_http_serving::{
    BodyReader, CallInFlight, Draining, HeldRoom, Lifecycle, RequestId, RequestRecord,
    RequestRecorder, RequestUnderWay, SentBody, X_REQUEST_ID, discard_body, with_causes,
};
use refract_identity::people::AppUrl;
use refract_service::{InternalError, Refract};
use tracing::Instrument as _;

use crate::app_site::AppSite;
use crate::cookies;
use crate::cookies::BegunSignOns;
use crate::replies::{PageError, PageReply, refusal_page};
use crate::requests::{
    Form, PageLine, PageRequest, PathValues, Query, Visit, Visitor, arriving_form, is_own_origin,
};
use crate::routing::routes::ROUTES;
use crate::routing::{Access, AppRoute};

/// Most people whom a refusal names.
const MOST_NAMED: usize = 3;

/// What a worker thread needs to answer requests. Clones are cheap.
#[derive(Clone)]
pub(crate) struct Dispatcher {
    pub(crate) refract: Refract,
    pub(crate) bodies: BodyReader,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) recorder: Rc<RequestRecorder>,
    pub(crate) site: Rc<AppSite>,
}

/// What is known about a request before its handler runs.
struct Arrival<'a> {
    /// `Err` while the server drains.
    admitted: Result<CallInFlight, Draining>,
    /// `Err` if the database failed, so that the visitor is unknown.
    visitor: Result<Option<Visitor>, InternalError>,
    form: Result<Form, PageError>,
    /// The memory reservation for a page made from the form.
    room: Option<HeldRoom>,
    /// The body of a route that takes a file: its handler reads it.
    file: Option<SentBody<'a>>,
}

impl Dispatcher {
    /// Answers a request; logs, counts and traces it by its route, never by its path.
    pub(crate) async fn answer(
        mut self,
        request: HttpRequest,
        payload: web::Payload,
    ) -> HttpResponse {
        let under_way = RequestUnderWay::begin(&request);
        let mut payload = payload.into_inner();
        self.site.look_at_proxy(request.headers());
        let found = find(request.method(), request.path());
        let pattern = found.as_ref().map_or("unknown", |(route, _)| route.pattern);
        let record = self.recorder.begin(&request, pattern, PageLine::default());
        if let Some(call) = record.trace().call() {
            self.refract = self.refract.traced(call);
        }
        let body = SentBody {
            reader: &self.bodies,
            gate: under_way.gate(),
            payload: &mut payload,
        };
        let sent = PageRequest {
            path: request.path().to_owned(),
            query: Query::parse(request.query_string()),
            client: cookies::client(&request, record.client(), &self.site),
            sessions: cookies::session_tokens(&request, &self.site.url),
            sign_on: BegunSignOns::of(&request, &self.site.url),
            ..PageRequest::default()
        };
        let refract = self.reply(found, &request, body, sent, &record);
        let reply = refract.instrument(record.span()).await;
        let id = record.id().to_header_value();
        record.end(reply.status().as_u16());
        discard_body(request.headers(), under_way.gate(), &mut payload).await;
        let policy = policy_headers(&self.site.url);
        let mut response = reply.into_response(policy, payload, under_way);
        response.headers_mut().insert(X_REQUEST_ID, id);
        response
    }

    /// The reply. The visitor is added to the record as soon as they are known.
    async fn reply(
        &self,
        found: Result<(&'static AppRoute, PathValues), PageError>,
        request: &HttpRequest,
        body: SentBody<'_>,
        mut sent: PageRequest,
        record: &RequestRecord<PageLine>,
    ) -> PageReply {
        let id = record.id();
        let (route, values) = match found {
            Ok(found) => found,
            Err(refusal) => return self.refused(&refusal, request.method(), None, &sent, id),
        };
        sent.values = values;
        let Arrival {
            admitted,
            visitor,
            form,
            room,
            file,
        } = self
            .arrive(route, request, body, &sent, record.line())
            .await;
        let known = visitor.as_ref().ok().cloned().flatten();
        let unread = match form {
            Ok(form) => {
                sent.form = form;
                None
            }
            Err(refusal) => Some(refusal),
        };
        let sent = Rc::new(sent);
        let outcome = match (unread, admitted, visitor) {
            (Some(refusal), _, _) => Err(refusal),
            (None, Err(draining), _) => Err(draining.into()),
            (None, Ok(_), Err(error)) => Err(error.into()),
            (None, Ok(in_flight), Ok(visitor)) => {
                let arriving = file.map(|body| (request.headers(), body));
                self.handle(route, in_flight, visitor, arriving, &sent, id)
                    .await
            }
        };
        let reply = outcome.unwrap_or_else(|refusal| {
            self.refused(&refusal, request.method(), known.as_ref(), &sent, id)
        });
        reply.in_room(room)
    }

    /// Makes the checks that precede the form, and reads the form.
    async fn arrive<'a>(
        &self,
        route: &'static AppRoute,
        request: &HttpRequest,
        body: SentBody<'a>,
        sent: &PageRequest,
        line: &PageLine,
    ) -> Arrival<'a> {
        let admitted = self.lifecycle.admit();
        let is_action = route.method == Method::POST;
        let mut arrival = Arrival {
            visitor: Ok(None),
            form: Ok(Form::default()),
            room: None,
            file: None,
            admitted,
        };
        if is_action && !is_own_origin(request.headers(), &self.site.url) {
            arrival.form = Err(PageError::OtherOrigin);
            return arrival;
        }
        // while the server drains, it still gives forms back, but serves no pages
        if is_action || arrival.admitted.is_ok() {
            self.find_visitor(&mut arrival, sent, line).await;
        }
        if route.takes_file() {
            arrival.file = Some(body);
        } else if is_action {
            let was_signed_in = matches!(arrival.visitor, Ok(Some(_)));
            let size = route.form_size(was_signed_in);
            arrival.form = Form::read(request.headers(), body, size).await;
            if let Ok(form) = &arrival.form
                && let Some(bytes) = form.page_bytes()
            {
                let room = self.bodies.budget.room_for_page(bytes);
                arrival.room = self.lifecycle.unless_draining(room).await.ok();
            }
            if was_signed_in {
                self.look_again(route, &mut arrival, sent, line).await;
            }
        }
        arrival
    }

    /// Looks the session up again: it may have ended while the form arrived.
    async fn look_again(
        &self,
        route: &'static AppRoute,
        arrival: &mut Arrival<'_>,
        sent: &PageRequest,
        line: &PageLine,
    ) {
        self.find_visitor(arrival, sent, line).await;
        let size = route.form_size(matches!(arrival.visitor, Ok(Some(_))));
        if matches!(&arrival.form, Ok(form) if form.is_larger_than(size)) {
            arrival.form = Err(PageError::FormTooLarge(size));
        }
    }

    /// Finds the visitor by the request's cookies.
    async fn find_visitor(&self, arrival: &mut Arrival<'_>, sent: &PageRequest, line: &PageLine) {
        arrival.visitor = Visitor::find(&self.refract, &sent.sessions).await;
        let visitor = arrival.visitor.as_ref().ok().and_then(Option::as_ref);
        line.person.set(visitor.map(|visitor| visitor.person));
    }

    /// Calls the route's handler, if the visitor may use it.
    async fn handle(
        &self,
        route: &'static AppRoute,
        in_flight: CallInFlight,
        visitor: Option<Visitor>,
        file: Option<(&HeaderMap, SentBody<'_>)>,
        sent: &Rc<PageRequest>,
        id: &RequestId,
    ) -> Result<PageReply, PageError> {
        let handling = match &route.access {
            Access::Open(handler) => handler.handle(self.visit(visitor, sent, id)),
            Access::For(least, handler) => {
                let visitor = self.with_role(route, visitor, *least).await?;
                handler.handle(self.visit(visitor, sent, id))
            }
            Access::Upload(least, handler) => {
                let visitor = self.with_role(route, visitor, *least).await?;
                let (headers, body) = file.ok_or(PageError::NoForm)?;
                let (pump, form) = arriving_form(headers, self.site.upload_bytes);
                let handling = handler.handle_upload(self.visit(visitor, sent, id), form);
                // without its client the file does not arrive, so the handler ends soon
                let handling = in_flight.detached(handling);
                return tokio::join!(pump.pump(headers, body), handling).1?;
            }
        };
        in_flight.detached(handling).await?
    }

    /// The visitor, if they have the one-time codes that their account requires, and this role or a
    /// higher one.
    async fn with_role(
        &self,
        route: &AppRoute,
        visitor: Option<Visitor>,
        least: Role,
    ) -> Result<Visitor, PageError> {
        let visitor = visitor.ok_or(PageError::SignedOut)?;
        if visitor.codes_due.is_some() && !route.sets_up_codes() {
            return Err(PageError::NeedsCodes);
        }
        if visitor.role.may(least) {
            return Ok(visitor);
        }
        let people = self.refract.people();
        let people = people.names_of_role(visitor.account, least, MOST_NAMED);
        let people = people.await?;
        Err(PageError::NeedsRole { least, people })
    }

    fn visit<V>(&self, visitor: V, sent: &Rc<PageRequest>, id: &RequestId) -> Visit<V> {
        Visit {
            visitor,
            request: EventRequest::new(id),
            sent: Rc::clone(sent),
            refract: self.refract.clone(),
            site: Rc::clone(&self.site),
        }
    }

    fn refused(
        &self,
        refusal: &PageError,
        method: &Method,
        visitor: Option<&Visitor>,
        sent: &PageRequest,
        id: &RequestId,
    ) -> PageReply {
        if let PageError::Internal(_) | PageError::Secret(_) = refusal {
            tracing::error!(error = with_causes(refusal), "a page failed");
        }
        if matches!(refusal, PageError::SignedOut) && sent.form.is_empty() {
            return to_sign_in(method, sent);
        }
        if matches!(refusal, PageError::NeedsCodes) && method != Method::POST {
            return PageReply::see_other("/me/codes");
        }
        refusal_page::show(
            refusal,
            &self.site,
            self.refract.people(),
            visitor,
            sent,
            id,
        )
    }
}

/// The route of a request. HEAD is answered like GET.
fn find(method: &Method, path: &str) -> Result<(&'static AppRoute, PathValues), PageError> {
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
        PageError::MethodNotAllowed
    } else {
        PageError::NotFound
    })
}

/// Redirects a visitor who is not signed in to the sign-in page, which later redirects back, unless
/// the address is that of an action: it has no page.
fn to_sign_in(method: &Method, sent: &PageRequest) -> PageReply {
    let address = (method != Method::POST).then(|| sent.address());
    let then = Query::default().with("then", address.as_deref());
    PageReply::see_other(&format!("/sign-in{}", then.in_address()))
}

/// Content security policy: scripts, styles, pictures and requests only from the app itself. No
/// inline script or style, no other origin, no framing, no plug-in, no form sent elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// The headers of every reply.
fn policy_headers(app: &AppUrl) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
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

#[cfg(test)]
mod tests;
