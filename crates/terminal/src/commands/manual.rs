//! `refract completions` and `refract man`, both generated from the command definitions.

use std::path::Path;

use anyhow::Context as _;
use clap_complete::Shell;

use crate::output;

/// Writes a shell's completions to stdout.
pub(crate) fn write_completions(mut program: clap::Command, shell: Shell) -> anyhow::Result<()> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, name, &mut script);
    output::data(&script)
}

/// Writes a manual page for the program and for each command: `refract.1`, `refract-prism.1`, …
pub(crate) fn write_pages(program: clap::Command, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(program, folder))
        .with_context(|| format!("cannot write the manual to {}", folder.display()))
}
