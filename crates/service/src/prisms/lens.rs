//! Changes the lens of a prism.

use refract_authoring::lens_file;
use refract_domain::event::LensChangeDetails;
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::PrismVersion;
use refract_domain::problem::Problems;
use refract_domain::slug::PrismSelector;
use refract_persistence::{Database, Writing};

use super::find::{find, find_version};
use super::refusal::{ATTEMPTS, PrismRefusal};
use crate::caller::Caller;

/// Saves a lens file as the prism's lens. Where `based_on` is given, a revision of the lens, it is
/// saved only in place of that one. Setting the lens that the prism has changes nothing.
///
/// # Errors
/// When there is no such prism, the file breaks rules, the lens has another revision than
/// `based_on`, or the database fails.
pub async fn set_lens(
    database: &Database,
    caller: &Caller,
    prism: &PrismSelector,
    file: &[u8],
    based_on: Option<i32>,
) -> Result<(), PrismRefusal> {
    change_lens(database, caller, prism, based_on, |latest| {
        lens_file::read(file, latest).map(Some)
    })
    .await
}

/// Resets the prism's lens to the automatic one. Where `based_on` is given, a revision of the lens,
/// only that one is reset.
///
/// # Errors
/// When there is no such prism, the lens has another revision than `based_on`, or the database
/// fails.
pub async fn reset_lens(
    database: &Database,
    caller: &Caller,
    prism: &PrismSelector,
    based_on: Option<i32>,
) -> Result<(), PrismRefusal> {
    change_lens(database, caller, prism, based_on, |_| Ok(None)).await
}

async fn change_lens(
    database: &Database,
    caller: &Caller,
    selector: &PrismSelector,
    based_on: Option<i32>,
    columns_for: impl Fn(&PrismVersion) -> Result<Option<Vec<Column>>, Problems>,
) -> Result<(), PrismRefusal> {
    for _ in 0..ATTEMPTS {
        let prism = find(database, caller.account(), selector).await?;
        if based_on.is_some_and(|based_on| based_on != prism.lens_revision) {
            return Err(PrismRefusal::LensMeanwhile);
        }
        let latest = find_version(database, &prism, prism.latest_version).await?;
        let columns = columns_for(&latest)?;
        let Some(current) = database.find_lens(prism.id, prism.lens_revision).await? else {
            continue;
        };
        let lens = columns.map_or(Lens::Automatic, Lens::Custom);
        if lens == *current {
            return Ok(());
        }
        let (before, after) = (latest.columns(&current), latest.columns(&lens));
        let details = LensChangeDetails::between(prism.lens_revision, before, after);
        let saving = database.save_lens(&prism, &lens, details, caller.event_stamp());
        if saving.await? == Writing::Saved {
            return Ok(());
        }
    }
    Err(PrismRefusal::Contended)
}
