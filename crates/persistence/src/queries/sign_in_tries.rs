//! Tries to sign in that did not succeed, by the hash of the address that was typed.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::ids::SignInTryId;
use refract_domain::person::EmailHash;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::sign_in_tries;
use crate::schema::sql_types::Bind;

/// A try to sign in, saved before the password is looked at.
#[derive(Clone, Copy, Debug)]
pub struct SignInTry {
    /// `UUIDv7`.
    pub id: SignInTryId,
    /// Whose address was typed.
    pub email: EmailHash,
    /// When.
    pub tried_at: DateTime<Utc>,
}

#[derive(Insertable)]
#[diesel(table_name = sign_in_tries)]
struct TryColumns {
    #[diesel(serialize_as = Bind<SignInTryId>)]
    id: SignInTryId,
    email_hash: Vec<u8>,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    tried_at: DateTime<Utc>,
}

impl Database {
    /// Saves a try, then returns when the others for its address were made that are as young as
    /// `since`, oldest first. Since each try is saved before it looks, of any number of tries at once
    /// the last one sees all the others.
    ///
    /// Tries of any address from before `since` are deleted. Three statements.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn save_sign_in_try(
        &self,
        new: SignInTry,
        since: DateTime<Utc>,
    ) -> Result<Vec<DateTime<Utc>>, PersistenceError> {
        let columns = TryColumns {
            id: new.id,
            email_hash: new.email.0.to_vec(),
            tried_at: new.tried_at,
        };
        self.write(async move |mut connection| {
            let forgotten = sign_in_tries::table.filter(sign_in_tries::tried_at.lt(Bind(since)));
            on!(connection, execute(diesel::delete(forgotten)))?;
            let insert = diesel::insert_into(sign_in_tries::table).values(columns);
            on!(connection, execute(insert))?;
            let others = sign_in_tries::table
                .filter(sign_in_tries::email_hash.eq(new.email.0.to_vec()))
                .filter(sign_in_tries::tried_at.ge(Bind(since)))
                .filter(sign_in_tries::id.ne(Bind(new.id)))
                .order(sign_in_tries::tried_at)
                .select(sign_in_tries::tried_at);
            Ok(on!(connection, load(others))?)
        })
        .await
    }

    /// Deletes a try that succeeded or was not let through.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn delete_sign_in_try(&self, id: SignInTryId) -> Result<(), PersistenceError> {
        self.write(async move |mut connection| {
            let of_id = sign_in_tries::table.find(Bind(id));
            on!(connection, execute(diesel::delete(of_id)))?;
            Ok(())
        })
        .await
    }
}
