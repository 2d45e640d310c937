//! Downloads a version as a prism file, in the format of `refract prism show`.

use refract_authoring::prism_file::ShownPrism;
use refract_domain::prism::VersionNumber;

use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// The latest version's file.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    file(&visit, None).await
}

/// The file of the version in the address.
pub(crate) async fn download_version(visit: Visit) -> Result<PageReply, PageError> {
    let number = visit.version_number()?;
    file(&visit, Some(number)).await
}

async fn file(visit: &Visit, number: Option<VersionNumber>) -> Result<PageReply, PageError> {
    let prism = visit.find_prism().await?;
    let number = number.unwrap_or(prism.latest_version);
    let version = visit.refract.prisms().find_version(&prism, number).await?;
    let shown = ShownPrism::new(&prism.name, &version);
    let mut bytes = serde_json::to_vec_pretty(&shown).unwrap_or_default();
    bytes.push(b'\n');
    let name = format!("{}-{number}.json", prism.slug);
    Ok(PageReply::file(
        &name,
        "application/json; charset=utf-8",
        bytes,
    ))
}
