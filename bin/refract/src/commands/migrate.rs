//! `refract migrate`: brings the database up to date.

use super::operator;
use crate::output;
use crate::settings::DatabaseArgs;

/// Runs `refract migrate`: the migrations that the database lacks.
pub(crate) async fn run(database: &DatabaseArgs) -> anyhow::Result<()> {
    let database = operator::connect_when_up(&database.settings()).await?;
    match database.migrate().await? {
        0 => output::say("The database is up to date."),
        1 => output::say("1 migration was run."),
        applied => output::say(&format!("{applied} migrations were run.")),
    }
    Ok(())
}
