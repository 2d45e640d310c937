//! Which rows of a sheet a spreadsheet does not show: hidden by a person, by a filter or in a group.

use std::borrow::Cow;
use std::io::{BufReader, Cursor};

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::parts::each_event;
use crate::input::WorkbookError;

/// The folder of a workbook's parts.
const FOLDER: &str = "xl/";
/// The part with the names of the sheets, and the one with their parts.
const WORKBOOK: &str = "xl/workbook.xml";
const RELATIONS: &str = "xl/_rels/workbook.xml.rels";

/// The hidden rows of a sheet of a checked workbook, counted from 0 and in order. None for a workbook
/// whose parts have unusual names.
pub(super) fn hidden_rows(bytes: &[u8], sheet: &str) -> Result<Vec<u32>, WorkbookError> {
    let archive = ZipArchive::new(Cursor::new(bytes));
    let mut archive = archive.map_err(|_| WorkbookError::Damaged)?;
    let mut id = None;
    each_tag(&mut archive, WORKBOOK, |tag| {
        if tag.local_name().as_ref() == "sheet" && value(tag, "name").as_deref() == Some(sheet) {
            let mut attributes = tag.attributes();
            let attributes = attributes.with_checks(false).flatten();
            let mut ids = attributes.filter(|it| it.key.local_name().as_ref() == "id");
            id = ids.next().map(|it| it.value.to_string());
        }
    })?;
    let mut part = None;
    each_tag(&mut archive, RELATIONS, |tag| {
        if id.is_some() && value(tag, "Id") == id {
            part = value(tag, "Target");
        }
    })?;
    let Some(part) = part else {
        return Ok(Vec::new());
    };
    let part = match part.strip_prefix('/') {
        Some(part) => part.to_owned(),
        None => format!("{FOLDER}{part}"),
    };
    let (mut next, mut hidden) = (0, Vec::new());
    each_tag(&mut archive, &part, |tag| {
        if tag.local_name().as_ref() != "row" {
            return;
        }
        // a row without a number follows the one before
        let number = value(tag, "r").and_then(|number| number.parse::<u32>().ok());
        let row = number.and_then(|number| number.checked_sub(1));
        let row = row.unwrap_or(next);
        next = row.saturating_add(1);
        if matches!(value(tag, "hidden").as_deref(), Some("1" | "true")) {
            hidden.push(row);
        }
    })?;
    hidden.sort_unstable();
    Ok(hidden)
}

/// Passes each tag of a part; none if there is no such part.
fn each_tag(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    part: &str,
    mut pass: impl FnMut(&BytesStart<'_>),
) -> Result<(), WorkbookError> {
    let Ok(part) = archive.by_name(part) else {
        return Ok(());
    };
    each_event(BufReader::new(part), |event| {
        if let Event::Start(tag) | Event::Empty(tag) = event {
            pass(tag);
        }
    })
}

fn value(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).ok().flatten()?;
    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
    value.ok().map(Cow::into_owned)
}
