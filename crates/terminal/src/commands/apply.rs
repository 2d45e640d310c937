//! `refract apply`: updates prisms and lenses to match their files.

mod definition_files;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use refract_domain::event::EventDetail;
use refract_domain::prism::VersionNumber;
use refract_service::people::AccountActor;
use refract_service::prisms::{
    AppliedDefinition, Apply, ApplyError, ApplyOutcome, DefinitionError,
};
use serde::Serialize;

use super::context::AccountArg;
use crate::output;
use crate::settings::DatabaseArgs;
use crate::terminal::{counted, widened};

/// The exit status of a dry run that found changes.
const WOULD_CHANGE: u8 = 2;

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
    #[arg(long, value_name = "TEXT", value_parser = note)]
    note: Option<EventDetail>,

    #[command(flatten)]
    account: AccountArg,
}

/// The outcome of applying one file.
#[derive(Serialize)]
struct AppliedJson<'a> {
    file: &'a str,
    kind: &'static str,
    slug: &'a str,
    outcome: &'static str,
    version: VersionNumber,
}

impl ApplyCommand {
    /// Runs `refract apply`. A fault in any file gives exit status 1, and nothing is saved.
    pub(crate) async fn run(self, database: &DatabaseArgs) -> anyhow::Result<ExitCode> {
        let (files, mut errors) = definition_files::read(&self.paths);
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
    } = applied;
    output::json(&AppliedJson {
        file,
        kind: name.kind.name(),
        slug: name.slug.as_str(),
        outcome: outcome.name(),
        version: *version,
    })?;
    if !differences.is_empty() {
        let changes = if is_dry { "would change" } else { "changes" };
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
