//! The exact probabilities of a question's outcomes, to compare with the gateway's answer.
//!
//! *Exact* means this. The model writes one token after the other, and every token has a
//! probability given the prompt and the tokens before it. The probability of a sequence of tokens
//! is the product of its tokens' probabilities. The weight of an outcome is the sum over all
//! sequences of tokens that spell its code. The weights are divided by their sum, since only the
//! question's codes are possible answers. A sequence spells a code
//!
//! - in any tokens: `A` and `3`, ` A` and `3`, `A3`, `y` and `es`;
//! - with white space before the code inside its first token, and likewise before a digit that
//!   follows its letter; with quotes, emphasis or opening brackets only if the model's most probable
//!   token begins so;
//! - after further tokens that hold nothing else, if each of them is the model's most probable
//!   token at its position.
//!
//! Two kinds of sequences do not count, neither for the gateway nor here. An answer that begins
//! with a less probable token of white space or quotes is a different way to write, and only a
//! request for each such way would show its codes. Text after a code is not read: the model was
//! asked only for the code. So an outcome's weight is the probability that the answer begins with
//! its code.
//!
//! Every beginning of a code takes a request, so the walk continues with the most probable
//! beginning until all others together are too improbable to matter ([`ExactAnswer::left_out`]).

use crate::codes::{QuestionCodes, Spelling, is_marked};
use crate::native::NextTokens;

/// Share of the codes' probability that may be left out.
const LEFT_OUT: f64 = 0.000_1;
/// Number of an answer's tokens that are read, as many as the gateway requests.
const MOST_TOKENS: usize = 8;

/// The probabilities of a question's outcomes.
#[derive(Clone, Debug)]
pub(crate) struct ExactAnswer {
    /// The probability of each outcome, in order; they sum to 1.
    pub(crate) probabilities: Vec<f64>,
    /// Share of the codes' probability that was not walked: a bound on the distance between these
    /// probabilities and the exact ones.
    pub(crate) left_out: f64,
}

/// The beginning of an answer.
struct Beginning {
    /// The tokens after the prompt.
    tokens: Vec<u32>,
    /// The beginning of a code that the tokens spell; empty if no code has begun.
    begun: Vec<u8>,
    probability: f64,
}

/// Sums the probabilities of all sequences of tokens that spell a code; `None` if there are none.
/// `next` returns the probabilities of the token after some tokens of an answer.
pub(crate) async fn exact_answer(
    codes: &QuestionCodes,
    mut next: impl AsyncFnMut(&[u32]) -> anyhow::Result<NextTokens>,
) -> anyhow::Result<Option<ExactAnswer>> {
    let mut weights = vec![0.0; codes.count()];
    let mut unlisted = 0.0;
    let mut open = vec![Beginning {
        tokens: Vec::new(),
        begun: Vec::new(),
        probability: 1.0,
    }];
    while let Some(beginning) = take_next(&mut open, weights.iter().sum()) {
        let following = next(&beginning.tokens).await?;
        if !beginning.begun.is_empty() {
            unlisted += beginning.probability * following.unlisted;
        }
        let most_probable = following.tokens.first();
        let is_quoted = beginning.begun.is_empty()
            && most_probable.is_some_and(|token| is_marked(&token.bytes));
        for (rank, token) in following.tokens.iter().enumerate() {
            if is_marked(&token.bytes) && !is_quoted {
                continue;
            }
            let probability = beginning.probability * token.probability;
            let begun = match codes.read(&beginning.begun, &token.bytes) {
                Spelling::Code(place) => {
                    if let Some(weight) = weights.get_mut(place) {
                        *weight += probability;
                    }
                    continue;
                }
                Spelling::Begun(begun) => begun,
                // the beginning that the model itself would write
                Spelling::Lead if beginning.begun.is_empty() && rank == 0 && !following.ends => {
                    Vec::new()
                }
                Spelling::Lead | Spelling::Other => continue,
            };
            open.push(Beginning {
                tokens: [beginning.tokens.as_slice(), &[token.id]].concat(),
                begun,
                probability,
            });
        }
    }
    let sum: f64 = weights.iter().sum();
    let not_walked = unlisted + open.iter().map(|left| left.probability).sum::<f64>();
    Ok((sum > 0.0).then(|| ExactAnswer {
        probabilities: weights.iter().map(|weight| weight / sum).collect(),
        left_out: not_walked / (sum + not_walked),
    }))
}

/// Takes the most probable beginning, unless all of them together are negligible.
fn take_next(open: &mut Vec<Beginning>, weights: f64) -> Option<Beginning> {
    let left: f64 = open.iter().map(|beginning| beginning.probability).sum();
    if left <= LEFT_OUT * (weights + left) {
        return None;
    }
    let longest_last = open.iter().enumerate();
    let readable = longest_last.filter(|(_, beginning)| beginning.tokens.len() < MOST_TOKENS);
    let most_probable =
        readable.max_by(|(_, one), (_, other)| one.probability.total_cmp(&other.probability));
    let (place, _) = most_probable?;
    Some(open.swap_remove(place))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::native::NextToken;

    /// A model given by the next tokens after each beginning of an answer.
    type Model<'a> = &'a [(&'a [u32], &'a [(u32, &'a str, f64)])];

    fn answer(outcomes: &str, model: Model<'_>) -> Option<ExactAnswer> {
        let body = json!({"messages": [{"role": "user", "content": outcomes}]});
        let codes = QuestionCodes::of_request(&body).unwrap();
        let next = async |tokens: &[u32]| {
            let (_, listed) = model.iter().find(|(begun, _)| *begun == tokens).unwrap();
            let tokens = listed.iter().map(|(id, text, probability)| NextToken {
                id: *id,
                bytes: text.as_bytes().to_vec(),
                probability: *probability,
            });
            Ok(NextTokens {
                tokens: tokens.collect(),
                ..NextTokens::default()
            })
        };
        let exact = exact_answer(&codes, next);
        actix_rt::System::new().block_on(exact).unwrap()
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn all_ways_to_spell_a_code_are_summed() {
        let found = answer(
            "A0) One\nA1) Two\nB0) Three",
            &[
                (
                    &[],
                    &[(1, "A", 0.4), (2, " A", 0.2), (3, "B0", 0.2), (4, "C", 0.2)],
                ),
                (&[1], &[(10, "0", 0.5), (11, "1", 0.25), (12, "7", 0.25)]),
                (&[2], &[(11, "1", 1.0)]),
            ],
        );
        let found = found.unwrap();
        // A0: 0.4 of 0.5; A1: 0.4 of 0.25 and 0.2; B0: 0.2
        assert_close(&found.probabilities, &[0.2 / 0.7, 0.3 / 0.7, 0.2 / 0.7]);
        assert_close(&[found.left_out], &[0.0]);
    }

    #[test]
    fn the_model_s_own_lead_is_passed_and_others_are_not() {
        let found = answer(
            "A) One\nB) Two",
            &[
                (&[], &[(1, "\n", 0.6), (2, "A", 0.3), (3, "\"", 0.1)]),
                (&[1], &[(4, "B", 0.5), (2, "A", 0.1), (1, "\n", 0.4)]),
            ],
        );
        assert_close(&found.unwrap().probabilities, &[0.36 / 0.66, 0.3 / 0.66]);
    }

    #[test]
    fn quoted_codes_count_if_the_model_quotes() {
        for (first, expected) in [("\"A", [0.75, 0.25]), ("A", [1.0, 0.0])] {
            let found = answer(
                "A) One\nB) Two",
                &[(&[], &[(1, first, 0.6), (2, "\"B", 0.2)])],
            );
            assert_close(&found.unwrap().probabilities, &expected);
        }
    }

    #[test]
    fn improbable_beginnings_are_left_out_and_counted() {
        let found = answer(
            "A0) One\nB0) Two",
            &[
                (&[], &[(1, "A", 0.5), (2, "B", 0.000_01)]),
                (&[1], &[(3, "0", 1.0)]),
            ],
        );
        let found = found.unwrap();
        assert_close(&found.probabilities, &[1.0, 0.0]);
        assert_close(&[found.left_out], &[0.000_01 / 0.500_01]);
    }

    #[test]
    fn an_answer_without_codes_has_no_probabilities() {
        let found = answer("A) One\nB) Two", &[(&[], &[(1, "Hello", 1.0)])]);
        assert!(found.is_none());
    }
}
