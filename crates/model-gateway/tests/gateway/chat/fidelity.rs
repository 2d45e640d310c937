//! The stored probabilities equal the model's, within the documented bounds.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use refract_test_support::model_server::{ChatModel, CodeCut, Continues, ModelServer, Script};

use super::*;

/// Bound for questions with all codes listed by the server.
const EXACT: f64 = 0.001;
/// Bound for questions with follow-up requests, which may leave 0.01 unread.
pub(super) const NEARLY_EXACT: f64 = 0.01;
/// Bound for peaked models behind a server whose 20 alternatives do not show all codes.
const CLOSE: f64 = 0.02;

/// Numbers of outcomes, from a yes/no question to the largest choice.
const SIZES: [usize; 8] = [4, 7, 20, 21, 32, 62, 152, 255];

/// Weights that fall by this factor from rank to rank, in a random order.
fn falling(outcomes: usize, factor: f64) -> impl Strategy<Value = Vec<f64>> {
    let weights: Vec<f64> = (0..outcomes)
        .scan(1.0, |weight, _| {
            let here = *weight;
            *weight *= factor;
            Some(here)
        })
        .collect();
    Just(weights).prop_shuffle()
}

/// Any weights above zero.
fn any_weights(outcomes: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.001..1.0, outcomes)
}

/// Weights of an undecided model: the largest is at most 1.5 times the smallest.
fn flat_weights(outcomes: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.67..1.0, outcomes)
}

/// Distances between answers and their models, and the number of requests.
#[derive(Debug, Default)]
struct Distances {
    largest: f64,
    most_requests: usize,
}

/// Asks a server one question for each of these models.
fn distances(version: &PrismVersion, models: impl Strategy<Value = ChatModel>) -> Distances {
    let runtime = actix_rt::System::new();
    let mut runner = TestRunner::deterministic();
    let mut found = Distances::default();
    for _ in 0..24 {
        let chat = models.new_tree(&mut runner).unwrap().current();
        let server = ModelServer::start(Script::from(chat.clone().reply()));
        let answers = runtime.block_on(ask(&server, version));
        let stored = probabilities(only(&answers.unwrap()));
        let distance = distance(&chat.distribution(stored.len()), &stored);
        found.largest = found.largest.max(distance);
        found.most_requests = found.most_requests.max(server.counts().requests);
    }
    found
}

/// Asserts a bound on the distance between the probabilities of each of these models and the
/// answer.
fn is_faithful(version: &PrismVersion, models: impl Strategy<Value = ChatModel>, bound: f64) {
    let found = distances(version, models);
    assert!(found.largest <= bound, "{found:?} over {bound}");
}

/// The total variation distance of two distributions: half the sum of all differences.
pub(super) fn distance(expected: &[f64], stored: &[f64]) -> f64 {
    assert_eq!(expected.len(), stored.len());
    let differences = expected.iter().zip(stored);
    differences
        .map(|(expected, stored)| (expected - stored).abs())
        .sum::<f64>()
        / 2.0
}

/// Models that write white space, quotes or nothing before the answer, and put most or all of the
/// probability on codes.
fn models(weights: impl Strategy<Value = Vec<f64>>) -> impl Strategy<Value = ChatModel> {
    let before = prop::sample::select(vec!["\n", "\"", "<think>\n\n</think>\n\n", "<|message|>"]);
    let before = prop::option::of((before.prop_map(str::to_owned), 0.6..1.0));
    (weights, 0.3..=1.0, before).prop_map(|(weights, on_codes, before)| ChatModel {
        on_codes,
        before,
        ..ChatModel::new(weights)
    })
}

fn spaced(models: impl Strategy<Value = ChatModel>) -> impl Strategy<Value = ChatModel> {
    (models, 0.0..=1.0).prop_map(|(model, spaced)| ChatModel { spaced, ..model })
}

/// Models that spell codes as with real tokenizers: nearly always with a leading space, or nearly
/// always without; the following digits depend on the spelling. Few other words are probable: among
/// 20 alternatives they look like hidden codes.
fn spelled(weights: impl Strategy<Value = Vec<f64>>) -> impl Strategy<Value = ChatModel> {
    let spaced = prop_oneof![0.0..0.003, 0.997..1.0];
    let model = (weights, 0.996..=1.0, spaced, any::<bool>());
    model.prop_map(|(weights, on_codes, spaced, names_bytes)| ChatModel {
        on_codes,
        spaced,
        names_bytes,
        digits_depend_on_spelling: true,
        ..ChatModel::new(weights)
    })
}

/// Models behind a server that lists this many alternatives and refuses more.
fn listing(
    top: usize,
    models: impl Strategy<Value = ChatModel>,
) -> impl Strategy<Value = ChatModel> {
    models.prop_map(move |model| ChatModel {
        top,
        refuses_more: true,
        ..model
    })
}

fn cut(cut: CodeCut, models: impl Strategy<Value = ChatModel>) -> impl Strategy<Value = ChatModel> {
    models.prop_map(move |model| ChatModel { cut, ..model })
}

fn whole(model: ChatModel) -> ChatModel {
    ChatModel {
        cut: CodeCut::Whole,
        ..model
    }
}

#[test]
fn up_to_twenty_outcomes_are_exact() {
    is_faithful(&yes_no(), spaced(models(any_weights(2))), EXACT);
    for levels in 2..=10 {
        let models = spaced(models(any_weights(levels)));
        is_faithful(&scale(levels), listing(100, models), EXACT);
        let models = any_weights(levels).prop_map(ChatModel::new);
        is_faithful(&scale(levels), listing(20, models), EXACT);
    }
    for outcomes in [4, 7, 20] {
        let models = spaced(models(any_weights(outcomes)));
        is_faithful(&choice(outcomes), listing(100, models), EXACT);
        let models = any_weights(outcomes).prop_map(ChatModel::new);
        is_faithful(&choice(outcomes), listing(20, models), EXACT);
    }
}

#[test]
fn flat_models_are_nearly_exact_at_any_size() {
    for outcomes in SIZES {
        for top in [100, 20] {
            let models = listing(top, spelled(flat_weights(outcomes)));
            is_faithful(&choice(outcomes), models, NEARLY_EXACT);
        }
    }
}

#[test]
fn sure_models_are_nearly_exact_at_any_size() {
    for outcomes in SIZES {
        for (top, factor) in [(100, 0.9), (100, 0.5), (20, 0.5), (20, 0.3)] {
            let models = listing(top, spelled(falling(outcomes, factor)));
            is_faithful(&choice(outcomes), models, NEARLY_EXACT);
        }
    }
}

/// As on real weights: the labels of a long list make their first letters probable.
#[test]
fn letters_that_begin_words_lose_no_code() {
    for outcomes in SIZES.into_iter().filter(|outcomes| *outcomes > 20) {
        for weights in [
            flat_weights(outcomes).boxed(),
            falling(outcomes, 0.9).boxed(),
        ] {
            let models = (spelled(weights), 0.3..0.9).prop_map(|(model, on_word_ends)| ChatModel {
                on_word_ends,
                ..model
            });
            is_faithful(&choice(outcomes), listing(100, models), NEARLY_EXACT);
        }
    }
}

/// As small models answer: most of the probability is on words, some of it on a rare spelling.
#[test]
fn rare_spellings_of_yes_and_no_are_found_behind_the_usual_alternatives() {
    let models = (any_weights(2), 0.06..0.3, 0.001..0.1);
    let models = models.prop_map(|(weights, on_codes, on_capitals)| ChatModel {
        on_codes,
        on_capitals,
        words: 150,
        top: 1_000,
        ..ChatModel::new(weights)
    });
    is_faithful(&yes_no(), models, EXACT);
}

#[test]
fn merged_codes_are_nearly_exact_where_the_server_lists_a_thousand() {
    for outcomes in SIZES {
        for merged in [CodeCut::Mixed, CodeCut::Whole] {
            let models = listing(1_000, spelled(flat_weights(outcomes)));
            is_faithful(&choice(outcomes), cut(merged, models), NEARLY_EXACT);
            let models = listing(100, spelled(falling(outcomes, 0.7)));
            is_faithful(&choice(outcomes), cut(merged, models), NEARLY_EXACT);
        }
    }
}

#[test]
fn a_sure_answer_costs_one_request() {
    for outcomes in SIZES {
        let certain = falling(outcomes, 0.004);
        let found = distances(&choice(outcomes), listing(1_000, spelled(certain)));
        assert!(found.largest <= NEARLY_EXACT, "{found:?}");
        assert_eq!(found.most_requests, 1);
    }
}

#[test]
fn a_server_that_does_not_continue_is_asked_by_a_schema() {
    for continues in [Continues::Schema, Continues::RefusesMessage] {
        let models = any_weights(30).prop_map(move |weights| ChatModel {
            continues,
            ..ChatModel::new(weights)
        });
        is_faithful(&choice(30), models, EXACT);
    }
}

#[test]
fn where_nothing_continues_a_letter_is_split_evenly() {
    let weights: Vec<f64> = (1..=30).map(f64::from).collect();
    let model = ChatModel {
        continues: Continues::Never,
        ..ChatModel::new(weights.clone())
    };
    let server = ModelServer::start(model.reply());
    let answers = actix_rt::System::new().block_on(ask(&server, &choice(30)));
    let stored = probabilities(only(&answers.unwrap()));
    let total: f64 = weights.iter().sum();
    // `C`, the most probable letter, is the written one
    for (weights, stored) in weights.chunks(10).zip(stored.chunks(10)) {
        let even = weights.iter().sum::<f64>() / 10.0;
        for (weight, stored) in weights.iter().zip(stored) {
            let expected = if even > 20.0 { *weight } else { even };
            assert!((expected / total - stored).abs() < 0.00001, "{stored}");
        }
    }
    // one request for the question, and one for each follow-up method
    assert_eq!(server.counts().requests, 3);
}

#[test]
fn whole_tokens_are_exact_where_the_server_shows_them() {
    is_faithful(&choice(21), models(falling(21, 0.5)).prop_map(whole), EXACT);
    is_faithful(&choice(60), models(falling(60, 0.6)).prop_map(whole), EXACT);
    is_faithful(
        &choice(255),
        models(falling(255, 0.6)).prop_map(whole),
        EXACT,
    );
}

#[test]
fn outcomes_that_the_server_hides_are_close() {
    is_faithful(
        &choice(60),
        falling(60, 0.25).prop_map(ChatModel::new),
        CLOSE,
    );
    is_faithful(
        &choice(255),
        falling(255, 0.25).prop_map(ChatModel::new),
        CLOSE,
    );
    is_faithful(&choice(60), models(falling(60, 0.8)).prop_map(whole), CLOSE);
    is_faithful(
        &choice(255),
        models(falling(255, 0.8)).prop_map(whole),
        CLOSE,
    );
}

#[test]
fn hidden_variants_of_a_token_are_close() {
    is_faithful(
        &choice(20),
        spaced(falling(20, 0.7).prop_map(ChatModel::new)),
        CLOSE,
    );
    is_faithful(
        &choice(255),
        spaced(falling(255, 0.25).prop_map(ChatModel::new)),
        CLOSE,
    );
    let whole_tokens = falling(255, 0.6).prop_map(ChatModel::new).prop_map(whole);
    is_faithful(&choice(255), spaced(whole_tokens), CLOSE);
}

/// The documented bounds for servers that list 20 alternatives.
#[test]
fn flatter_distributions_are_off_by_no_more_than_is_reported() {
    for (outcomes, falling_by_half, any_of_two_tokens, any_of_one) in
        [(60, 0.01, 0.001, 0.15), (255, 0.01, 0.015, 0.25)]
    {
        let question = choice(outcomes);
        let halving = falling(outcomes, 0.5).prop_map(ChatModel::new);
        is_faithful(&question, halving, falling_by_half);
        let any = || any_weights(outcomes).prop_map(ChatModel::new);
        is_faithful(&question, any(), any_of_two_tokens);
        is_faithful(&question, any().prop_map(whole), any_of_one);
    }
}
