//! Finds and reads the files of `refract apply`, including those in folders.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use refract_authoring::definition_name::{DefinitionKind, DefinitionName};
use refract_file_runs::binary_kind;
use refract_service::prisms::{DefinitionError, DefinitionFile};

/// The number of bytes read to recognise a binary file.
const START: usize = 8 * 1024;

/// Reads the files, and those in folders in the order of their names. A file given twice is read
/// once. A file that cannot be read is a fault.
pub(super) fn read(paths: &[PathBuf]) -> (Vec<DefinitionFile>, Vec<DefinitionError>) {
    let mut errors = Vec::new();
    let mut found = Vec::new();
    for path in paths {
        match of_path(path) {
            Ok(files) => found.extend(files),
            Err(definition_error) => errors.push(definition_error),
        }
    }
    let mut known = HashSet::new();
    found.retain(|path| known.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    let mut files = Vec::new();
    for path in found {
        match read_file(&path) {
            Ok(file) => files.push(file),
            Err(definition_error) => errors.push(definition_error),
        }
    }
    (files, errors)
}

/// The files of a path: itself, or those in the folder.
fn of_path(path: &Path) -> Result<Vec<PathBuf>, DefinitionError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unread =
        |error: std::io::Error| definition_error(path, format!("it cannot be read: {error}"));
    let entries = std::fs::read_dir(path).map_err(unread)?;
    let entries: Result<Vec<_>, _> = entries.collect();
    let mut files: Vec<_> = entries
        .map_err(unread)?
        .iter()
        .map(std::fs::DirEntry::path)
        .collect();
    files.retain(|file| DefinitionKind::of(&name_of(file)).is_some() && !file.is_dir());
    files.sort();
    if files.is_empty() {
        let endings = DefinitionKind::ALL.map(DefinitionKind::ending).join(" or ");
        return Err(definition_error(
            path,
            format!("the folder has no file that ends in {endings}"),
        ));
    }
    Ok(files)
}

fn read_file(path: &Path) -> Result<DefinitionFile, DefinitionError> {
    if path == Path::new("-") {
        let text = "standard input has no name, and the name says which prism it is";
        return Err(definition_error(path, text.to_owned()));
    }
    let name = DefinitionName::parse(&name_of(path));
    let name = name.map_err(|wrong| definition_error(path, wrong.to_string()))?;
    let content = std::fs::read(path);
    let content =
        content.map_err(|error| definition_error(path, format!("it cannot be read: {error}")))?;
    if let Some(kind) = binary_kind(content.get(..START).unwrap_or(&content)) {
        return Err(definition_error(path, kind.to_owned()));
    }
    Ok(DefinitionFile {
        file: path.display().to_string(),
        name,
        content,
    })
}

/// A file's name without its folder.
fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn definition_error(path: &Path, text: String) -> DefinitionError {
    DefinitionError {
        file: path.display().to_string(),
        text,
    }
}
