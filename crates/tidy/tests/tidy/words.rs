//! Retired words: paraphrases of a term that the field has, and words with a second meaning. Each
//! has a word to use instead. The changelog and decision records may name them: they describe the
//! past.

mod fragments;

use std::sync::LazyLock;

use self::fragments::Fragment;
use crate::{assert_none, files, has_ending, read};

/// Where a word is retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Identifiers, also as segments of longer ones.
    Names,
    Comments,
    /// String literals: messages, metrics, texts of pages and data of tests.
    Messages,
    /// Markdown, style sheets and scripts.
    Pages,
}

/// All places.
const EVERYWHERE: &[Place] = &[Place::Names, Place::Comments, Place::Messages, Place::Pages];

/// Everything that readers of the code see. Messages keep a word that callers know.
const OURS: &[Place] = &[Place::Names, Place::Comments, Place::Pages];

/// Only identifiers: the word is plain English elsewhere.
const NAMES: &[Place] = &[Place::Names];

/// Words and phrases, and what to write instead. A phrase is also found as an identifier:
/// `by hand` in `is_made_by_hand` and `ByHand`.
const RETIRED: [(&str, &[Place], &str); 32] = [
    ("left alone", EVERYWHERE, "ejected, or unchanged"),
    ("leaves alone", EVERYWHERE, "ejects, or does not change"),
    ("so many of so many", EVERYWHERE, "`count` of `total`"),
    ("good once", EVERYWHERE, "single-use"),
    ("by hand", EVERYWHERE, "manually"),
    ("torn", EVERYWHERE, "the number of cells, or split"),
    ("passed by", EVERYWHERE, "ignored"),
    ("not built in", EVERYWHERE, "not supported"),
    ("want of", EVERYWHERE, "without, or because there is no"),
    ("so many percent", EVERYWHERE, "the percent"),
    ("to be had", EVERYWHERE, "available"),
    ("way of its own", EVERYWHERE, "native extension"),
    ("ways of their own", EVERYWHERE, "native extensions"),
    ("so long a", EVERYWHERE, "a sentence with its noun first"),
    (
        "bare handler s",
        EVERYWHERE,
        "of the handler without a use case",
    ),
    ("forgetting", EVERYWHERE, "retention, erasure or deletion"),
    ("whoever", OURS, "the noun: the caller, further requests"),
    ("told", EVERYWHERE, "reported, distinguished, notified"),
    ("untold", EVERYWHERE, "unseen, inconclusive"),
    ("maker", OURS, "actor"),
    ("makers", OURS, "actors"),
    ("forget", NAMES, "delete, purge, erase or expire"),
    ("forgets", NAMES, "deletes, purges, erases or expires"),
    ("forgotten", NAMES, "deleted, purged, erased or expired"),
    ("said", NAMES, "what it is: reported, printed, stated"),
    ("says", NAMES, "what it does: reports, shows, has"),
    ("tells", NAMES, "what it does: reports, shows, has"),
    ("made by", NAMES, "actor"),
    ("lexical", NAMES, "demo_scorer"),
    ("own way", NAMES, "native extension"),
    ("faulty", NAMES, "invalid"),
    ("first mark", NAMES, "first_watermark"),
];

/// The words of each retired phrase.
static PHRASES: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let phrases = RETIRED.iter().map(|(phrase, _, _)| phrase.split(' '));
    phrases.map(Iterator::collect).collect()
});

/// Whole identifiers, and what to use instead. In comments and pages they count if they cannot be
/// plain words.
const RETIRED_NAMES: [(&str, &str); 39] = [
    ("Acted", "what it is, such as `FormAction`"),
    ("Caller", "`AccountActor`"),
    ("ChangedWords", "`ChangedWording`"),
    ("Checked", "what it is, such as `CheckedMarks`"),
    ("CodeCoverage", "`ParsedCodes`"),
    ("Creation", "an `…Outcome`"),
    ("Door", "`Access`"),
    ("Failure", "an `…Error` or `…Outcome`"),
    ("FairTurn", "`QueuePermit`"),
    ("Fault", "`ValidationError`"),
    ("FirstCalls", "`SingleFlight`"),
    ("FixedServer", "`TestServer`"),
    ("FormFaults", "`FormErrors`"),
    ("Halt", "an `…Outcome`"),
    ("Inviting", "an `…Outcome`"),
    ("KeyTurn", "`FlightRole`"),
    ("MakerName", "`ActorName`"),
    ("OutcomeCoverage", "`ParsedOutcomes`"),
    ("OwnWay", "`NativeExtension`"),
    ("PLANNED_ANEW", "`CUSTOM_PLAN`"),
    ("PersonWriting", "an `…Outcome`"),
    ("PrismName", "`DisplayName`"),
    ("Refusal", "an `…Error`"),
    ("SaidOutcomes", "`StatedOutcomes`"),
    ("SaveBackoff", "`RetryPolicy`"),
    ("Saving", "an `…Outcome`"),
    ("Sent", "what it is, such as `SentFields`"),
    ("SpanMaker", "`ProcessTracer`"),
    ("Stop", "an `…Outcome`"),
    ("TurnQueue", "`PermitQueue`"),
    ("UTF_8_MARK", "`BYTE_ORDER_MARK`"),
    ("Writing", "an `…Outcome`"),
    ("answer_by_lexical", "`answer_by_demo_scorer`"),
    ("field_value_faults", "`field_value_errors`"),
    ("forget_results", "`delete_results`"),
    ("in_words", "`message` or `describe`"),
    ("is_left_alone", "`is_ejected`"),
    ("settings_or_lexical", "`settings_or_demo_scorer`"),
    ("told_changes", "`change_notices`"),
];

/// Words that stay: the word, the beginning of the paths, and a part of the line. Each is a name of
/// something else, a stored name, or a name that callers know.
const KEPT: [(&str, &str, &str); 17] = [
    // the old name of a metric, for one release
    ("left alone", "", "refract_model_server_left_alone"),
    // columns and a key of `refract results show --json`
    ("untold", "crates/persistence/", "untold_event"),
    ("made by", "bin/refract/", "made_by"),
    ("made by", "crates/persistence/", "made_by"),
    ("made by", "crates/identity/", "made_by"),
    ("made by", "crates/service/", "made_by"),
    (
        "made by",
        "crates/terminal/src/commands/shown_result",
        "made_by",
    ),
    // texts about which prisms ask
    ("told", "crates/authoring/src/wording/", "\"told\""),
    ("told", "bin/refract/benches/", "was told that"),
    ("told", "crates/service/benches/", "a machine told me"),
    // names of decision records
    ("forgetting", "docs/", "0012-forgetting"),
    ("by hand", "docs/", "0014-traces-by-hand-made-spans"),
    // functions of the standard library and of tokio
    ("forget", "crates/identity/", "mem::forget"),
    ("forget", "crates/service/", "permit.forget"),
    ("forget", "crates/service/", "forget_permits"),
    ("forget", "crates/test-support/", "permit.forget"),
    // the outcome of JUnit
    ("Failure", "crates/terminal/", "NonSuccessKind::Failure"),
];

/// This rule, which names every retired word.
const RULE: &str = "crates/tidy/tests/tidy/words.rs";

/// What describes the past, and decision records, which are never rewritten.
const HISTORY: [&str; 2] = ["docs/CHANGELOG.md", "docs/adr/"];

/// Extensions of the files that are read, besides Rust.
const PAGES: [&str; 6] = ["css", "js", "md", "mjs", "sh", "yml"];

#[test]
fn no_retired_word_is_used() {
    let mut breaches = Vec::new();
    for file in files() {
        let is_page = PAGES.iter().any(|ending| has_ending(&file, ending));
        let is_history = HISTORY.iter().any(|history| file.starts_with(history));
        if (is_page || has_ending(&file, "rs")) && !is_history && file != RULE {
            breaches.extend(breaches_of(&file, &read(&file)));
        }
    }
    assert_none("a retired word: use the other one", &breaches);
}

/// The retired words in a Rust file or a page, each with its line and the word to use.
fn breaches_of(file: &str, text: &str) -> Vec<String> {
    let fragments = if has_ending(file, "rs") {
        fragments::of_source(text)
    } else {
        fragments::of_page(text)
    };
    let mut breaches = Vec::new();
    for fragment in &fragments {
        for (word, instead) in retired_in(fragment) {
            let is_kept = KEPT.iter().any(|(kept, folder, part)| {
                *kept == word && file.starts_with(folder) && fragment.text.contains(part)
            });
            if !is_kept {
                let line = fragment.line;
                breaches.push(format!("{file}:{line}: `{word}`: write {instead}"));
            }
        }
    }
    breaches
}

/// The retired words of a fragment, each with the word to use instead.
fn retired_in(fragment: &Fragment<'_>) -> Vec<(&'static str, &'static str)> {
    // in code, a phrase does not reach from one identifier into the next
    let sentences: Vec<Vec<String>> = match fragment.place {
        Place::Names => identifiers(fragment.text).map(words).collect(),
        Place::Comments | Place::Messages | Place::Pages => vec![words(fragment.text)],
    };
    let phrases = RETIRED
        .iter()
        .zip(&*PHRASES)
        .filter(|((_, places, _), phrase)| {
            let has_phrase =
                |words: &Vec<String>| words.windows(phrase.len()).any(|it| it == *phrase);
            places.contains(&fragment.place) && sentences.iter().any(has_phrase)
        });
    let names = RETIRED_NAMES.iter().filter(|(retired, _)| {
        let counts = match fragment.place {
            Place::Names => true,
            Place::Comments | Place::Pages => is_unmistakable(retired),
            Place::Messages => false,
        };
        counts && identifiers(fragment.text).any(|name| name == *retired)
    });
    let phrases = phrases.map(|((phrase, _, instead), _)| (*phrase, *instead));
    phrases.chain(names.copied()).collect()
}

/// The identifiers and plain words of a text.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric() && it != '_')
        .filter(|name| !name.is_empty())
}

/// The words of a text in lower case. An identifier is cut at underscores, and before capitals that
/// follow a small letter.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in identifiers(text).flat_map(|name| name.split('_')) {
        let mut word = String::new();
        for it in part.chars() {
            if it.is_uppercase() && word.ends_with(char::is_lowercase) {
                words.push(std::mem::take(&mut word).to_lowercase());
            }
            word.push(it);
        }
        words.push(word.to_lowercase());
    }
    words
}

/// Whether an identifier cannot be a word of a sentence: it has an underscore, or a capital after a
/// small letter.
fn is_unmistakable(name: &str) -> bool {
    words(name).len() > 1
}

#[test]
fn a_retired_word_is_found_in_each_place() {
    let source = "// a link that is good once\nfn is_left_alone(by: Caller) -> OwnWay {\n    \
        log(\"2 rows are passed by\");\n}\n";
    let found = breaches_of("a.rs", source);
    let expected = [
        "a.rs:1: `good once`: write single-use",
        "a.rs:2: `left alone`: write ejected, or unchanged",
        "a.rs:2: `own way`: write native extension",
        "a.rs:2: `Caller`: write `AccountActor`",
        "a.rs:2: `OwnWay`: write `NativeExtension`",
        "a.rs:2: `is_left_alone`: write `is_ejected`",
        "a.rs:3: `passed by`: write ignored",
    ];
    assert_eq!(found, expected);
    let found = breaches_of("b.md", "Torn lines, see `FirstCalls`.");
    let expected = [
        "b.md:1: `torn`: write the number of cells, or split",
        "b.md:1: `FirstCalls`: write `SingleFlight`",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_word_that_means_something_else_stays() {
    let source = "// Saving is what the Caller, a program, was promised.\n\
        let note = \"it was said by a maker of bicycles\";\n";
    assert_eq!(breaches_of("a.rs", source), [""; 0]);
    let metric = "let old = \"refract_model_server_left_alone\";\n";
    assert_eq!(breaches_of("a.rs", metric), [""; 0]);
}
