//! The stored probabilities are those that the model has, within the documented bounds.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use refract_test_support::model_server::{ChatModel, Continues, ModelServer, Script};

use super::*;

/// Bound where the server lists all alternatives.
const EXACT: f64 = 0.001;
/// Bound where the server lists some alternatives.
const CLOSE: f64 = 0.02;

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

/// Asks one question of a server with each of these models, and bounds the distance between its
/// probabilities and the answer.
fn is_faithful(version: &PrismVersion, models: impl Strategy<Value = ChatModel>, bound: f64) {
    let runtime = actix_rt::System::new();
    let mut runner = TestRunner::deterministic();
    let config = ProptestConfig::with_cases(24);
    for _ in 0..config.cases {
        let chat = models.new_tree(&mut runner).unwrap().current();
        let server = ModelServer::start(Script::from(chat.clone().reply()));
        let answers = runtime.block_on(ask(&server, version));
        let stored = probabilities(only(&answers.unwrap()));
        let distance = distance(&chat.weights, &stored);
        assert!(distance <= bound, "{distance} from {chat:?}: {stored:?}");
        assert!(server.counts().requests <= 4, "{chat:?}");
    }
}

/// The total variation distance of two distributions: half the sum of all differences.
fn distance(weights: &[f64], stored: &[f64]) -> f64 {
    assert_eq!(weights.len(), stored.len());
    let total: f64 = weights.iter().sum();
    let differences = weights.iter().zip(stored);
    differences
        .map(|(weight, stored)| (weight / total - stored).abs())
        .sum::<f64>()
        / 2.0
}

/// Models that write white space, quotes or nothing before the answer, with most or all of the
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

fn whole(model: ChatModel) -> ChatModel {
    ChatModel {
        cuts_codes: false,
        ..model
    }
}

#[test]
fn everything_visible_is_exact() {
    is_faithful(&yes_no(), spaced(models(any_weights(2))), EXACT);
    is_faithful(&scale(2), spaced(models(any_weights(2))), EXACT);
    is_faithful(&scale(3), spaced(models(any_weights(3))), EXACT);
    is_faithful(&choice(4), spaced(models(any_weights(4))), EXACT);
    is_faithful(
        &scale(10),
        spaced(any_weights(10).prop_map(ChatModel::new)),
        EXACT,
    );
    is_faithful(
        &choice(10),
        spaced(any_weights(10).prop_map(ChatModel::new)),
        EXACT,
    );
    is_faithful(&choice(20), any_weights(20).prop_map(ChatModel::new), EXACT);
}

#[test]
fn codes_of_two_tokens_are_exact_where_all_letters_are_followed_up() {
    let all_on_codes = |model| ChatModel {
        on_codes: 1.0,
        ..model
    };
    is_faithful(
        &choice(21),
        spaced(models(any_weights(21)).prop_map(all_on_codes)),
        EXACT,
    );
    is_faithful(
        &choice(40),
        spaced(models(any_weights(40)).prop_map(all_on_codes)),
        EXACT,
    );
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
    // `C`, the most probable letter, was written
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

/// The documented bounds where the protocol itself gives no bound.
#[test]
fn flatter_distributions_are_off_by_no_more_than_is_said() {
    for (outcomes, falling_by_half, any_of_two_tokens, any_of_one) in
        [(60, 0.04, 0.12, 0.15), (255, 0.06, 0.25, 0.25)]
    {
        let question = choice(outcomes);
        let halving = falling(outcomes, 0.5).prop_map(ChatModel::new);
        is_faithful(&question, halving, falling_by_half);
        let any = || any_weights(outcomes).prop_map(ChatModel::new);
        is_faithful(&question, any(), any_of_two_tokens);
        is_faithful(&question, any().prop_map(whole), any_of_one);
    }
}
