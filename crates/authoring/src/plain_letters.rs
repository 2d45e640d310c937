//! The letters and digits of ASCII that others are written with: `é` is an `e` with an accent.
//!
//! By Unicode's canonical decomposition (form D), as the crate `unicode-normalization` has it; a test
//! compares every character. The crate's tables are ten times as large, and programs that are fetched
//! by a page read prism files too.

/// What a character is without its accents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unaccented {
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
pub(crate) fn unaccented(c: char) -> Unaccented {
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
mod tests {
    use std::collections::BTreeMap;

    use unicode_normalization::UnicodeNormalization as _;
    use unicode_normalization::char::is_combining_mark;

    use super::*;

    /// By form D of the lower case.
    fn by_unicode(c: char) -> Unaccented {
        let lower = c.to_lowercase().nfd();
        let mut base = lower.filter(|c| !is_combining_mark(*c));
        match (base.next(), base.next()) {
            (None, _) => Unaccented::Mark,
            (Some(c), None) if c.is_ascii_lowercase() || c.is_ascii_digit() => Unaccented::Plain(c),
            (Some(first), rest) => {
                let all = [first].into_iter().chain(rest).chain(base);
                assert!(
                    all.into_iter().all(|c| !c.is_ascii_alphanumeric()),
                    "{c} is of two letters"
                );
                Unaccented::Other
            }
        }
    }

    /// What the tables list.
    fn listed() -> BTreeMap<char, Unaccented> {
        let letters = LETTERS.iter().flat_map(|(letter, accented)| {
            let accented = accented.chars();
            accented.map(|c| (c, Unaccented::Plain(*letter)))
        });
        let ends: Vec<char> = MARKS.chars().collect();
        let (ranges, []) = ends.as_chunks::<2>() else {
            panic!("a range has two ends");
        };
        let marks = ranges.iter().flat_map(|[first, last]| *first..=*last);
        letters
            .chain(marks.map(|c| (c, Unaccented::Mark)))
            .collect()
    }

    #[test]
    fn every_character_is_what_unicode_decomposes_it_into() {
        // beyond are planes without any assigned character, and those for private use
        let assigned = ('\u{80}'..='\u{3ffff}').chain('\u{e0000}'..='\u{e0fff}');
        let all = assigned.map(|c| (c, by_unicode(c)));
        let unicode: BTreeMap<_, _> = all.filter(|(_, it)| *it != Unaccented::Other).collect();
        let listed = listed();
        let differs = |c: &&char| unicode.get(c) != listed.get(c);
        let different: Vec<_> = unicode
            .keys()
            .chain(listed.keys())
            .filter(differs)
            .collect();
        assert!(different.is_empty(), "{different:?}");
        for (c, expected) in listed {
            assert_eq!(unaccented(c), expected, "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn ascii_and_other_characters_are_what_they_are() {
        for (c, expected) in [('a', 'a'), ('Z', 'z'), ('7', '7')] {
            assert_eq!(unaccented(c), Unaccented::Plain(expected));
        }
        for c in ['_', ' ', '\0', 'ß', 'ø', '日', '\u{10ffff}'] {
            assert_eq!(unaccented(c), Unaccented::Other, "{c:?}");
        }
    }
}
