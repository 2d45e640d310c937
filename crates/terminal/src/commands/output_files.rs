//! The files that a command writes: none replaces a file that the command reads, the database or
//! another output, and at most one goes to standard output.

use std::path::{Path, PathBuf};

use anyhow::ensure;

use super::files::InputPath;
use crate::output::file::{answers_of, part_of, refused_of};
use crate::settings::DatabaseArgs;

/// The argument for standard output.
const STDOUT: &str = "-";

/// Whether a file is standard output. A command that writes it there prints nothing else there.
pub(super) fn is_stdout(file: Option<&Path>) -> bool {
    file == Some(Path::new(STDOUT))
}

/// Checks that the outputs of a command, each with its argument, replace no file in use.
pub(super) fn check(
    outputs: &[(&str, Option<&Path>)],
    inputs: &[Option<&InputPath>],
    database: &DatabaseArgs,
) -> anyhow::Result<()> {
    let outputs = outputs
        .iter()
        .filter_map(|(name, file)| Some((name, *(file.as_ref()?))));
    let outputs: Vec<_> = outputs.collect();
    let inputs: Vec<_> = inputs.iter().flatten().filter_map(|it| it.file()).collect();
    let database = database.files();
    for (index, (name, file)) in outputs.iter().enumerate() {
        for (earlier, other) in outputs.iter().take(index) {
            ensure!(
                !(is_stdout(Some(file)) && file == other),
                "{earlier} - and {name} - both write to stdout: name a file"
            );
            ensure!(
                place(file).is_none_or(|place| Some(place) != self::place(other)),
                "{earlier} and {name} would be written to one file: name two"
            );
        }
        for (used, what) in inputs
            .iter()
            .map(|input| (*input, "the input"))
            .chain(database.iter().map(|file| (file.as_path(), "the database")))
        {
            ensure!(
                !is_over(used, file),
                "{name} would be written over {what}: name another file"
            );
        }
    }
    Ok(())
}

/// Checks that `--json` and an output do not both write to standard output.
pub(super) fn check_json(is_json: bool, outputs: &[(&str, Option<&Path>)]) -> anyhow::Result<()> {
    for (name, file) in outputs {
        ensure!(
            !(is_json && is_stdout(*file)),
            "--json and {name} - both write to stdout: name a file"
        );
    }
    Ok(())
}

/// Whether writing an output would replace a file.
fn is_over(used: &Path, output: &Path) -> bool {
    let used = place(used);
    let written = [
        output.to_owned(),
        part_of(output),
        refused_of(output),
        answers_of(output),
    ];
    used.is_some() && written.iter().any(|written| used == place(written))
}

/// Where a path leads, also to a file that does not exist yet; `None` for standard output and for
/// devices, which are not replaced.
fn place(path: &Path) -> Option<PathBuf> {
    if is_stdout(Some(path)) {
        return None;
    }
    if let Ok(found) = path.canonicalize() {
        return found.is_file().then_some(found);
    }
    let folder = path.parent()?;
    let folder = if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    };
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_over_a_file_under_any_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("in.csv"), "").unwrap();
        std::os::unix::fs::symlink(at("in.csv"), at("link")).unwrap();
        assert!(is_over(&at("in.csv"), &at("link")));
        assert!(is_over(&at("in.csv"), &at("./in.csv")));
        assert!(is_over(&at("new.csv"), &at("new.csv")));
        assert!(is_over(&at("new.csv.part"), &at("new.csv")));
        assert!(is_over(&at("new.csv.refused.csv"), &at("new.csv")));
        assert!(!is_over(&at("in.csv"), &at("out.csv")));
        for device in ["/dev/null", STDOUT] {
            assert!(!is_over(Path::new(device), Path::new(device)), "{device}");
        }
    }
}
