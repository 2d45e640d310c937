//! Passwords: what people type, and which passwords are refused because they are easily guessed.

mod frequent_passwords;

use std::ops::RangeInclusive;

use refract_domain::problem::ValidationError;
use refract_domain::problem::text;
use unicode_normalization::UnicodeNormalization as _;

/// Allowed length of a password, in characters.
const PASSWORD_CHARS: RangeInclusive<usize> = 10..=1_000;
/// Most bytes of the typed text that are read: more than the longest password has in any form.
const TYPED_BYTES: usize = 8 * 1024;
/// Least number of different characters in a password.
const DIFFERENT_CHARS: usize = 4;

/// A password as typed, right or wrong. It has no `Debug` and no `Display`, so that no log shows
/// one by accident.
///
/// Keyboards write some characters in several ways, so a password is normalised (NFKC) before it is
/// compared. That takes time, so it is not done here.
#[derive(Clone)]
pub struct TypedPassword(String);

impl TypedPassword {
    /// Takes the typed text, at most 8 KiB of it: the rest would only cost time.
    pub fn new(text: &str) -> Self {
        let end = text.floor_char_boundary(TYPED_BYTES);
        Self(text.get(..end).unwrap_or_default().to_owned())
    }

    /// The normalised text, which is hashed: at most one character more than a password may have.
    pub fn normalized(&self) -> String {
        let normalized = self.0.nfkc();
        normalized.take(PASSWORD_CHARS.end() + 1).collect()
    }
}

/// A password that a person may choose: 10 to 1,000 characters, and not easily guessed. It is in
/// normalised form, as it is hashed.
#[derive(Clone)]
pub struct Password(String);

impl Password {
    /// Checks a new password of a person with this address and name.
    ///
    /// # Errors
    /// The faults because of which the password cannot be chosen. They do not repeat it.
    pub fn choose(
        typed: &TypedPassword,
        email: &str,
        name: &str,
    ) -> Result<Self, Vec<ValidationError>> {
        let password = typed.normalized();
        let mut errors = text::errors(&password, &PASSWORD_CHARS);
        if errors.is_empty() {
            errors.extend(weakness(&password, email, name).map(ValidationError::rule));
        }
        if errors.is_empty() {
            Ok(Self(password))
        } else {
            Err(errors)
        }
    }

    /// The bytes that are hashed.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Why a password is among the first that an attacker would guess; `None` for others.
fn weakness(password: &str, email: &str, name: &str) -> Option<&'static str> {
    let password = password.to_lowercase();
    if different_characters(&password) < DIFFERENT_CHARS || is_short_piece_repeated(&password) {
        return Some("repeats a few characters: choose one that is harder to guess");
    }
    if is_sequence(&password) {
        return Some("is a sequence of characters: choose one that is harder to guess");
    }
    let (local, domain) = email.split_once('@').unwrap_or((email, ""));
    let company = domain.split('.').next().unwrap_or_default();
    let own = [email, local, domain, company];
    let own = own.into_iter().chain([name]).map(letters_and_digits);
    let stem = without_ending(&letters_and_digits(&password)).to_owned();
    if own
        .filter(|own| !own.is_empty())
        .any(|own| without_ending(&own) == stem)
    {
        return Some(
            "is your own address or name, or your company's: choose one that is harder to guess",
        );
    }
    frequent_passwords::is_common(&password)
        .then_some("is one of the most common passwords: choose one that is harder to guess")
}

fn different_characters(text: &str) -> usize {
    let mut characters: Vec<char> = text.chars().collect();
    characters.sort_unstable();
    characters.dedup();
    characters.len()
}

/// Whether a text is one piece of at most five characters, repeated; the last repetition may be cut
/// off.
fn is_short_piece_repeated(text: &str) -> bool {
    let repeats_after = |length| {
        text.chars()
            .zip(text.chars().skip(length))
            .all(|(a, b)| a == b)
    };
    (1..=5).any(repeats_after)
}

/// Whether the characters of a text count up or down, as in `bcdefghijk` and `9876543210`. After 9
/// may come 0, as on a keyboard.
fn is_sequence(text: &str) -> bool {
    let pairs = || text.chars().zip(text.chars().skip(1));
    let follows = |(a, b): (char, char)| u32::from(a) + 1 == u32::from(b) || (a, b) == ('9', '0');
    pairs().all(follows) || pairs().all(|(a, b)| follows((b, a)))
}

fn letters_and_digits(text: &str) -> String {
    let lower = text.to_lowercase();
    lower.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A text without the digits at its end; a text of digits only is unchanged.
fn without_ending(text: &str) -> &str {
    let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.is_empty() { text } else { stem }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(password: &str) -> Option<String> {
        let typed = TypedPassword::new(password);
        let chosen = Password::choose(&typed, "grace.hopper@example.com", "Grace Hopper");
        chosen.err().map(|errors| errors[0].to_string())
    }

    #[test]
    fn an_uncommon_password_may_be_chosen() {
        for good in [
            "copper kettle on a slow train",
            "Tr0ub4dor&3x",
            "ein langes Kennwort",
            "пароль от почты",
            "grace likes cobol",
            "zy%3kQ9 d_",
        ] {
            assert_eq!(refusal(good), None, "{good}");
        }
    }

    #[test]
    fn a_short_or_endless_password_is_refused() {
        assert_eq!(
            refusal("zy%3kQ9 d").unwrap(),
            "String must contain at least 10 character(s)"
        );
        let endless = "zy%3kQ9 d_ab".repeat(100_000);
        assert_eq!(
            refusal(&endless).unwrap(),
            "String must contain at most 1000 character(s)"
        );
    }

    #[test]
    fn what_is_guessed_first_is_refused() {
        for (words, bad) in [
            ("repeats", "aaaaaaaaaaaa"),
            ("repeats", "abababababab"),
            ("repeats", "Abc1dabc1dabc1d"),
            ("sequence", "1234567890"),
            ("sequence", "abcdefghijkl"),
            ("sequence", "0987654321"),
            ("own", "grace.hopper@example.com"),
            ("own", "GraceHopper1906"),
            ("own", "Grace Hopper"),
            ("own", "Example-2026!"),
            ("own", "example.com"),
            ("common", "Password123!"),
            ("common", "P@ssw0rd2024"),
            ("common", "qwertyuiop"),
            ("common", "1q2w3e4r5t6y"),
            ("common", "iloveyou1234"),
            ("common", "!!Welcome2026"),
            ("common", "Refract2026!"),
            ("common", "Sommer2026!!"),
            ("common", "sunshine love"),
            ("common", "abcdef123456"),
            ("common", "zaq12wsxcde"),
            ("common", "1122334455!"),
            ("common", "789456123.0"),
            ("common", "correcthorsebatterystaple"),
            ("common", "correct horse battery staple"),
            ("common", "Correct-Horse-Battery-Staple-1!"),
            ("common", "staple battery horse"),
            ("common", "C0rrectH0rseB4tteryStaple"),
            ("common", "Tr0ub4dor&3"),
            ("common", "The quick brown fox!"),
            ("common", "to be or not to be, that is the question"),
            ("common", "MayTheForceBeWithYou42"),
        ] {
            let refusal = refusal(bad).unwrap_or_default();
            assert!(refusal.contains(words), "{bad}: {refusal}");
            assert!(!refusal.contains(bad));
        }
    }

    #[test]
    fn a_long_password_whose_words_can_be_read_in_many_ways_is_checked_as_well() {
        // each "loveme" can be read as one word of the list or as two
        let words = "loveme".repeat(160);
        assert!(refusal(&words).unwrap().contains("common"));
        assert_eq!(refusal(&format!("{words}zq")), None);
    }

    #[test]
    fn one_password_typed_on_two_keyboards_is_one() {
        let composed = TypedPassword::new("Caf\u{e9} am Morgen");
        let decomposed = TypedPassword::new("Cafe\u{301} am Morgen");
        assert_eq!(composed.normalized(), decomposed.normalized());
    }

    #[test]
    fn of_what_is_typed_no_more_is_looked_at_than_a_password_can_have() {
        // a run of combining marks is sorted as a whole
        let marks = TypedPassword::new(&"\u{301}".repeat(8_000_000));
        assert_eq!(marks.normalized().chars().count(), 1_001);
        for text in ["a".repeat(8_191) + "\u{e9}", "\u{1f98a}".repeat(3_000)] {
            let typed = TypedPassword::new(&text);
            assert!(typed.0.len() <= TYPED_BYTES && text.starts_with(&typed.0));
        }
        let longest = "\u{1f98a}".repeat(1_000);
        assert_eq!(TypedPassword::new(&longest).normalized(), longest);
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_check(text in ".{0,40}", email in ".{0,10}", name in ".{0,10}") {
            let chosen = Password::choose(&TypedPassword::new(&text), &email, &name);
            if let Ok(password) = chosen {
                prop_assert!(password.as_bytes().len() >= 10);
            }
        }
    }
}
