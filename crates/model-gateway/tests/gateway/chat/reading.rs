use refract_domain::key::QuestionKey;
use refract_test_support::model_server::{ChatModel, Script, ScriptedReply, tokens_reply};

use super::*;

/// The answer to a question if the server lists these tokens.
async fn read(version: &PrismVersion, positions: &[&[(&str, f64)]]) -> Result<Answer, ModelError> {
    let positions: Vec<Vec<(String, f64)>> = positions
        .iter()
        .map(|tokens| {
            tokens
                .iter()
                .map(|(token, p)| ((*token).to_owned(), *p))
                .collect()
        })
        .collect();
    answer_to(version, &tokens_reply(&positions, 20)).await
}

async fn answer_to(version: &PrismVersion, body: &Value) -> Result<Answer, ModelError> {
    let server = ModelServer::start(ScriptedReply::json(body));
    Ok(only(&ask(&server, version).await?).clone())
}

fn yes(probability: f64) -> Answer {
    serde_json::from_value(json!({"type": "yes_no", "probability": probability})).unwrap()
}

#[actix_rt::test]
async fn variants_of_a_token_are_summed() {
    let tokens: &[(&str, f64)] = &[
        ("Yes", 0.4),
        (" yes", 0.1),
        ("YES", 0.05),
        ("yes", 0.05),
        ("No", 0.2),
        (" NO.", 0.2),
    ];
    assert_eq!(read(&yes_no(), &[tokens]).await.unwrap(), yes(0.6));
}

#[actix_rt::test]
async fn the_beginning_of_a_word_counts_only_where_the_whole_word_is_no_token() {
    let both: &[(&str, f64)] = &[("yes", 0.6), ("No", 0.2), ("N", 0.1), ("Y", 0.1)];
    assert_eq!(read(&yes_no(), &[both]).await.unwrap(), yes(0.75));
    let begun: &[(&str, f64)] = &[("yes", 0.6), ("n", 0.2), ("Y", 0.1)];
    assert_eq!(read(&yes_no(), &[begun]).await.unwrap(), yes(0.75));
}

#[actix_rt::test]
async fn quoted_spellings_count_if_the_answer_is_quoted() {
    for (written, expected) in [("yes", 0.75), ("\"yes", 0.5)] {
        let tokens: &[(&str, f64)] = &[(written, 0.6), ("no", 0.2), ("\"no\"", 0.2), ("(no", 0.2)];
        assert_eq!(read(&yes_no(), &[tokens]).await.unwrap(), yes(expected));
    }
}

#[actix_rt::test]
async fn the_code_is_found_wherever_the_answer_begins() {
    let code: &[(&str, f64)] = &[("yes", 0.75), ("no", 0.25)];
    for before in [
        &["\n"][..],
        &[" ", "\""],
        &["<think>", "\n\n", "</think>", "\n\n"],
        &["<think>", "no", " or", " yes", "</think>"],
        &["Maybe", " no", "</think>", "\n"],
        &["<|channel|>", "**"],
        &["“"],
    ] {
        let before: Vec<[(&str, f64); 1]> = before.iter().map(|token| [(*token, 1.0)]).collect();
        let mut positions: Vec<&[(&str, f64)]> = before.iter().map(|token| &token[..]).collect();
        positions.push(code);
        assert_eq!(
            read(&yes_no(), &positions).await.unwrap(),
            yes(0.75),
            "{before:?}"
        );
    }
}

/// A reply of tokens for which the server knows no probability: it calls them certain and lists none.
fn bare(positions: &[Vec<(String, f64)>], from: usize) -> Value {
    let mut body = tokens_reply(positions, 20);
    let content = &mut body["choices"][0]["logprobs"]["content"];
    for token in content.as_array_mut().unwrap().iter_mut().skip(from) {
        token["logprob"] = json!(0.0);
        token["top_logprobs"] = json!([]);
    }
    body
}

#[actix_rt::test]
async fn certainty_without_a_list_is_no_probability() {
    let written = |token: &str| vec![(token.to_owned(), 0.6), ("no".to_owned(), 0.4)];
    for tokens in [vec![written("yes")], vec![written("\n"), written("yes")]] {
        let failure = answer_to(&yes_no(), &bare(&tokens, 0)).await.unwrap_err();
        let key = QuestionKey::parse("angry").unwrap();
        assert_eq!(failure, ModelError::NoLogProbabilities(key), "{tokens:?}");
    }
    // a list with the token alone is one
    assert_eq!(read(&yes_no(), &[&[("yes", 1.0)]]).await.unwrap(), yes(1.0));
}

#[actix_rt::test]
async fn a_digit_of_unknown_probability_leaves_its_letter_to_follow_ups() {
    let letters = || [("A", 0.6), ("B", 0.3), ("C", 0.1)].map(|(at, p)| (at.to_owned(), p));
    let tokens = [letters().to_vec(), vec![("3".to_owned(), 1.0)]];
    let mut unnumbered = bare(&tokens, 1);
    unnumbered["choices"][0]["logprobs"]["content"][1]["logprob"] = Value::Null;
    for first in [bare(&tokens, 1), unnumbered] {
        let weights: Vec<f64> = [[0.06; 10], [0.03; 10], [0.01; 10]].concat();
        let model = ChatModel::new(weights);
        let script = Script::first([ScriptedReply::json(&first)]);
        let server = ModelServer::start(script.then(model.reply()));
        let answers = ask(&server, &choice(30)).await.unwrap();
        let stored = probabilities(only(&answers));
        let [a, b, c] = [0, 10, 20].map(|from| stored[from..from + 10].iter().sum::<f64>());
        for (found, exact) in [(a, 0.6), (b, 0.3), (c, 0.1)] {
            assert!((found - exact).abs() < 0.000_1, "{stored:?}");
        }
        assert!((stored[3] - 0.06).abs() < 0.000_1, "{stored:?}");
    }
}

#[actix_rt::test]
async fn what_could_have_stood_before_the_code_counts_as_far_as_it_goes() {
    let positions: [&[(&str, f64)]; 2] =
        [&[("\n", 0.6), ("no", 0.4)], &[("yes", 0.5), ("no", 0.5)]];
    assert_eq!(read(&yes_no(), &positions).await.unwrap(), yes(0.3));
}

#[actix_rt::test]
async fn words_that_begin_like_codes_are_none() {
    for positions in [
        &[&[("No", 1.0)][..], &[("thing", 1.0)]][..],
        &[&[("Nothing", 1.0)]],
        &[&[("<think>", 1.0)], &[("yes", 1.0)]],
    ] {
        read(&yes_no(), positions).await.unwrap_err();
    }
    read(&scale(3), &[&[("1", 1.0)], &[("0", 1.0)]])
        .await
        .unwrap_err();
    read(&choice(4), &[&[("A", 1.0)], &[("lso", 1.0)]])
        .await
        .unwrap_err();
    read(&choice(4), &[&[("I", 1.0)], &[(" cannot", 1.0)]])
        .await
        .unwrap_err();
    read(&choice(30), &[&[("B", 1.0)], &[("illing", 1.0)]])
        .await
        .unwrap_err();
}

#[actix_rt::test]
async fn a_code_that_the_prism_lacks_is_a_value_of_null_for_choices_alone() {
    let unknown = [
        (choice(4), vec![&[("E", 0.9), ("A", 0.1)][..]]),
        (choice(30), vec![&[("Z", 1.0)][..], &[("9", 1.0)]]),
        (choice(30), vec![&[("D0", 1.0)][..]]),
    ];
    for (version, positions) in unknown {
        let answer = read(&version, &positions).await.unwrap();
        let Answer::Choice {
            value, confidence, ..
        } = answer
        else {
            panic!("{answer:?}")
        };
        assert_eq!((value, confidence.to_f64()), (None, 0.0));
    }
    read(&scale(3), &[&[("7", 0.9), ("1", 0.1)]])
        .await
        .unwrap_err();
}

#[actix_rt::test]
async fn confidence_shows_how_far_the_most_probable_outcome_stands_out() {
    let answer = read(&choice(4), &[&[("B", 0.625), ("A", 0.375)]])
        .await
        .unwrap();
    assert_eq!(
        serde_json::to_value(&answer).unwrap(),
        json!({"type": "choice", "value": "o1", "confidence": 0.5,
               "probabilities": {"o0": 0.375, "o1": 0.625, "other": 0.0, "insufficient_information": 0.0}})
    );
}

#[actix_rt::test]
async fn lists_of_every_common_kind_are_read_alike() {
    let half = 0.5_f64.ln();
    let token = |text: &str, logprob: f64| json!({"token": text, "logprob": logprob});
    let written = |others: Value| {
        json!({"choices": [{"message": {"content": "yes"}, "logprobs": {"content": [
            {"token": "yes", "bytes": null, "logprob": half, "top_logprobs": others}]}}]})
    };
    for others in [
        json!([token("yes", half), token("no", half)]),
        json!([token("no", half)]),
        json!([token("yes", half), token("no", half), token("yes", half)]),
        json!([token("yes", half), token("no", half), token("A", -9999.0)]),
        json!([token("Ġno", half), token("▁yes", -9999.0), {"token": "x"}, null, 7]),
        json!([token("no", half), {"token": "nope", "logprob": "-inf"}]),
    ] {
        assert_eq!(
            answer_to(&yes_no(), &written(others.clone()))
                .await
                .unwrap(),
            yes(0.5),
            "{others}"
        );
    }
    let listed = written(json!([token("no", half), token("x", -1.5)])).to_string();
    for body in [
        listed.replace("-1.5", "-Infinity").into_bytes(),
        listed.replace("\"x\"", "\"\\udce2\"").into_bytes(),
        listed
            .replace('x', "\u{1}")
            .bytes()
            .map(|byte| if byte == 1 { 0xE2 } else { byte })
            .collect(),
    ] {
        let server = ModelServer::start(ScriptedReply::body(body));
        assert_eq!(only(&ask(&server, &yes_no()).await.unwrap()), &yes(0.5));
    }
}

#[actix_rt::test]
async fn a_written_token_without_a_probability_has_that_of_the_list_or_is_no_answer() {
    let token = |text: &str, share: f64| json!({"token": text, "logprob": share.ln()});
    let answer = async |own: Value, others: Value| {
        let mut written = json!({"token": "no", "logprob": own, "top_logprobs": others});
        if own.is_boolean() {
            written.as_object_mut().unwrap().remove("logprob");
        }
        let body = json!({"choices": [{"message": {"content": "no"},
            "logprobs": {"content": [written]}}]});
        answer_to(&yes_no(), &body).await
    };
    let others = json!([token("no", 0.8), token("yes", 0.2)]);
    for own in [json!(null), json!(false), json!(-9999.0), json!(-1e30)] {
        assert_eq!(answer(own.clone(), others.clone()).await.unwrap(), yes(0.2));
        for unknown in [
            json!([{"token": "no"}, token("yes", 0.2)]),
            json!([token("yes", 0.2)]),
        ] {
            answer(own.clone(), unknown).await.unwrap_err();
        }
    }
}

#[actix_rt::test]
async fn a_call_reports_the_model_and_its_tokens() {
    let server = ModelServer::start(ChatModel::new(vec![1.0; 4]).reply());
    let version = choice(4);
    let submission = submission(&version, "Hello", None);
    let call = model(&server).answer(&version, &submission).await;
    assert_eq!(call.report.model.as_deref(), Some("scripted-chat-1"));
    assert_eq!(call.report.input_tokens, Some(100));
    assert_eq!((call.report.requests, call.report.attempts), (1, 1));
    assert_eq!(call.report.protocol, "chat");
}

#[actix_rt::test]
async fn a_call_that_fails_reports_what_the_server_reported() {
    let unsure = ChatModel {
        on_codes: 0.01,
        ..ChatModel::new(vec![1.0, 1.0])
    };
    let server = ModelServer::start(unsure.reply());
    let submission = submission(&yes_no(), "Hello", None);
    let call = material_first(&server).answer(&yes_no(), &submission).await;
    assert_eq!(call.outcome.unwrap_err().kind(), "unanswered");
    assert_eq!(call.report.model.as_deref(), Some("scripted-chat-1"));
    assert_eq!(
        (call.report.input_tokens, call.report.output_tokens),
        (Some(100), Some(1))
    );
}
