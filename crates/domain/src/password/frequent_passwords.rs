//! The most common passwords of ten characters and more, as lists of leaked passwords have them.
//!
//! Most of those are one word of a small number, with digits and marks around it and some letters
//! replaced by digits that look alike, so words are listed and not spellings.

/// Words that a common password consists of, alone or repeated.
const WORDS: [&str; 66] = [
    "abc",
    "administrator",
    "admin",
    "america",
    "azerty",
    "babygirl",
    "baseball",
    "basketball",
    "batman",
    "bonjour",
    "butterfly",
    "changeme",
    "charlie",
    "chocolate",
    "computer",
    "default",
    "dragon",
    "flower",
    "football",
    "freedom",
    "fuckyou",
    "hallo",
    "hello",
    "hottie",
    "iloveu",
    "iloveyou",
    "internet",
    "jennifer",
    "jessica",
    "jordan",
    "killer",
    "letmein",
    "liverpool",
    "login",
    "lovely",
    "loveme",
    "master",
    "michael",
    "michelle",
    "monkey",
    "mynoob",
    "ninja",
    "passw",
    "passwort",
    "password",
    "pokemon",
    "princess",
    "qazwsx",
    "qwer",
    "qwerty",
    "qwertyuiop",
    "refract",
    "root",
    "samsung",
    "secret",
    "shadow",
    "soccer",
    "spiderman",
    "starwars",
    "summer",
    "sunshine",
    "superman",
    "test",
    "trustno",
    "welcome",
    "winter",
];

/// Rows and columns of keyboards, and other passwords that are no word.
const SPELLINGS: [&str; 22] = [
    "!qaz2wsx3edc",
    "0987654321a",
    "1234554321",
    "12345678910",
    "123456789a",
    "1234567890q",
    "1234qwerasdf",
    "123qweasdzxc",
    "147258369",
    "1q2w3e4r5t",
    "1qaz2wsx3edc",
    "1qazxsw23edc",
    "3.1415926535",
    "a123456789",
    "asdfghjkl;",
    "asdfghjklqwertyuiop",
    "poiuytrewq",
    "q1w2e3r4t5y6",
    "qazwsxedcrfv",
    "qwertzuiop",
    "thisisapassword",
    "zxcvbnm,./",
];

/// Whether a password, in lower case, is among the most common ones.
pub(super) fn is_common(password: &str) -> bool {
    let begins_with = |spelling: &str| {
        let rest = password.strip_prefix(spelling);
        rest.is_some_and(|rest| rest.chars().count() <= 4)
    };
    if SPELLINGS.iter().any(|spelling| begins_with(spelling)) {
        return true;
    }
    let stem = password.trim_matches(|c: char| !c.is_alphabetic());
    let read: String = stem.chars().map(letter_like).collect();
    [stem, &read].into_iter().any(|spelled| {
        let mut words = spelled.split(|c: char| !c.is_alphabetic());
        !spelled.is_empty() && words.all(is_words)
    })
}

/// Whether a word is one of the list, or several written together.
fn is_words(word: &str) -> bool {
    word.is_empty()
        || WORDS
            .iter()
            .any(|known| word.strip_prefix(known).is_some_and(is_words))
}

/// The letter that a digit or mark stands for in passwords such as `p@ssw0rd`.
fn letter_like(character: char) -> char {
    match character {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    }
}
