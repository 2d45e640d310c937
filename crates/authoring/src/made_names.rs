//! Keys and slugs made from labels, questions and names.
//!
//! The letters and digits of ASCII that others are written with: `é` is an `e` with an accent.
//!
//! By Unicode's canonical decomposition (form D), as the crate `unicode-normalization` has it; a test
//! compares every character. The crate's tables are ten times as large, and programs that are fetched
//! by a page read prism files too.

use std::collections::{BTreeSet, HashMap};

use refract_domain::key::{FieldKey, OutcomeKey, QuestionKey};
use refract_domain::limits::{KEY_CHARS, PRISM_PATH_CHARS};
use refract_domain::prism::{Outcome, Slug};
use refract_domain::problem::ValidationError;

/// Most words in the key of a question.
const QUESTION_KEY_WORDS: usize = 3;

/// English words that most questions have, or that name the text that is judged: they do not
/// distinguish one question from another.
const FILLING: [&str; 69] = [
    "a", "an", "and", "any", "anybody", "anyone", "are", "as", "at", "be", "by", "can", "comment",
    "could", "did", "do", "does", "email", "for", "from", "has", "have", "how", "in", "into", "is",
    "it", "its", "letter", "mail", "may", "message", "must", "of", "on", "one", "or", "post",
    "review", "s", "should", "some", "somebody", "someone", "text", "than", "that", "the", "their",
    "there", "they", "these", "this", "those", "ticket", "to", "was", "we", "were", "what", "when",
    "where", "which", "who", "whose", "why", "will", "with", "would",
];

/// The numbers at the end of made keys that were tried, by the words before them and how many digits
/// a number has: of many items with one label, each goes on where the one before it ended. For keys
/// of one set that only grows.
#[derive(Debug, Default)]
pub struct TriedNumbers(HashMap<(String, u32), u32>);

/// Makes the key of an option or level from its label; `taken` returns whether a key is in use.
///
/// The words of the label are joined by `_`. The key is `option` when no letter or digit is left;
/// `option_` is put before a leading digit, and `_2`, `_3`, … after a key in use (readings).
fn outcome_key(label: &str, tried: &mut TriedNumbers, taken: impl Fn(&str) -> bool) -> OutcomeKey {
    made_key(
        &ascii_words(label),
        "option",
        tried,
        taken,
        OutcomeKey::parse,
    )
}

/// Fills in the keys of a question's options or levels, each with its key, if it has one, and its
/// label. A label that `previous` has keeps its key; any other label gets a new one.
pub fn outcome_keys(
    outcomes: &[(Option<OutcomeKey>, &str)],
    previous: &[Outcome],
    is_reserved: impl Fn(&OutcomeKey) -> bool,
) -> Vec<OutcomeKey> {
    let mut taken = BTreeSet::<OutcomeKey>::new();
    taken.extend(outcomes.iter().filter_map(|(key, _)| key.clone()));
    // labels of the previous version get their keys first, so that no new label takes one of
    // those keys
    let kept: Vec<_> = outcomes
        .iter()
        .map(|(key, label)| {
            let mut had = previous.iter().filter(|before| before.label == *label);
            key.clone().or_else(|| {
                let had = had.find(|before| taken.insert(before.key.clone()));
                had.map(|had| had.key.clone())
            })
        })
        .collect();
    let labels = outcomes.iter().map(|(_, label)| label);
    let mut tried = TriedNumbers::default();
    let keys = kept.into_iter().zip(labels).map(|(key, label)| {
        key.unwrap_or_else(|| {
            let is_taken = |key: &str| {
                OutcomeKey::parse(key).is_ok_and(|key| taken.contains(&key) || is_reserved(&key))
            };
            let made = outcome_key(label, &mut tried, is_taken);
            taken.insert(made.clone());
            made
        })
    });
    keys.collect()
}

/// Makes the key of a field from its label, as `outcome_key` does, but with `field` in place of
/// `option`. It is never a reserved key.
pub fn field_key(label: &str, tried: &mut TriedNumbers, taken: impl Fn(&str) -> bool) -> FieldKey {
    made_key(&ascii_words(label), "field", tried, taken, FieldKey::parse)
}

/// Makes the key of a question from its text, as `outcome_key` does, but with `question` in place
/// of `option`. It is never a reserved key.
///
/// Callers write the key for ever, so it is short: the first three words that distinguish the
/// question. "What is the review about?" becomes `about`, "Is it a bug report?" `bug_report`.
pub fn question_key(
    text: &str,
    tried: &mut TriedNumbers,
    taken: impl Fn(&str) -> bool,
) -> QuestionKey {
    let words = ascii_words(text);
    let telling = words
        .iter()
        .filter(|word| !FILLING.contains(&word.as_str()));
    let mut short: Vec<_> = telling.take(QUESTION_KEY_WORDS).cloned().collect();
    if short.is_empty() {
        short = words;
    }
    made_key(&short, "question", tried, taken, QuestionKey::parse)
}

/// Makes a free key from words; `parse` must accept it. The key is `noun` when there is no word,
/// and begins with `noun` when the first word begins with a digit.
fn made_key<Key>(
    words: &[String],
    noun: &str,
    tried: &mut TriedNumbers,
    taken: impl Fn(&str) -> bool,
    parse: fn(&str) -> Result<Key, ValidationError>,
) -> Key {
    let joined = words.join("_");
    let base = match joined.bytes().next() {
        None => noun.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{noun}_{joined}"),
        Some(_) => joined,
    };
    let free = |key: &str| parse(key).ok().filter(|_| !taken(key));
    if let Some(key) = free(ascii_prefix(&base, KEY_CHARS).trim_end_matches('_')) {
        return key;
    }
    let mut number: u32 = 2;
    loop {
        let digits = number.ilog10();
        let room = KEY_CHARS - 2 - usize::try_from(digits).unwrap_or_default();
        let words = ascii_prefix(&base, room).to_owned();
        let next = tried.0.entry((words, digits)).or_insert(number);
        number = number.max(*next);
        // one more digit leaves room for fewer words
        if number.ilog10() > digits {
            continue;
        }
        *next = number + 1;
        if let Some(key) = free(&format!("{}_{number}", ascii_prefix(&base, room))) {
            return key;
        }
        number += 1;
    }
}

/// Candidate slugs for a new prism of this name, in order of preference: the prism gets the first
/// one that is free in the account.
pub fn slugs(name: &str) -> impl Iterator<Item = Slug> + use<> {
    let words = ascii_words(name).join("-");
    let base = if words.is_empty() {
        "prism".to_owned()
    } else {
        words
    };
    (1_u32..).filter_map(move |number| {
        let suffix = match number {
            1 => String::new(),
            _ => format!("-{number}"),
        };
        let kept = ascii_prefix(&base, PRISM_PATH_CHARS - suffix.len());
        Slug::parse(&format!("{}{suffix}", kept.trim_end_matches('-')))
    })
}

/// Whether a key or a slug can be made from a text as it is: it has Latin letters, or digits and no
/// letters of another script.
pub fn has_words(text: &str) -> bool {
    let words = ascii_words(text);
    let mut characters = words.iter().flat_map(|word| word.chars());
    let has_letters = characters.any(|c| c.is_ascii_alphabetic());
    has_letters || (!words.is_empty() && !text.chars().any(char::is_alphabetic))
}

/// The words of a text in lower case ASCII letters and digits; accents are dropped.
fn ascii_words(text: &str) -> Vec<String> {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match unaccented(c) {
            Unaccented::Plain(c) => plain.push(c),
            Unaccented::Mark => {}
            Unaccented::Other => plain.push(' '),
        }
    }
    plain.split_whitespace().map(str::to_owned).collect()
}

/// The first `bytes` bytes of an ASCII text, or the whole text when it is shorter.
fn ascii_prefix(text: &str, bytes: usize) -> &str {
    text.get(..bytes).unwrap_or(text)
}

/// What a character is without its accents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unaccented {
    /// A lower case letter or a digit of ASCII.
    Plain(char),
    /// Nothing: the character is a mark upon the one before it.
    Mark,
    /// Another character.
    Other,
}

/// Letters of ASCII, each with the characters that are the same letter with accents, in both cases.
#[rustfmt::skip]
const LETTERS: [(char, &str); 25] = [
    ('a', "ÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎǞǟǠǡǺǻȀȁȂȃȦȧḀḁẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặ\u{212b}"),
    ('b', "ḂḃḄḅḆḇ"),
    ('c', "ÇçĆćĈĉĊċČčḈḉ"),
    ('d', "ĎďḊḋḌḍḎḏḐḑḒḓ"),
    ('e', "ÈÉÊËèéêëĒēĔĕĖėĘęĚěȄȅȆȇȨȩḔḕḖḗḘḙḚḛḜḝẸẹẺẻẼẽẾếỀềỂểỄễỆệ"),
    ('f', "Ḟḟ"),
    ('g', "ĜĝĞğĠġĢģǦǧǴǵḠḡ"),
    ('h', "ĤĥȞȟḢḣḤḥḦḧḨḩḪḫẖ"),
    ('i', "ÌÍÎÏìíîïĨĩĪīĬĭĮįİǏǐȈȉȊȋḬḭḮḯỈỉỊị"),
    ('j', "Ĵĵǰ"),
    ('k', "ĶķǨǩḰḱḲḳḴḵ\u{212a}"),
    ('l', "ĹĺĻļĽľḶḷḸḹḺḻḼḽ"),
    ('m', "ḾḿṀṁṂṃ"),
    ('n', "ÑñŃńŅņŇňǸǹṄṅṆṇṈṉṊṋ"),
    ('o', "ÒÓÔÕÖòóôõöŌōŎŏŐőƠơǑǒǪǫǬǭȌȍȎȏȪȫȬȭȮȯȰȱṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợ"),
    ('p', "ṔṕṖṗ"),
    ('r', "ŔŕŖŗŘřȐȑȒȓṘṙṚṛṜṝṞṟ"),
    ('s', "ŚśŜŝŞşŠšȘșṠṡṢṣṤṥṦṧṨṩ"),
    ('t', "ŢţŤťȚțṪṫṬṭṮṯṰṱẗ"),
    ('u', "ÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųƯưǓǔǕǖǗǘǙǚǛǜȔȕȖȗṲṳṴṵṶṷṸṹṺṻỤụỦủỨứỪừỬửỮữỰự"),
    ('v', "ṼṽṾṿ"),
    ('w', "ŴŵẀẁẂẃẄẅẆẇẈẉẘ"),
    ('x', "ẊẋẌẍ"),
    ('y', "ÝýÿŶŷŸȲȳẎẏẙỲỳỴỵỶỷỸỹ"),
    ('z', "ŹźŻżŽžẐẑẒẓẔẕ"),
];

/// The marks that combine with the character before them, as the first and last of each range.
const MARKS: &str = "\
    \u{300}\u{36f}\u{483}\u{489}\u{591}\u{5bd}\u{5bf}\u{5bf}\u{5c1}\u{5c2}\u{5c4}\u{5c5}\
    \u{5c7}\u{5c9}\u{610}\u{61a}\u{64b}\u{65f}\u{670}\u{670}\u{6d6}\u{6dc}\u{6df}\u{6e4}\
    \u{6e7}\u{6e8}\u{6ea}\u{6ed}\u{711}\u{711}\u{730}\u{74a}\u{7a6}\u{7b0}\u{7eb}\u{7f3}\
    \u{7fd}\u{7fd}\u{816}\u{819}\u{81b}\u{823}\u{825}\u{827}\u{829}\u{82d}\u{859}\u{85b}\
    \u{897}\u{89f}\u{8ca}\u{8e1}\u{8e3}\u{903}\u{93a}\u{93c}\u{93e}\u{94f}\u{951}\u{957}\
    \u{962}\u{963}\u{981}\u{983}\u{9bc}\u{9bc}\u{9be}\u{9c4}\u{9c7}\u{9c8}\u{9cb}\u{9cd}\
    \u{9d7}\u{9d7}\u{9e2}\u{9e3}\u{9fe}\u{9fe}\u{a01}\u{a03}\u{a3c}\u{a3c}\u{a3e}\u{a42}\
    \u{a47}\u{a48}\u{a4b}\u{a4d}\u{a51}\u{a51}\u{a70}\u{a71}\u{a75}\u{a75}\u{a81}\u{a83}\
    \u{abc}\u{abc}\u{abe}\u{ac5}\u{ac7}\u{ac9}\u{acb}\u{acd}\u{ae2}\u{ae3}\u{afa}\u{aff}\
    \u{b01}\u{b03}\u{b3c}\u{b3c}\u{b3e}\u{b44}\u{b47}\u{b48}\u{b4b}\u{b4d}\u{b53}\u{b57}\
    \u{b62}\u{b63}\u{b82}\u{b82}\u{bbe}\u{bc2}\u{bc6}\u{bc8}\u{bca}\u{bcd}\u{bd7}\u{bd7}\
    \u{c00}\u{c04}\u{c3c}\u{c3c}\u{c3e}\u{c44}\u{c46}\u{c48}\u{c4a}\u{c4d}\u{c55}\u{c56}\
    \u{c62}\u{c63}\u{c81}\u{c83}\u{cbc}\u{cbc}\u{cbe}\u{cc4}\u{cc6}\u{cc8}\u{cca}\u{ccd}\
    \u{cd5}\u{cd6}\u{ce2}\u{ce3}\u{cf3}\u{cf3}\u{d00}\u{d03}\u{d3b}\u{d3c}\u{d3e}\u{d44}\
    \u{d46}\u{d48}\u{d4a}\u{d4d}\u{d57}\u{d57}\u{d62}\u{d63}\u{d81}\u{d83}\u{dca}\u{dca}\
    \u{dcf}\u{dd4}\u{dd6}\u{dd6}\u{dd8}\u{ddf}\u{df2}\u{df3}\u{e31}\u{e31}\u{e34}\u{e3a}\
    \u{e47}\u{e4e}\u{eb1}\u{eb1}\u{eb4}\u{ebc}\u{ec8}\u{ece}\u{f18}\u{f19}\u{f35}\u{f35}\
    \u{f37}\u{f37}\u{f39}\u{f39}\u{f3e}\u{f3f}\u{f71}\u{f84}\u{f86}\u{f87}\u{f8d}\u{f97}\
    \u{f99}\u{fbc}\u{fc6}\u{fc6}\u{102b}\u{103e}\u{1056}\u{1059}\u{105e}\u{1060}\u{1062}\u{1064}\
    \u{1067}\u{106d}\u{1071}\u{1074}\u{1082}\u{108d}\u{108f}\u{108f}\u{109a}\u{109d}\
    \u{135d}\u{135f}\u{1712}\u{1715}\u{1732}\u{1734}\u{1752}\u{1753}\u{1772}\u{1773}\
    \u{17b4}\u{17d3}\u{17dd}\u{17dd}\u{180b}\u{180d}\u{180f}\u{180f}\u{1885}\u{1886}\
    \u{18a9}\u{18a9}\u{1920}\u{192b}\u{1930}\u{193b}\u{1a17}\u{1a1b}\u{1a55}\u{1a5e}\
    \u{1a60}\u{1a7c}\u{1a7f}\u{1a7f}\u{1ab0}\u{1af0}\u{1b00}\u{1b04}\u{1b34}\u{1b44}\
    \u{1b6b}\u{1b73}\u{1b80}\u{1b82}\u{1ba1}\u{1bad}\u{1be6}\u{1bf3}\u{1c24}\u{1c37}\
    \u{1cd0}\u{1cd2}\u{1cd4}\u{1ce8}\u{1ced}\u{1ced}\u{1cf4}\u{1cf4}\u{1cf7}\u{1cf9}\
    \u{1dc0}\u{1dff}\u{20d0}\u{20f0}\u{2cef}\u{2cf1}\u{2d7f}\u{2d7f}\u{2de0}\u{2dff}\
    \u{302a}\u{302f}\u{3099}\u{309a}\u{a66f}\u{a672}\u{a674}\u{a67d}\u{a69e}\u{a69f}\
    \u{a6f0}\u{a6f1}\u{a802}\u{a802}\u{a806}\u{a806}\u{a80b}\u{a80b}\u{a823}\u{a827}\
    \u{a82c}\u{a82c}\u{a880}\u{a881}\u{a8b4}\u{a8c5}\u{a8e0}\u{a8f1}\u{a8ff}\u{a8ff}\
    \u{a926}\u{a92d}\u{a947}\u{a953}\u{a980}\u{a983}\u{a9b3}\u{a9c0}\u{a9e5}\u{a9e5}\
    \u{aa29}\u{aa36}\u{aa43}\u{aa43}\u{aa4c}\u{aa4d}\u{aa7b}\u{aa7d}\u{aab0}\u{aab0}\
    \u{aab2}\u{aab4}\u{aab7}\u{aab8}\u{aabe}\u{aabf}\u{aac1}\u{aac1}\u{aaeb}\u{aaef}\
    \u{aaf5}\u{aaf6}\u{abe3}\u{abea}\u{abec}\u{abed}\u{fb1e}\u{fb1e}\u{fe00}\u{fe0f}\
    \u{fe20}\u{fe2f}\u{101fd}\u{101fd}\u{102e0}\u{102e0}\u{10376}\u{1037a}\u{10a01}\u{10a03}\
    \u{10a05}\u{10a06}\u{10a0c}\u{10a0f}\u{10a38}\u{10a3a}\u{10a3f}\u{10a3f}\u{10ae5}\u{10ae6}\
    \u{10d24}\u{10d27}\u{10d69}\u{10d6d}\u{10eab}\u{10eac}\u{10ecb}\u{10ecf}\u{10ef0}\u{10eff}\
    \u{10f46}\u{10f50}\u{10f82}\u{10f85}\u{11000}\u{11002}\u{11038}\u{11046}\u{11070}\u{11070}\
    \u{11073}\u{11074}\u{1107f}\u{11082}\u{110b0}\u{110ba}\u{110c2}\u{110c2}\u{11100}\u{11102}\
    \u{11127}\u{11134}\u{11145}\u{11146}\u{11173}\u{11173}\u{11180}\u{11182}\u{111b3}\u{111c0}\
    \u{111c9}\u{111cc}\u{111ce}\u{111cf}\u{1122c}\u{11237}\u{1123e}\u{1123e}\u{11241}\u{11241}\
    \u{112df}\u{112ea}\u{11300}\u{11303}\u{1133b}\u{1133c}\u{1133e}\u{11344}\u{11347}\u{11348}\
    \u{1134b}\u{1134d}\u{11357}\u{11357}\u{11362}\u{11363}\u{11366}\u{1136c}\u{11370}\u{11374}\
    \u{113b8}\u{113c0}\u{113c2}\u{113c2}\u{113c5}\u{113c5}\u{113c7}\u{113ca}\u{113cc}\u{113d0}\
    \u{113d2}\u{113d2}\u{113e1}\u{113e2}\u{11435}\u{11446}\u{1145e}\u{1145e}\u{114b0}\u{114c3}\
    \u{115af}\u{115b5}\u{115b8}\u{115c0}\u{115dc}\u{115dd}\u{11630}\u{11640}\u{116ab}\u{116b7}\
    \u{1171d}\u{1172b}\u{1182c}\u{1183a}\u{11930}\u{11935}\u{11937}\u{11938}\u{1193b}\u{1193e}\
    \u{11940}\u{11940}\u{11942}\u{11943}\u{119d1}\u{119d7}\u{119da}\u{119e0}\u{119e4}\u{119e4}\
    \u{11a01}\u{11a0a}\u{11a33}\u{11a39}\u{11a3b}\u{11a3e}\u{11a47}\u{11a47}\u{11a51}\u{11a5b}\
    \u{11a8a}\u{11a99}\u{11b60}\u{11b67}\u{11c2f}\u{11c36}\u{11c38}\u{11c3f}\u{11c92}\u{11ca7}\
    \u{11ca9}\u{11cb6}\u{11d31}\u{11d36}\u{11d3a}\u{11d3a}\u{11d3c}\u{11d3d}\u{11d3f}\u{11d45}\
    \u{11d47}\u{11d47}\u{11d8a}\u{11d8e}\u{11d90}\u{11d91}\u{11d93}\u{11d97}\u{11df0}\u{11df0}\
    \u{11ef3}\u{11ef6}\u{11f00}\u{11f01}\u{11f03}\u{11f03}\u{11f34}\u{11f3a}\u{11f3e}\u{11f42}\
    \u{11f5a}\u{11f5a}\u{13440}\u{13440}\u{13447}\u{13455}\u{1611e}\u{1612f}\u{16af0}\u{16af4}\
    \u{16b30}\u{16b36}\u{16f4f}\u{16f4f}\u{16f51}\u{16f87}\u{16f8f}\u{16f92}\u{16fe4}\u{16fe4}\
    \u{16ff0}\u{16ff1}\u{1bc9d}\u{1bc9e}\u{1cf00}\u{1cf2d}\u{1cf30}\u{1cf46}\u{1d127}\u{1d128}\
    \u{1d165}\u{1d169}\u{1d16d}\u{1d172}\u{1d17b}\u{1d182}\u{1d185}\u{1d18b}\u{1d1aa}\u{1d1ad}\
    \u{1d242}\u{1d244}\u{1d250}\u{1d252}\u{1d25b}\u{1d25c}\u{1d25f}\u{1d25f}\u{1d280}\u{1d281}\
    \u{1da00}\u{1da36}\u{1da3b}\u{1da6c}\u{1da75}\u{1da75}\u{1da84}\u{1da84}\u{1da9b}\u{1da9f}\
    \u{1daa1}\u{1daaf}\u{1e000}\u{1e006}\u{1e008}\u{1e018}\u{1e01b}\u{1e021}\u{1e023}\u{1e024}\
    \u{1e026}\u{1e02a}\u{1e08f}\u{1e08f}\u{1e130}\u{1e136}\u{1e2ae}\u{1e2ae}\u{1e2ec}\u{1e2ef}\
    \u{1e4ec}\u{1e4ef}\u{1e5ee}\u{1e5ef}\u{1e6e3}\u{1e6e3}\u{1e6e6}\u{1e6e6}\u{1e6ee}\u{1e6ef}\
    \u{1e6f5}\u{1e6f5}\u{1e8d0}\u{1e8d6}\u{1e944}\u{1e94a}\u{e0100}\u{e01ef}";

/// What a character is without its accents, in lower case.
fn unaccented(c: char) -> Unaccented {
    if c.is_ascii() {
        let lower = c.to_ascii_lowercase();
        let is_plain = lower.is_ascii_lowercase() || lower.is_ascii_digit();
        return if is_plain {
            Unaccented::Plain(lower)
        } else {
            Unaccented::Other
        };
    }
    if let Some((letter, _)) = LETTERS.iter().find(|(_, accented)| accented.contains(c)) {
        return Unaccented::Plain(*letter);
    }
    let mut ends = MARKS.chars();
    while let (Some(first), Some(last)) = (ends.next(), ends.next()) {
        if (first..=last).contains(&c) {
            return Unaccented::Mark;
        }
    }
    Unaccented::Other
}

#[cfg(test)]
mod tests;
