//! Determines the commit of the build: from this folder's repository, or from `REFRACT_COMMIT` for
//! sources without a repository.

use std::path::{Path, PathBuf};
use std::process::Command;

/// How many characters of a commit's hash the program shows.
const SHOWN: usize = 12;

fn main() {
    println!("cargo::rerun-if-env-changed=REFRACT_COMMIT");
    let given = || std::env::var("REFRACT_COMMIT").ok();
    let commit = of_repository().or_else(given).unwrap_or_default();
    let is_hash = commit.len() >= SHOWN && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let shown = commit.get(..SHOWN).filter(|_| is_hash).unwrap_or("");
    let version = env!("CARGO_PKG_VERSION");
    let whole = if shown.is_empty() {
        version.to_owned()
    } else {
        format!("{version} ({shown})")
    };
    println!("cargo::rustc-env=REFRACT_BUILD_COMMIT={shown}");
    println!("cargo::rustc-env=REFRACT_BUILD_VERSION={whole}");
}

/// The commit of the repository whose top folder is the workspace's. Only a change of commit
/// triggers a rebuild.
fn of_repository() -> Option<String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let workspace = workspace.canonicalize().ok()?;
    let top = PathBuf::from(git(&workspace, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != workspace {
        return None;
    }
    let branch = git(&workspace, &["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        let path = git(&workspace, &["rev-parse", "--git-path", name])?;
        let path = workspace.join(path);
        // watching a missing file would trigger a rebuild every time
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    git(&workspace, &["rev-parse", "HEAD"])
}

/// The output of git; `None` without git, or if it fails.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let ended = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .output()
        .ok()?;
    let printed = String::from_utf8(ended.stdout).ok()?;
    let printed = printed.trim();
    (ended.status.success() && !printed.is_empty()).then(|| printed.to_owned())
}
