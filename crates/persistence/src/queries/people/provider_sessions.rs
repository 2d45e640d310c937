//! Sessions that the sign-in provider lets last: when it was asked, and the grant to ask again.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::TokenHash;

use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::provider_sessions;
use crate::schema::sql_types::Bind;

/// The provider's part of a session to be saved.
#[derive(Clone, Debug)]
pub struct NewProviderSession {
    /// The provider's tokens, encrypted. The key is not stored.
    pub sealed_grant: Vec<u8>,
    /// When the provider is asked again; `None` where it cannot be asked.
    pub next_check_at: Option<DateTime<Utc>>,
}

/// When a provider was asked about the person of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable)]
pub struct ProviderCheck {
    /// When the provider last let the person in.
    pub checked_at: DateTime<Utc>,
    /// When the provider is asked again; `None` where it cannot be asked.
    pub next_check_at: Option<DateTime<Utc>>,
    /// Whether a second factor was given for the session: at the provider, or by a one-time code.
    pub had_second_factor: bool,
}

/// What it takes to ask the provider about a session.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct StoredGrant {
    /// The provider.
    pub issuer: String,
    /// The person's id there.
    pub subject: String,
    /// The provider's tokens, encrypted.
    pub sealed: Vec<u8>,
}

#[boxed]
impl Database {
    /// The grant of a session; `None` if it has none or has ended.
    pub async fn find_grant(
        &self,
        session: TokenHash,
    ) -> Result<Option<StoredGrant>, PersistenceError> {
        let query = provider_sessions::table
            .filter(provider_sessions::hash.eq(session.bytes().to_vec()))
            .select((
                provider_sessions::issuer,
                provider_sessions::subject,
                provider_sessions::sealed_grant,
            ));
        self.find(query).await
    }

    /// Takes the check of a session that the provider last let last at `checked_at`, unless it was
    /// checked since, or a node asks since a moment after `abandoned_before`. Returns whether it was
    /// taken: of several nodes and requests one takes it, since a provider gives a new grant for
    /// each and may void the earlier one.
    pub async fn take_provider_check(
        &self,
        session: TokenHash,
        checked_at: DateTime<Utc>,
        abandoned_before: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<bool, PersistenceError> {
        let asked_at = provider_sessions::asked_at;
        let is_free = asked_at
            .is_null()
            .or(asked_at.lt(Some(abandoned_before)).assume_not_null());
        let one = provider_sessions::table
            .filter(provider_sessions::hash.eq(session.bytes().to_vec()))
            .filter(provider_sessions::checked_at.eq(Bind(checked_at)))
            .filter(is_free);
        let update = diesel::update(one).set(asked_at.eq(Some(now)));
        Ok(self.execute(update).await? == 1)
    }

    /// Gives a taken check back: the provider is away, and is asked again at `next`.
    pub async fn put_off_provider_check(
        &self,
        session: TokenHash,
        next: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        let one =
            provider_sessions::table.filter(provider_sessions::hash.eq(session.bytes().to_vec()));
        let update = diesel::update(one).set((
            provider_sessions::next_check_at.eq(Some(next)),
            provider_sessions::asked_at.eq(None::<DateTime<Utc>>),
        ));
        self.execute(update).await?;
        Ok(())
    }

    /// Records that the provider let the person of a session in at `now`, with the grant to ask
    /// again.
    pub async fn save_provider_check(
        &self,
        session: TokenHash,
        checked: NewProviderSession,
        now: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        let one =
            provider_sessions::table.filter(provider_sessions::hash.eq(session.bytes().to_vec()));
        let update = diesel::update(one).set((
            provider_sessions::sealed_grant.eq(checked.sealed_grant),
            provider_sessions::checked_at.eq(Bind(now)),
            provider_sessions::next_check_at.eq(checked.next_check_at),
            provider_sessions::asked_at.eq(None::<DateTime<Utc>>),
        ));
        self.execute(update).await?;
        Ok(())
    }
}
