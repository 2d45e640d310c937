//! Passwords: what people type, and which passwords are refused because they are easily guessed.
//!
//! Refused are the most common passwords of ten characters and more, from lists of leaked passwords.
//! Most of them are one word of a small number, surrounded by digits and marks and with
//! some letters replaced by similar digits. So words are listed instead of spellings.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use refract_domain::problem::{ValidationError, text};
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
    is_common(&password)
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

/// Words that make up common passwords, alone or several together.
const WORDS: &str = "\
    abc abcd abcdef abcdefg access admin administrator adrian alexander alexandra alexis amanda \
    america amigos amor andrea andrew angel angela angels anthony apple arsenal asdf asdfgh \
    asdfghjkl ashley austin autumn azerty babyboy babydoll babygirl badboy bailey banana barbara \
    barcelona baseball basketball batman battery beautiful benjamin berlin bigdaddy blessed blink \
    bonjour brandon brittany brooklyn buster buttercup butterfly california carlos carolina casino \
    catherine cde celtic champion changeme charlie cheese chelsea cherry chicago chicken chocolate \
    chris christian christina christopher claudia coffee company compaq computer cookie cooper \
    correct cowboys creative crystal daddysgirl dallas daniel daniela danielle david december \
    default demo destiny diamond dolphin dolphins donald dragon eagles einstein elephant elizabeth \
    eminem estrella everton family fashion februar february ferrari flower fluffy football forever \
    frankfurt freedom friday friend friends fuck fucker fuckyou gabriel gabriela gandalf garfield \
    geheim george gfhjkm ginger girl google gracie guest guitar hahaha hallo hamburg hannah happy \
    harley heather heaven hello herbst hockey holiday honda honey horse hottie house hunter \
    hunting icecream iceman iloveu iloveyou india internet isabella jackson james january jasmine \
    jason jennifer jessica jesus jesuschrist johnny jonathan jordan joseph joshua junior justin \
    kenneth killer king kitten kitty lastminute lauren leonardo letmein linkedin little liverpool \
    login london love lovely loveme lover lovers loveyou lucky maggie manchester maria marina \
    marlboro martin martina master matthew maverick maximus me melissa mercedes merlin metallica \
    michael michelle mickey midnight miguel mohammed monday money monica monkey morgan mother \
    muenchen muffin music mustang my mynoob myspace naruto natalie natasha newyork nicholas nicole \
    ninja nothing november october office oliver olivia orange packers pamela panther paradise \
    pass passion passw password passwort patricia patrick peanut pepper phoenix player please \
    pokemon precious pretty prince princess private purple qazwsx qazwsxedc qwer qwerty qwertyuiop \
    qwertz rabbit rachel raiders rainbow ranger rangers rebecca redsox refract richard robert \
    roberto rockstar ronaldo root samantha samsung samuel sandra scarface schalke schatz scooter \
    scorpion sebastian secret secure security september server service sexy shadow silver simple \
    slipknot snickers snoopy soccer softball sommer sophie spider spiderman spring staple start \
    starwars stephanie steven strawberry sugar summer sunday sunshine superman superstar support \
    sweet sweetheart sweety swordfish system tequila teresa test thomas thunder tiffany tigger \
    tinkerbell tokyo trinity troubador troubadour trustno tweety twilight user valentina vanessa \
    veronica victor victoria vincent volkswagen warcraft warrior welcome whatever william \
    willkommen windows winter wizard wolverine xsw yamaha yankees you zaq zxcvbn zxcvbnm";

/// Rows and columns of keyboards, and other common passwords that are not words.
const SPELLINGS: &str = "\
    !qaz2wsx3edc !qaz@wsx 01020304 0123456789 0987654321a 10203040 1122334455 11223344556 \
    123123123a 1234554321 1234567890q 12345678910 123456789a 1234567a 12345abc 12345qwert \
    1234abcd 1234qwerasdf 123abc456 123qwe123 123qweasdzxc 1357924680 147258369 159753 19871987 \
    1a2b3c4d5e 1q2w3e4r 1q2w3e4r5t 1qaz!qaz 1qaz2wsx3edc 1qaz@wsx 1qazxsw2 1qazxsw23edc \
    2468101214 3.1415926535 741852963 789456123 963852741 9876543210a a123456789 a1b2c3d4e5 \
    a1s2d3f4g5 aa12345678 abc123abc abcd1234 asd123asd asdf1234 asdfghjkl; asdfghjklqwertyuiop \
    lkjhgfdsa mnbvcxz ncc1701 p0o9i8u7 poiuytrewq q1w2e3r4t5 q1w2e3r4t5y6 qaz123wsx qazwsxedcrfv \
    qwe123qwe qweasdzxc qwerty123456 qwertzuiop thisisapassword zaq12wsx zaq1xsw2 zaq1zaq1 \
    zxc123zxc zxcvbnm,./ zxcvbnm123";

/// Sentences that many people believe only they use, without spaces and marks.
const PHRASES: &str = "\
    abandonallhope elementarymydearwatson helloworld houstonwehaveaproblem iamyourfather \
    iwillbeback iwanttobelieve livelongandprosper lordoftherings maytheforce maytheforcebewithyou \
    mynameisbond onceuponatime onetwothreefour opensesame thecakeisalie thequickbrown \
    thequickbrownfox thequickbrownfoxjumps thequickbrownfoxjumpsoverthelazydog thisismypassword \
    thisisnotmypassword thisisverysecret tobeornottobe tobeornottobethatisthequestion \
    todayisagoodday winteriscoming youshallnotpass";

/// Whether a password in lower case is among the most common ones.
fn is_common(password: &str) -> bool {
    let begins_with = |spelling: &str| {
        let rest = password.strip_prefix(spelling);
        rest.is_some_and(|rest| rest.chars().count() <= 4)
    };
    if SPELLINGS.split_ascii_whitespace().any(begins_with) {
        return true;
    }
    let stem = password.trim_matches(|c: char| !c.is_alphabetic());
    let read: String = stem.chars().map(letter_like).collect();
    let letters: String = read.chars().filter(|c| c.is_alphabetic()).collect();
    if PHRASES
        .split_ascii_whitespace()
        .any(|phrase| phrase == letters)
    {
        return true;
    }
    [stem, &read].into_iter().any(|spelled| {
        let mut words = spelled.split(|c: char| !c.is_alphabetic());
        !spelled.is_empty() && words.all(is_words)
    })
}

/// Whether a text is one word of the list, or several written together.
fn is_words(word: &str) -> bool {
    // positions where words of the list end; each is visited once, however many ways lead to it
    let mut ends = BTreeSet::from([0]);
    while let Some(end) = ends.pop_first() {
        let rest = word.get(end..).unwrap_or_default();
        if rest.is_empty() {
            return true;
        }
        let next = WORDS.split_ascii_whitespace();
        let next = next.filter(|known| rest.starts_with(known));
        ends.extend(next.map(|known| end + known.len()));
    }
    false
}

/// The letter that a digit or mark replaces in passwords such as `p@ssw0rd`.
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
