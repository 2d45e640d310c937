//! `refract apply`: updates prisms and lenses to match their files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use refract_authoring::definition_name::{DefinitionKind, DefinitionName};
use refract_domain::event::{EventDetail, LensChangeDetails};
use refract_file_runs::binary_kind;
use refract_identity::people::AccountActor;
use refract_service::prisms::{
    AppliedDefinition, Apply, ApplyError, ApplyOutcome, DefinitionError, DefinitionFile,
};

use super::context::AccountArg;
use crate::output::{self, value};
use crate::settings::DatabaseArgs;
use crate::terminal::{counted, widened};

/// The exit status of a dry run that found changes.
const WOULD_CHANGE: u8 = 2;
/// The number of bytes read to recognise a binary file.
const START: usize = 8 * 1024;

/// The arguments of `refract apply`.
#[derive(Args)]
pub struct ApplyCommand {
    /// Files `NAME.prism.json` and `NAME.lens.json`, where NAME is the prism's slug; a folder stands
    /// for those in it
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Says what would change and saves nothing; the exit status is 2 where anything would
    #[arg(long)]
    dry_run: bool,

    /// Why, such as the commit that the files are of: it is kept with the events of what changes
    #[arg(long, value_name = "TEXT", value_parser = note, allow_hyphen_values = true)]
    note: Option<EventDetail>,

    #[command(flatten)]
    account: AccountArg,
}

impl ApplyCommand {
    /// Runs `refract apply`. A fault in any file gives exit status 1, and nothing is saved.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let (files, mut errors) = read_files(&self.paths);
        let number = files.len();
        let (refract, account) = self.account.open(database).await?;
        let apply = Apply {
            files,
            // readable files are checked even if others cannot be read
            is_dry: self.dry_run || !errors.is_empty(),
        };
        let mut actor = AccountActor::operator(account);
        if let Some(note) = self.note {
            actor = actor.with_note(note);
        }
        let applied = match refract.prisms().apply(&actor, &apply).await {
            Ok(applied) => applied,
            Err(ApplyError::InvalidFiles(more)) => {
                errors.extend(more);
                Vec::new()
            }
            Err(error @ ApplyError::Prism(_)) => return Err(error.into()),
        };
        if !errors.is_empty() {
            return Ok(refused(&errors));
        }
        applied
            .iter()
            .try_for_each(|applied| print(applied, self.dry_run))?;
        let changed = applied.iter().filter(|applied| is_change(applied)).count();
        if !self.dry_run {
            return Ok(ExitCode::SUCCESS);
        }
        let files = counted(widened(number), "file");
        output::say(&format!(
            "Nothing is saved: {changed} of {files} would change something."
        ));
        Ok(if changed > 0 {
            ExitCode::from(WOULD_CHANGE)
        } else {
            ExitCode::SUCCESS
        })
    }
}

fn is_change(applied: &AppliedDefinition) -> bool {
    applied.outcome != ApplyOutcome::Unchanged
}

/// Prints the outcome as a JSON line, and describes the changes of a new version.
fn print(applied: &AppliedDefinition, is_dry: bool) -> anyhow::Result<()> {
    let AppliedDefinition {
        file,
        name,
        outcome,
        version,
        differences,
        lens_change,
    } = applied;
    output::object(&[
        ("file", value(&file.as_str())),
        ("kind", value(&name.kind.name())),
        ("slug", value(&name.slug.as_str())),
        ("outcome", value(&outcome.name())),
        ("version", value(&version.get())),
    ])?;
    let changes = if is_dry { "would change" } else { "changes" };
    if let Some(LensChangeDetails { from, to }) = lens_change {
        output::say(&format!("{file}: the lens {changes}"));
        output::say(&format!("  from {from}"));
        output::say(&format!("  to {to}"));
    }
    if !differences.is_empty() {
        output::say(&format!("{file}: version {version} {changes}"));
        for difference in differences {
            output::say(&format!("  {}", difference.text));
        }
    }
    Ok(())
}

/// Lists the faults; returns the exit status for failure.
fn refused(errors: &[DefinitionError]) -> ExitCode {
    for error in errors {
        output::say(&format!("  {}: {}", error.file, error.text));
    }
    let mut files: Vec<_> = errors.iter().map(|error| error.file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    output::fail_with(&format!(
        "error: {} in {}, so nothing is applied: correct the lines above and apply again",
        counted(widened(errors.len()), "fault"),
        counted(widened(files.len()), "file"),
    ))
}

/// Parses a note.
fn note(typed: &str) -> anyhow::Result<EventDetail> {
    let chars = EventDetail::NOTE_CHARS;
    let expected = || anyhow!("expected {} to {} characters", chars.start(), chars.end());
    EventDetail::note(typed).map_err(|_| expected())
}

/// Reads the files, and those in folders in the order of their names. A file given twice is read
/// once. A file that cannot be read is a fault.
fn read_files(paths: &[PathBuf]) -> (Vec<DefinitionFile>, Vec<DefinitionError>) {
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
