//! The most common passwords of ten characters and more, from lists of leaked passwords.
//!
//! Most of these passwords are one word of a small number, surrounded by digits and marks and with
//! some letters replaced by similar digits. So words are listed instead of spellings.

use std::collections::BTreeSet;

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
pub(super) fn is_common(password: &str) -> bool {
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
