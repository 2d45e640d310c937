//! The input of a page handler: visitor, request and use cases.

use std::rc::Rc;

use refract_domain::event::EventRequest;
use refract_domain::ids::AccountId;
use refract_domain::prism::VersionNumber;
use refract_domain::prism::slug::PrismSelector;
use refract_service::Refract;
use refract_service::lenses::PrismLens;
use refract_service::people::AccountActor;
use refract_service::prisms::Prism;

use crate::app_site::AppSite;
use crate::replies::page_error::PageError;
use crate::requests::page_request::PageRequest;
use crate::requests::visitor::Visitor;

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
