//! Retired words: the names and phrases that the field says otherwise.

use crate::{assert_none, files, has_ending, read};

/// A word or phrase that is no longer used, and what replaces it.
struct RetiredWord {
    word: &'static str,
    instead: &'static str,
}

const fn retired(word: &'static str, instead: &'static str) -> RetiredWord {
    RetiredWord { word, instead }
}

/// The retired words. They count as whole words, in this case, in code, comments, texts and pages.
const RETIRED: [RetiredWord; 32] = [
    // names
    retired("FirstCalls", "SingleFlight"),
    retired("KeyTurn", "SingleFlight"),
    retired("SaveBackoff", "RetryPolicy"),
    retired("OwnWay", "NativeExtension"),
    retired("PLANNED_ANEW", "CUSTOM_PLAN"),
    retired("FixedServer", "TestServer"),
    retired("SpanMaker", "ProcessTracer"),
    retired("Maker", "ResultActor"),
    retired("Caller", "AccountActor"),
    retired("Fault", "ValidationError"),
    retired("PrismName", "DisplayName"),
    retired("ToldChange", "ChangeNotice"),
    retired("is_left_alone", "is_ejected"),
    retired("forget_results", "delete_results"),
    retired("untold", "unseen, unreported"),
    retired("told", "reported, listed, notified"),
    // phrases
    retired("left alone", "ejected; unchanged"),
    retired("so many of so many", "`count` of `total`"),
    retired("so many percent", "the percent"),
    retired("good once", "works once; single-use"),
    retired("torn", "has 1 cell, the header has 2"),
    retired("passed by", "ignored"),
    retired("not built in", "not supported"),
    retired("by hand", "manually"),
    retired("for want of", "without"),
    retired("want of", "lack of"),
    retired("to be had", "available"),
    retired("way of its own", "native extension"),
    retired("ways of their own", "native extensions"),
    retired("So long a", "a sentence with its noun first"),
    retired("whoever comes", "further requests"),
    retired("bare handler's", "of the handler without a use case"),
];

/// Places that may have a retired word: a file, a part of its line, and the reason in a comment.
const ALLOWED: [(&str, &str); 10] = [
    // the old name of the metric stays for one release
    ("", "refract_model_server_left_alone"),
    // log lines that operators search for
    ("", "told to stop"),
    // the name of a stored column
    ("crates/persistence/src/schema.rs", "untold_event"),
    // words of texts that prisms ask about
    ("crates/authoring/src/wording/", "\"told\""),
    ("bin/refract/benches/", "was told that"),
    ("crates/service/benches/", "a machine told me"),
    // what changed is told in the words of its time
    ("docs/CHANGELOG.md", ""),
    // decisions are never rewritten
    ("docs/adr/", ""),
    // this list
    ("crates/tidy/tests/tidy/words.rs", ""),
    // a file with another number of cells
    ("crates/file-runs/tests/runs/check_faults.rs", "torn\\n"),
];

#[test]
fn no_retired_word_is_used() {
    let mut breaches = Vec::new();
    for file in files() {
        let is_read = ["rs", "md", "sh", "yml", "css", "js", "mjs"];
        if !is_read.iter().any(|ending| has_ending(&file, ending)) {
            continue;
        }
        for (index, line) in read(&file).lines().enumerate() {
            breaches.extend(retired_in(&file, line).map(|it| {
                let number = index + 1;
                format!("{file}:{number}: `{}`: say {}", it.word, it.instead)
            }));
        }
    }
    assert_none("a retired word", &breaches);
}

/// The retired words in a line of a file, unless the place is allowed.
fn retired_in<'a>(file: &'a str, line: &'a str) -> impl Iterator<Item = &'static RetiredWord> + 'a {
    let is_allowed = ALLOWED
        .iter()
        .any(|(place, part)| file.starts_with(place) && line.contains(part));
    let words = RETIRED.iter().filter(move |_| !is_allowed);
    words.filter(move |it| has_word(line, it.word))
}

/// Whether a text has a word or a phrase with no letter, digit or underscore at either side.
fn has_word(text: &str, word: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(start, _)| {
        let before = text.get(..start).and_then(|it| it.chars().next_back());
        let after = text.get(start + word.len()..);
        let after = after.and_then(|it| it.chars().next());
        !before.is_some_and(continues) && !after.is_some_and(continues)
    })
}

#[test]
fn a_retired_word_is_found_as_a_whole_word() {
    let found = |file: &'static str, line: &'static str| -> Vec<&str> {
        retired_in(file, line).map(|it| it.word).collect()
    };
    assert_eq!(found("a.rs", "fn told(by: Maker) {}"), ["Maker", "told"]);
    assert_eq!(found("a.rs", "/// A line is passed by."), ["passed by"]);
    assert_eq!(
        found("a.rs", "let retold = MakerColumns::told_in;"),
        [""; 0]
    );
    assert_eq!(found("docs/CHANGELOG.md", "who was told"), [""; 0]);
    assert_eq!(found("a.rs", "info!(\"told to stop\")"), [""; 0]);
}
