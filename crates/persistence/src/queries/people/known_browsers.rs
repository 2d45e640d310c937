//! Browsers in which a person signed in before, known by the hash of a cookie. The cookie alone
//! signs nobody in.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::account::person::Email;
use refract_domain::account::secret_hash::TokenHash;
use refract_domain::ids::PersonId;

use crate::connections::{Transaction, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::sql_types::Bind;
use crate::schema::stored::Stored;
use crate::schema::{known_browsers, people};

/// A browser in which a person signs in now.
#[derive(Clone, Copy, Debug)]
pub struct NewBrowser {
    /// The hash of the browser's new cookie.
    pub hash: TokenHash,
    /// The hash of the browser's earlier cookie, which is no longer valid.
    pub before: Option<TokenHash>,
}

/// A browser in which a person signed in before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable)]
pub struct KnownBrowserRow {
    /// The person.
    pub person: PersonId,
    /// The hash of the browser's cookie.
    #[diesel(deserialize_as = Stored<known_browsers::hash>)]
    pub hash: TokenHash,
}

/// Records in a transaction that a person signs in with a browser. People who were known by its
/// earlier cookie are known by the new one: several people may share a browser.
pub(super) async fn know_browser(
    tx: &mut Transaction,
    browser: NewBrowser,
    person: PersonId,
    now: DateTime<Utc>,
) -> QueryResult<()> {
    let hash = browser.hash.bytes().to_vec();
    if let Some(before) = browser.before {
        // all rows of the cookie at once: two people who sign in at the same moment with one
        // browser wait for each other
        let of_cookie = known_browsers::hash.eq(before.bytes().to_vec());
        let of_cookie = known_browsers::table.filter(of_cookie);
        let update = diesel::update(of_cookie).set(known_browsers::hash.eq(hash.clone()));
        on!(tx, execute(update))?;
        let of_person = known_browsers::table
            .filter(known_browsers::hash.eq(hash.clone()))
            .filter(known_browsers::person_id.eq(Bind(person)));
        on!(tx, execute(diesel::delete(of_person)))?;
    }
    let insert = diesel::insert_into(known_browsers::table).values((
        known_browsers::hash.eq(hash),
        known_browsers::person_id.eq(Bind(person)),
        known_browsers::signed_in_at.eq(Bind(now)),
    ));
    on!(tx, execute(insert))?;
    Ok(())
}

impl Database {
    /// Finds the browser that has one of these cookies, if the person with this address signed in
    /// with it after this moment; without an address, if anybody did.
    pub async fn find_known_browser(
        &self,
        cookies: &[TokenHash],
        email: Option<&Email>,
        signed_in_after: DateTime<Utc>,
    ) -> Result<Option<KnownBrowserRow>, PersistenceError> {
        let email = email.map(|email| email.as_str().to_owned());
        let cookies: Vec<_> = cookies
            .iter()
            .map(|cookie| cookie.bytes().to_vec())
            .collect();
        let known = known_browsers::table
            .inner_join(people::table.on(people::id.eq(known_browsers::person_id)))
            .filter(known_browsers::hash.eq_any(cookies))
            .filter(known_browsers::signed_in_at.gt(Bind(signed_in_after)))
            .filter(people::removed_at.is_null())
            .order(known_browsers::signed_in_at.desc())
            .select((known_browsers::person_id, known_browsers::hash))
            .limit(1);
        match email {
            None => self.find(known).await,
            Some(email) => self.find(known.filter(people::email.eq(email))).await,
        }
    }
}
