//! What the handler of a page has: who visits, what was sent, and the use cases.

use std::rc::Rc;

use refract_domain::event::EventRequest;
use refract_domain::ids::AccountId;
use refract_domain::prism::VersionNumber;
use refract_domain::prism::slug::PrismSelector;
use refract_service::Refract;
use refract_service::lenses::PrismLens;
use refract_service::people::Caller;
use refract_service::prisms::Prism;

use crate::app_site::AppSite;
use crate::replies::page_error::PageError;
use crate::requests::page_request::PageRequest;
use crate::requests::visitor::Visitor;

/// A visit of somebody who is signed in and may use the route.
pub(crate) struct Visit<V = Visitor> {
    /// Who visits.
    pub(crate) visitor: V,
    /// The request, as events name it.
    pub(crate) request: EventRequest,
    pub(crate) sent: Rc<PageRequest>,
    pub(crate) refract: Refract,
    pub(crate) site: Rc<AppSite>,
}

/// A visit of somebody who need not be signed in.
pub(crate) type OpenVisit = Visit<Option<Visitor>>;

impl Visit {
    /// The account whose things the visitor sees.
    pub(crate) fn account(&self) -> AccountId {
        self.visitor.account
    }

    /// The prism that the address names, by slug or by id.
    ///
    /// # Errors
    /// [`PageError::NotFound`] for a name that no prism can have.
    pub(crate) fn prism(&self) -> Result<PrismSelector, PageError> {
        let named = PrismSelector::parse(self.sent.values.get("slug"));
        named.map_err(|_| PageError::NotFound)
    }

    /// Finds the prism that the address names.
    ///
    /// # Errors
    /// [`PageError::NotFound`] when the account has none of the name; a failure of the database.
    pub(crate) async fn find_prism(&self) -> Result<Prism, PageError> {
        let (account, prism) = (self.account(), self.prism()?);
        Ok(self.refract.prisms().find(account, &prism).await?)
    }

    /// Finds the lens of the prism that the address names.
    ///
    /// # Errors
    /// [`PageError::NotFound`] when the account has none of the name; a failure of the database.
    pub(crate) async fn find_lens(&self) -> Result<PrismLens, PageError> {
        let (account, prism) = (self.account(), self.prism()?);
        Ok(self.refract.lenses().find(account, &prism).await?)
    }

    /// The version that the address names.
    ///
    /// # Errors
    /// [`PageError::NotFound`] for what is no version number.
    pub(crate) fn version_number(&self) -> Result<VersionNumber, PageError> {
        version_number(self.sent.values.get("n")).ok_or(PageError::NotFound)
    }

    /// The visitor as the one who makes changes and results.
    pub(crate) fn caller(&self) -> Caller {
        let person = Caller::person(self.visitor.account, self.visitor.person);
        person.in_request(self.request.clone())
    }
}

/// The version number that a text is; `None` for any other text.
pub(crate) fn version_number(text: &str) -> Option<VersionNumber> {
    VersionNumber::new(text.parse().ok()?)
}
