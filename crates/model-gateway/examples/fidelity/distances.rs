//! Total variation distances, their bounds, and the table of them.

use std::fmt::Write as _;

use crate::material::Asked;

/// Bound for every text of a question with at most this many outcomes, if the server shows at least
/// [`ALTERNATIVES`] alternatives.
const BOUNDS: [(u32, f64); 2] = [(20, 0.001), (255, 0.01)];
/// Alternatives at which these bounds hold.
const ALTERNATIVES: u32 = 100;
/// Bound with fewer alternatives, and the most outcomes for which it holds.
const WITH_FEWER: (u32, f64) = (62, 0.02);

/// Most outcomes of a question whose codes are one token.
const MOST_LETTERS: u32 = 20;
/// Bound on the tokens that the model writes on average for an answer that its first token decides.
const MOST_WRITTEN: f64 = 1.2;

/// The result for one text.
#[derive(Clone, Debug)]
pub(crate) struct TextDistance {
    /// Total variation distance between the gateway's answer and the reference, or why there is
    /// none.
    pub(crate) distance: Result<f64, String>,
    /// Share of the probability that the gateway reports as unread and split evenly.
    pub(crate) unread: f64,
    /// Model requests of the gateway.
    pub(crate) requests: u32,
    /// Tokens that the model wrote in all of them.
    pub(crate) written: u64,
    /// Total variation distance over the codes between two readings of one prompt by the server, with
    /// its prompt cache and without it.
    pub(crate) noise: f64,
    /// Share of the probability that the reference left out.
    pub(crate) left_out: f64,
}

/// The result for one question.
pub(crate) struct FidelityRow {
    pub(crate) asked: Asked,
    pub(crate) texts: Vec<TextDistance>,
    /// How many times the server's noise is added to the bound: 1, or 2 where few texts are asked about
    /// on any processor.
    pub(crate) noise_counts: f64,
}

/// The total variation distance of two distributions: half the sum of all differences.
pub(crate) fn total_variation(one: &[f64], other: &[f64]) -> f64 {
    let differences = one
        .iter()
        .zip(other)
        .map(|(one, other)| (one - other).abs());
    differences.sum::<f64>() / 2.0
}

/// The lines above the table.
pub(crate) fn heading(texts: u64) -> String {
    format!(
        "TV: total variation distance to the exact probabilities, over {texts} texts\n\
         {:14}{:>10}{:>12}{:>8}{:>13}{:>10}{:>9}{:>9}{:>11}",
        "QUESTION",
        "MEAN TV",
        "LARGEST TV",
        "BOUND",
        "MEAN UNREAD",
        "REQUESTS",
        "WRITTEN",
        "NOISE",
        "LEFT OUT"
    )
}

/// The line below the table.
pub(crate) fn verdict(missed: &[String]) -> String {
    if missed.is_empty() {
        return "Every row is within its bound.".to_owned();
    }
    format!("Over the bound: {}.", missed.join(", "))
}

/// Prints how many tokens the model wrote for an answer that its first token decides. Returns whether
/// these are within their bound.
pub(crate) fn print_written(rows: &[FidelityRow]) -> bool {
    let decided = rows
        .iter()
        .filter(|row| row.asked.outcomes() <= MOST_LETTERS);
    let written: Vec<f64> = decided.map(FidelityRow::written).collect();
    if written.is_empty() {
        return true;
    }
    let written = mean(written.into_iter());
    println!(
        "Tokens written for an answer that its first token decides: {written:.2} (bound {MOST_WRITTEN})"
    );
    written <= MOST_WRITTEN
}

impl FidelityRow {
    /// Whether the row exceeds its bound with this many alternatives (`None`: as many as
    /// requested). No reading can be closer than two readings by the server itself.
    pub(crate) fn misses(&self, alternatives: Option<u32>) -> bool {
        let bound = bound(self.asked.outcomes(), alternatives);
        bound.is_some_and(|bound| {
            self.unanswered().next().is_some()
                || self.largest() > bound + self.noise_counts * self.noise()
        })
    }

    /// The row as a line of the table.
    pub(crate) fn line(&self, alternatives: Option<u32>) -> String {
        let bound = bound(self.asked.outcomes(), alternatives);
        let bound = bound.map_or_else(|| "none".to_owned(), |bound| bound.to_string());
        let mut line = format!(
            "{:14}{:>10.4}{:>12.4}{bound:>8}{:>13.4}{:>10.1}{:>9.1}{:>9.4}{:>11.4}",
            self.asked.to_string(),
            mean(self.distances()),
            self.largest(),
            mean(self.texts.iter().map(|text| text.unread)),
            mean(self.texts.iter().map(|text| f64::from(text.requests))),
            self.written(),
            self.noise(),
            largest(self.texts.iter().map(|text| text.left_out)),
        );
        // writing into a string cannot fail
        let _ = match self.unanswered().next() {
            None if self.misses(alternatives) => write!(line, "  over the bound"),
            None => Ok(()),
            Some(reason) => {
                let (unanswered, texts) = (self.unanswered().count(), self.texts.len());
                write!(line, "  {unanswered} of {texts} unanswered: {reason}")
            }
        };
        line
    }

    /// The mean number of tokens that the model wrote for an answer.
    pub(crate) fn written(&self) -> f64 {
        let written = self.texts.iter().map(|text| u32::try_from(text.written));
        mean(written.map(|tokens| f64::from(tokens.unwrap_or(u32::MAX))))
    }

    fn distances(&self) -> impl Iterator<Item = f64> {
        self.texts
            .iter()
            .filter_map(|text| text.distance.clone().ok())
    }

    fn largest(&self) -> f64 {
        largest(self.distances())
    }

    fn noise(&self) -> f64 {
        largest(self.texts.iter().map(|text| text.noise))
    }

    /// Why texts have no distance.
    fn unanswered(&self) -> impl Iterator<Item = &str> {
        let reasons = self.texts.iter();
        reasons.filter_map(|text| text.distance.as_ref().err().map(String::as_str))
    }
}

/// The bound for a question with this many outcomes, if there is one.
fn bound(outcomes: u32, alternatives: Option<u32>) -> Option<f64> {
    if alternatives.is_some_and(|alternatives| alternatives < ALTERNATIVES) {
        let (most, bound) = WITH_FEWER;
        return (outcomes <= most).then_some(bound);
    }
    let mut bounds = BOUNDS.into_iter();
    let (_, bound) = bounds.find(|(most, _)| outcomes <= *most)?;
    Some(bound)
}

fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, f64::max)
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), number| {
        (sum + number, count + 1.0)
    });
    if count > 0.0 { sum / count } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(asked: Asked, distances: &[Option<f64>]) -> FidelityRow {
        let texts = distances.iter().map(|distance| TextDistance {
            distance: distance.ok_or_else(|| "too slow".to_owned()),
            unread: 0.0,
            requests: 1,
            written: 1,
            noise: 0.000_2,
            left_out: 0.0,
        });
        FidelityRow {
            asked,
            texts: texts.collect(),
            noise_counts: 1.0,
        }
    }

    #[test]
    fn the_distance_is_half_the_sum_of_all_differences() {
        assert!((total_variation(&[0.5, 0.5, 0.0], &[0.25, 0.5, 0.25]) - 0.25).abs() < 1e-12);
        assert!(total_variation(&[0.3, 0.7], &[0.3, 0.7]).abs() < 1e-12);
        assert!((total_variation(&[1.0, 0.0], &[0.0, 1.0]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_row_misses_its_bound_by_its_largest_distance_less_the_noise() {
        for (asked, distance, alternatives, expected) in [
            (Asked::YesNo, 0.000_9, None, false),
            (Asked::Scale(10), 0.001_1, None, false),
            (Asked::Scale(10), 0.001_3, None, true),
            (Asked::Choice(20), 0.001_3, Some(100), true),
            (Asked::Choice(21), 0.009, None, false),
            (Asked::Choice(255), 0.011, None, true),
            (Asked::Choice(20), 0.019, Some(20), false),
            (Asked::Choice(62), 0.021, Some(20), true),
            (Asked::Choice(152), 0.5, Some(20), false),
        ] {
            let found = row(asked, &[Some(0.0), Some(distance)]);
            assert_eq!(found.misses(alternatives), expected, "{asked} {distance}");
        }
    }

    #[test]
    fn a_row_with_an_unanswered_text_misses_its_bound() {
        let found = row(Asked::YesNo, &[Some(0.0), None]);
        assert!(found.misses(None));
        assert!(found.line(None).ends_with("1 of 2 unanswered: too slow"));
    }
}
