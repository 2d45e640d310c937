//! The file in which a retest keeps its new answers until it is finished, so that a retest that was
//! stopped asks only what is missing. It has no texts.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use chrono::{DateTime, Utc};
use refract_domain::answer::Answers;
use refract_domain::ids::ResultId;
use serde::{Deserialize, Serialize};

use crate::output::file::answers_of;

/// The mode of a new file: readable only by its owner.
const NEW_FILE: u32 = 0o600;

/// The file beside `--output`.
pub(super) struct AnswersFile {
    path: PathBuf,
    file: File,
    /// Which retest the answers are of.
    pub(super) head: AnswersHead,
    /// The answers that an earlier start kept.
    pub(super) known: HashMap<ResultId, Answers>,
}

/// The first line: which retest the answers are of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AnswersHead {
    /// The fingerprint of prism, version and model.
    pub(super) retest: String,
    /// The most texts.
    pub(super) sample: u16,
    /// Which marks a drawn text has one of; `None` for texts with and without marks.
    #[serde(default)]
    pub(super) marked: Option<String>,
    /// The earliest moment of a text.
    pub(super) since: Option<DateTime<Utc>>,
    /// When the retest first began: later results are not drawn.
    pub(super) until: DateTime<Utc>,
}

/// One text's new answers.
#[derive(Serialize, Deserialize)]
struct KeptAnswers<A> {
    result: ResultId,
    answers: A,
}

impl AnswersFile {
    /// Opens the file beside an output, or creates it. The retest of an existing file must be the
    /// same apart from its beginning, which the file decides.
    pub(super) fn open(output: &Path, head: AnswersHead) -> anyhow::Result<Self> {
        let path = answers_of(output);
        let shown = path.display();
        let file = locked(&path).with_context(|| format!("cannot write {shown}"))?;
        let mut opened = Self {
            path: path.clone(),
            file,
            head,
            known: HashMap::new(),
        };
        let read = opened.read();
        match read.with_context(|| format!("cannot read {shown}"))? {
            Some(found) if !found.is_same_retest(&opened.head) => bail!(
                "{shown} has the answers of another retest: delete it to begin anew, or name \
                 another --output"
            ),
            Some(found) => opened.head = found,
            None => {
                let line = json_line(&opened.head);
                let begun = opened.file.write_all(&line);
                begun.with_context(|| format!("cannot write {shown}"))?;
            }
        }
        Ok(opened)
    }

    /// Appends one text's new answers.
    pub(super) fn keep(&mut self, result: ResultId, answers: &Answers) -> io::Result<()> {
        self.file
            .write_all(&json_line(&KeptAnswers { result, answers }))
    }

    /// Deletes the file: everything is asked.
    pub(super) fn delete(self) -> anyhow::Result<()> {
        let deleted = std::fs::remove_file(&self.path);
        deleted.with_context(|| format!("cannot delete {}", self.path.display()))
    }

    /// The file's path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the kept answers; `None` for an empty file. A last line without its end, from a process
    /// that was killed, is cut off.
    fn read(&mut self) -> anyhow::Result<Option<AnswersHead>> {
        let mut text = String::new();
        self.file.read_to_string(&mut text)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let whole = text.get(..whole).unwrap_or_default();
        let end = u64::try_from(whole.len())?;
        self.file.set_len(end)?;
        self.file.seek(io::SeekFrom::Start(end))?;
        let mut lines = whole.lines();
        let Some(head) = lines.next() else {
            return Ok(None);
        };
        let head = serde_json::from_str(head).context("its first line is not of a retest")?;
        for line in lines {
            let kept: KeptAnswers<Answers> = serde_json::from_str(line)?;
            self.known.insert(kept.result, kept.answers);
        }
        Ok(Some(head))
    }
}

impl AnswersHead {
    /// Whether answers of the other retest belong to this one.
    fn is_same_retest(&self, other: &Self) -> bool {
        let until = self.until;
        *self
            == Self {
                until,
                ..other.clone()
            }
    }
}

/// Opens a file with an exclusive lock, and creates it if missing.
fn locked(path: &Path) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(NEW_FILE)
        .open(path)?;
    // a file system without locks must not prevent a retest
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        let words = "another retest writes it: wait for its end, or name another --output";
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, words));
    }
    Ok(file)
}

/// A value as a line of JSON.
fn json_line(value: &impl Serialize) -> Vec<u8> {
    // these values cannot fail to serialise
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(retest: &str) -> AnswersHead {
        AnswersHead {
            retest: retest.to_owned(),
            sample: 500,
            marked: None,
            since: None,
            until: DateTime::UNIX_EPOCH,
        }
    }

    fn answers() -> Answers {
        serde_json::from_str(r#"{"angry":{"type":"yes_no","probability":0.25}}"#).unwrap()
    }

    #[test]
    fn answers_are_kept_until_the_retest_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("flips.csv");
        let id = ResultId::parse("0190b8f2-0000-7000-8000-0000000000aa").unwrap();
        let mut first = AnswersFile::open(&output, head("a")).unwrap();
        assert!(first.known.is_empty());
        first.keep(id, &answers()).unwrap();
        // a process that is killed may leave half a line
        first.file.write_all(b"{\"result\":\"0190").unwrap();
        drop(first);
        let later = AnswersHead {
            until: DateTime::UNIX_EPOCH + chrono::TimeDelta::days(1),
            ..head("a")
        };
        let mut second = AnswersFile::open(&output, later).unwrap();
        assert_eq!(second.known, HashMap::from([(id, answers())]));
        assert_eq!(second.head, head("a"), "the beginning stays");
        let other = ResultId::parse("0190b8f2-0000-7000-8000-0000000000ab").unwrap();
        second.keep(other, &answers()).unwrap();
        drop(second);
        let third = AnswersFile::open(&output, head("a")).unwrap();
        assert_eq!(third.known.len(), 2);
        third.delete().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn answers_of_another_retest_are_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("flips.csv");
        drop(AnswersFile::open(&output, head("a")).unwrap());
        let sampled = AnswersHead {
            sample: 20,
            ..head("a")
        };
        let marked = AnswersHead {
            marked: Some("random".to_owned()),
            ..head("a")
        };
        for other in [head("b"), sampled, marked] {
            let error = AnswersFile::open(&output, other).err().unwrap();
            let error = error.to_string();
            assert!(error.contains("answers of another retest"), "{error}");
        }
        let open = AnswersFile::open(&output, head("a")).unwrap();
        let refused = AnswersFile::open(&output, head("a")).err().unwrap();
        assert!(format!("{refused:#}").contains("another retest writes it"));
        drop(open);
    }
}
