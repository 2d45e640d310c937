//! English words with an order, by which the rules recognise a scale that is listed highest first.

use super::words::{has_any, words};

/// Words for more and less of one quality.
pub(super) struct RankWords {
    /// Phrases at the beginning of a label, with ranks that increase with the amount.
    ranks: &'static [(&'static str, u8)],
    /// Words in the question that reverse the order: `How bad is it?` grows from good to bad.
    turned_by: &'static [&'static str],
    /// The question must contain at least one of these words; empty when any question qualifies.
    /// `Today` is more than `Later` only if the question asks about urgency.
    only_with: &'static [&'static str],
}

/// The known orders.
pub(super) const ORDERS: [RankWords; 8] = [
    RankWords {
        ranks: &[
            ("none", 0),
            ("not urgent", 0),
            ("can wait", 0),
            ("trivial", 1),
            ("negligible", 1),
            ("minimal", 1),
            ("lowest", 1),
            ("very low", 1),
            ("low", 2),
            ("lower", 2),
            ("minor", 2),
            ("mild", 2),
            ("normal", 3),
            ("medium", 3),
            ("moderate", 3),
            ("average", 3),
            ("high", 4),
            ("higher", 4),
            ("major", 4),
            ("serious", 4),
            ("very high", 5),
            ("highest", 5),
            ("severe", 5),
            ("urgent", 5),
            ("critical", 6),
            ("blocker", 6),
            ("extreme", 6),
            ("emergency", 6),
        ],
        turned_by: &["low", "lower", "minor", "mild", "calm", "harmless"],
        only_with: &[],
    },
    RankWords {
        ranks: &[
            ("never", 0),
            ("almost never", 1),
            ("rarely", 2),
            ("seldom", 2),
            ("sometimes", 3),
            ("occasionally", 3),
            ("often", 4),
            ("frequently", 4),
            ("usually", 5),
            ("mostly", 5),
            ("almost always", 6),
            ("always", 7),
        ],
        turned_by: &["rarely", "seldom", "rare"],
        only_with: &[],
    },
    RankWords {
        ranks: &[
            ("no", 0),
            ("none", 0),
            ("nothing", 0),
            ("not at all", 0),
            ("barely", 1),
            ("partly", 2),
            ("partial", 2),
            ("partially", 2),
            ("somewhat", 2),
            ("some", 2),
            ("maybe", 2),
            ("mostly", 3),
            ("largely", 3),
            ("most", 3),
            ("yes", 4),
            ("full", 4),
            ("fully", 4),
            ("completely", 4),
            ("entirely", 4),
            ("all", 4),
        ],
        turned_by: &["missing", "lacking", "unclear", "incomplete"],
        only_with: &[],
    },
    RankWords {
        ranks: &[
            ("terrible", 0),
            ("awful", 0),
            ("very bad", 0),
            ("very poor", 0),
            ("bad", 1),
            ("poor", 1),
            ("fair", 2),
            ("ok", 2),
            ("okay", 2),
            ("average", 2),
            ("neutral", 2),
            ("acceptable", 2),
            ("good", 3),
            ("very good", 4),
            ("great", 4),
            ("excellent", 5),
        ],
        turned_by: &[
            "bad", "badly", "poor", "poorly", "worse", "worst", "wrong", "damaged", "damage",
            "broken", "problem", "negative", "serious", "severe",
        ],
        only_with: &[],
    },
    RankWords {
        ranks: &[
            ("strongly disagree", 0),
            ("disagree", 1),
            ("very dissatisfied", 0),
            ("dissatisfied", 1),
            ("very unhappy", 0),
            ("unhappy", 1),
            ("very negative", 0),
            ("negative", 1),
            ("neutral", 2),
            ("mixed", 2),
            ("neither", 2),
            ("positive", 3),
            ("very positive", 4),
            ("happy", 3),
            ("very happy", 4),
            ("satisfied", 3),
            ("very satisfied", 4),
            ("agree", 3),
            ("strongly agree", 4),
        ],
        turned_by: &[
            "disagree",
            "dissatisfied",
            "unhappy",
            "negative",
            "negatively",
            "angry",
            "annoyed",
            "critical",
        ],
        only_with: &[],
    },
    RankWords {
        ranks: &[
            ("impossible", 0),
            ("very unlikely", 1),
            ("unlikely", 2),
            ("possible", 3),
            ("possibly", 3),
            ("likely", 4),
            ("probable", 4),
            ("very likely", 5),
            ("certain", 6),
        ],
        turned_by: &["unlikely", "improbable"],
        only_with: &[],
    },
    RankWords {
        ranks: &[
            ("tiny", 0),
            ("very small", 0),
            ("small", 1),
            ("medium", 2),
            ("large", 3),
            ("big", 3),
            ("very large", 4),
            ("huge", 4),
            ("freezing", 0),
            ("cold", 1),
            ("lukewarm", 2),
            ("warm", 3),
            ("hot", 4),
        ],
        turned_by: &["small", "cold", "cool"],
        only_with: &[],
    },
    RankWords {
        ranks: &[
            ("can wait", 0),
            ("later", 0),
            ("whenever", 0),
            ("no rush", 0),
            ("not urgent", 0),
            ("someday", 0),
            ("eventually", 0),
            ("next month", 1),
            ("this month", 2),
            ("next week", 3),
            ("this week", 4),
            ("tomorrow", 5),
            ("today", 6),
            ("tonight", 6),
            ("urgent", 7),
            ("asap", 7),
            ("immediate", 7),
            ("immediately", 7),
            ("at once", 7),
            ("now", 7),
        ],
        turned_by: &[],
        only_with: &[
            "urgent", "urgency", "urgently", "soon", "quickly", "fast", "priority", "pressing",
        ],
    },
];

impl RankWords {
    /// The ranks of levels, `None` for a level without one; empty when the question reverses the
    /// order or is about something else.
    pub(super) fn ranks(&self, question: &[String], levels: &[Vec<String>]) -> Vec<Option<u8>> {
        let fits = self.only_with.is_empty() || has_any(question, self.only_with);
        if !fits || has_any(question, self.turned_by) {
            return Vec::new();
        }
        levels.iter().map(|level| self.rank(level)).collect()
    }

    /// The rank of the longest phrase at the beginning of a label.
    fn rank(&self, level: &[String]) -> Option<u8> {
        let begins = |phrase: &str| level.starts_with(&words(phrase));
        let matching = self.ranks.iter().filter(|(phrase, _)| begins(phrase));
        let longest = matching.max_by_key(|(phrase, _)| phrase.len());
        longest.map(|(_, rank)| *rank)
    }
}
