//! The input of a page handler: visitor, request and use cases. And the visitor in the
//! request's log record, which never contains an address, a token or a typed value and names the
//! route's pattern instead of the path.

use std::cell::Cell;
use std::ops::Deref;
use std::rc::Rc;

use actix_web::{rt, web};
use refract_domain::event::EventRequest;
use refract_domain::ids::{AccountId, PersonId};
use refract_domain::prism::{PrismSelector, VersionNumber};
use refract_domain::result::mark::{Annotator, Marker};
use refract_http_serving::{EndedRequest, Panicked, RequestLine};
use refract_identity::people::{AccountActor, SessionState, SignedIn, Token};
use refract_service::lenses::PrismLens;
use refract_service::prisms::Prism;
use refract_service::{InternalError, Refract};

use crate::app_site::AppSite;
use crate::replies::PageError;
use crate::requests::page_request::PageRequest;

/// A visit of a signed-in person who may use the route.
pub(crate) struct Visit<V = Visitor> {
    /// The visitor.
    pub(crate) visitor: V,
    /// The request, as audit events record it.
    pub(crate) request: EventRequest,
    pub(crate) sent: Rc<PageRequest>,
    pub(crate) refract: Refract,
    pub(crate) site: Rc<AppSite>,
}

/// A visit to a route that needs no session.
pub(crate) type OpenVisit = Visit<Option<Visitor>>;

impl Visit {
    /// The visitor's account; they see nothing outside it.
    pub(crate) fn account(&self) -> AccountId {
        self.visitor.account
    }

    /// The slug or id of the prism in the address.
    ///
    /// # Errors
    /// [`PageError::NotFound`] if it is neither a slug nor an id.
    pub(crate) fn prism(&self) -> Result<PrismSelector, PageError> {
        let named = PrismSelector::parse(self.sent.values.get("slug"));
        named.map_err(|_| PageError::NotFound)
    }

    /// Finds the prism in the address.
    ///
    /// # Errors
    /// [`PageError::NotFound`] if the account has no such prism; a database failure.
    pub(crate) async fn find_prism(&self) -> Result<Prism, PageError> {
        let (account, prism) = (self.account(), self.prism()?);
        Ok(self.refract.prisms().find(account, &prism).await?)
    }

    /// Finds the lens of the prism in the address.
    ///
    /// # Errors
    /// [`PageError::NotFound`] if the account has no such prism; a database failure.
    pub(crate) async fn find_lens(&self) -> Result<PrismLens, PageError> {
        let (account, prism) = (self.account(), self.prism()?);
        Ok(self.refract.lenses().find(account, &prism).await?)
    }

    /// The version number in the address.
    ///
    /// # Errors
    /// [`PageError::NotFound`] if it is not a version number.
    pub(crate) fn version_number(&self) -> Result<VersionNumber, PageError> {
        version_number(self.sent.values.get("n")).ok_or(PageError::NotFound)
    }

    /// The visitor as somebody who marks.
    pub(crate) fn annotator(&self) -> Annotator {
        Annotator {
            person: Some(self.visitor.person),
            name: Marker::parse(&self.visitor.name).ok(),
        }
    }

    /// The visitor as the actor of changes and results.
    pub(crate) fn actor(&self) -> AccountActor {
        let person = AccountActor::person(self.visitor.account, self.visitor.person);
        person.in_request(self.request.clone())
    }
}

/// Parses a version number; `None` for any other text.
pub(crate) fn version_number(text: &str) -> Option<VersionNumber> {
    VersionNumber::new(text.parse().ok()?)
}

/// A signed-in person.
#[derive(Clone, Debug)]
pub(crate) struct Visitor(SignedIn);

impl Deref for Visitor {
    type Target = SignedIn;

    fn deref(&self) -> &SignedIn {
        &self.0
    }
}

impl Visitor {
    /// The person whose valid session a cookie names. Of several cookies the first with a valid
    /// session counts: a cookie planted in front of it must not sign the person out.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn find(
        refract: &Refract,
        tokens: &[Token],
    ) -> Result<Option<Self>, InternalError> {
        for token in tokens {
            let signed_in = match refract.people().session(token).await? {
                SessionState::Ended => None,
                SessionState::SignedIn(person) => Some(person),
                SessionState::CheckDue => {
                    let (refract, token) = (refract.clone(), token.clone());
                    // goes on when the client disconnects: the provider's answer must be saved
                    let asking =
                        rt::spawn(
                            async move { refract.people().check_with_provider(&token).await },
                        );
                    // a panic signs nobody in
                    asking.await.unwrap_or(Ok(None))?
                }
            };
            if let Some(signed_in) = signed_in {
                return Ok(Some(Self(signed_in)));
            }
        }
        Ok(None)
    }
}

/// The app's part of a request's log line.
#[derive(Default)]
pub(crate) struct PageLine {
    /// The signed-in person, if known.
    pub(crate) person: Cell<Option<PersonId>>,
}

impl RequestLine for PageLine {
    fn log(&self, ended: &EndedRequest<'_>) {
        tracing::info!(
            method = ended.method,
            route = ended.route,
            status = ended.status,
            ms = ended.ms,
            cut = ended.cut,
            client = ended.client.map(tracing::field::display),
            person = self.person.get().map(tracing::field::display),
            request_id = %ended.id,
            trace_id = ended.trace.trace_id().map(tracing::field::display),
            span_id = ended.trace.span_id().map(tracing::field::display),
            "page"
        );
    }
}

/// Runs work on a thread that may block.
///
/// # Errors
/// When the work panicked.
pub(crate) async fn off_event_loop<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PageError> {
    web::block(work)
        .await
        .map_err(|_| PageError::Panicked(Panicked))
}
