//! Asks the sign-in provider again, whether it still lets a person in.

use refract_boxed_futures::boxed;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use refract_domain::event::{Actor, EventDetail};
use refract_persistence::{EndedSessions, PersistenceError, ProviderCheck, SessionRow};
use refract_sign_on::Grant;

use super::session::{AGAIN, CheckStanding, SignedIn, alive, is_missed_not};
use super::sign_on::provider_session;
use crate::events::event_stamp;
use crate::people::People;
use crate::people::secrets::Token;

/// Age of a check up to which a request goes on while another one asks.
const WHILE_ASKED: TimeDelta = TimeDelta::minutes(15);
/// After how long a node that asks is taken to have stopped.
const ABANDONED: TimeDelta = TimeDelta::seconds(30);
/// How often, and how many times, a request looks whether another one has its answer.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const LOOKS: usize = 100;

#[boxed]
impl People<'_> {
    /// The person whom a cookie's token signs in, if the provider still lets them in. Asks the
    /// provider, unless another request does. It must not be cut off when a client disconnects: the
    /// provider's new grant would be lost.
    pub async fn check_with_provider(
        self,
        token: &Token,
    ) -> Result<Option<SignedIn>, PersistenceError> {
        let database = &self.identity.database;
        let hash = token.hash();
        for _ in 0..LOOKS {
            let now = Utc::now();
            let Some(found) = database.find_session(hash, alive(now)).await? else {
                return Ok(None);
            };
            let Some(check) = found.provider_check else {
                return Ok(Some(self.signed_in(hash, found)));
            };
            match CheckStanding::of(check, now) {
                CheckStanding::Over => {
                    self.end_by_provider(
                        token,
                        &found,
                        "a session that the provider cannot prolong is over",
                    )
                    .await?;
                    return Ok(None);
                }
                CheckStanding::Due => {
                    let abandoned = now - ABANDONED;
                    let taking =
                        database.take_provider_check(hash, check.checked_at, abandoned, now);
                    if taking.await? {
                        return self.ask(token, found, check).await;
                    }
                    if now - check.checked_at < WHILE_ASKED {
                        return Ok(Some(self.signed_in(hash, found)));
                    }
                }
                CheckStanding::Good => return Ok(Some(self.signed_in(hash, found))),
            }
            // another request asks at this moment
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(None)
    }

    /// Asks the provider, as the only request that does.
    async fn ask(
        self,
        token: &Token,
        found: SessionRow,
        check: ProviderCheck,
    ) -> Result<Option<SignedIn>, PersistenceError> {
        let database = &self.identity.database;
        let hash = token.hash();
        let stored = database.find_grant(hash).await?;
        let grant = stored
            .as_ref()
            .and_then(|stored| Grant::unseal(&token.sealing_key(), &stored.sealed));
        let (Ok(provider), Some(stored), Some(grant)) = (self.provider(), stored, grant) else {
            let why = "there is no sign-in provider any more";
            self.end_by_provider(token, &found, why).await?;
            return Ok(None);
        };
        let accounts = self.identity.accounts();
        if matches!(accounts.find(provider.account()).await, Ok(own) if own.id != found.account) {
            let why = "the sign-in provider is for another account";
            self.end_by_provider(token, &found, why).await?;
            return Ok(None);
        }
        match provider.refresh(&grant, &stored.subject).await {
            Ok((identity, grant)) => {
                let now = Utc::now();
                let Ok(checked) = provider_session(token, &grant, now) else {
                    return Ok(Some(self.signed_in(hash, found)));
                };
                database.save_provider_check(hash, checked, now).await?;
                if let Some(identity) = identity
                    && let Some(role) = identity.role
                    && role != found.role
                {
                    self.follow_role(found.account, found.person, role, &identity)
                        .await?;
                }
                // read again, with the role that counts now
                let found = database.find_session(hash, alive(now)).await?;
                Ok(found.map(|found| self.signed_in(hash, found)))
            }
            Err(refusal) if refusal.is_final() => {
                tracing::info!(person = %found.person, reason = %refusal, "the sign-in provider lets a person in no more");
                self.end_by_provider(token, &found, "the sign-in provider lets them in no more")
                    .await?;
                Ok(None)
            }
            Err(error) => {
                tracing::warn!(%error, "the sign-in provider was not asked about a session");
                let now = Utc::now();
                database.put_off_provider_check(hash, now + AGAIN).await?;
                let still = is_missed_not(check, now);
                Ok(still.then(|| self.signed_in(hash, found)))
            }
        }
    }

    async fn end_by_provider(
        self,
        token: &Token,
        found: &SessionRow,
        why: &'static str,
    ) -> Result<(), PersistenceError> {
        let stamp = event_stamp(found.account, Actor::Node, None).noted(EventDetail::from(why));
        let (one, alive) = (EndedSessions::One(token.hash()), alive(stamp.at));
        let database = &self.identity.database;
        database
            .end_own_sessions(found.person, one, alive, stamp)
            .await
    }
}
