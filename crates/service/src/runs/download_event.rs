//! The event of a download of a stored run's rows.

use refract_domain::event::{EventAction, EventDetail};

use super::{Runs, StoredRun};
use crate::InternalError;
use crate::events::export_event;
use crate::people::accounts::AccountActor;

impl Runs<'_> {
    /// Saves the event that somebody downloads the rows of a run, before the first byte is sent.
    pub async fn save_download(
        self,
        actor: &AccountActor,
        run: &StoredRun,
        format: &'static str,
    ) -> Result<(), InternalError> {
        let what = EventDetail::list(&[format.into(), EventDetail::file_run(run.id)]);
        let action = EventAction::ResultsExported;
        let database = &self.refract.database;
        Ok(export_event::save(database, actor, action, run.prism, what).await?)
    }
}
