//! Models over each protocol that know the right answers to the check's questions.

use refract_test_support::model_server::{ReceivedRequest, ScriptedReply, tokens_reply};
use serde_json::{Value, json};

/// The labels of the right outcomes, one for each question of the check.
const RIGHT: [&str; 5] = ["Yes", "Very", "Delivery", "Parcel 137", "Box 13"];

fn is_right(words: &str) -> bool {
    let label = words.split(": ").next().unwrap_or_default();
    RIGHT.contains(&label)
}

/// The codes of the question that a prompt asks, and whether each is the code of the right outcome:
/// in its block of the system message, where the end names its key, else in the user message.
fn codes(request: &ReceivedRequest) -> Vec<(String, bool)> {
    let body = request.json();
    let content = |at: usize| body["messages"][at]["content"].as_str().unwrap_or_default();
    let (system, user, begun) = (content(0), content(1), content(2));
    let end = format!("{}{begun}", user.lines().last().unwrap_or_default());
    let block = system.split("\n\n## ").skip(1).find(|block| {
        let key = block.lines().next().unwrap_or_default();
        end.ends_with(&format!("{key} =")) || end.contains(&format!("{key} = "))
    });
    let lines = block.unwrap_or(user).lines();
    lines
        .filter_map(|line| line.split_once(") "))
        .map(|(code, words)| (code.to_owned(), is_right(words)))
        .collect()
}

/// A `chat` model that gives 0.9 to the right outcome and 0.1 to another, and equal probabilities
/// if no outcome is right.
pub fn knowing_chat() -> ScriptedReply {
    ScriptedReply::with(|request| {
        let codes = codes(request);
        if codes.iter().all(|(_, is_right)| !is_right) {
            return tokens_reply(&even(&codes), 20);
        }
        let of = |right: bool| codes.iter().find(|(_, is)| *is == right).unwrap().0.clone();
        let (right, other) = (of(true), of(false));
        let is_cut = right.len() == 2 && right.starts_with(char::is_uppercase);
        let cut = |code: &str| code.chars().map(String::from).collect::<Vec<_>>();
        let positions = if is_cut {
            let (right, other) = (cut(&right), cut(&other));
            let digit = vec![(right[1].clone(), 1.0)];
            vec![
                vec![(right[0].clone(), 0.9), (other[0].clone(), 0.1)],
                digit,
            ]
        } else {
            vec![
                vec![("\n".to_owned(), 1.0)],
                vec![(right, 0.9), (other, 0.1)],
            ]
        };
        tokens_reply(&positions, 20)
    })
}

/// The tokens of an answer with equal probabilities of all codes.
fn even(codes: &[(String, bool)]) -> Vec<Vec<(String, f64)>> {
    let mut letters: Vec<(String, f64)> = Vec::new();
    for (code, _) in codes {
        match letters.last_mut() {
            Some((letter, sum)) if code.starts_with(&*letter) => *sum += 1.0,
            Some(_) | None => letters.push((code.chars().take(1).collect(), 1.0)),
        }
    }
    let total: f64 = letters.iter().map(|(_, sum)| sum).sum();
    for (_, sum) in &mut letters {
        *sum /= total;
    }
    let digits = (0..10).map(|digit| (digit.to_string(), 0.1)).collect();
    vec![letters, digits]
}

/// A `stated` model that states 90 percent for the right outcome.
pub fn knowing_stated() -> ScriptedReply {
    ScriptedReply::with(|request| {
        let body = request.json();
        let schema = &body["response_format"]["json_schema"]["schema"]["properties"];
        let (key, schema) = schema.as_object().unwrap().iter().next().unwrap();
        let properties = schema["properties"].as_object().unwrap();
        let codes = codes(request);
        let right = codes.iter().find(|(_, is_right)| *is_right).unwrap();
        let stated = |name: &String| match name.as_str() {
            "code_1" => json!(right.0),
            "percent_1" => json!(90),
            "percent_others" => json!(10),
            name if name.starts_with("code_") => json!(""),
            name => json!(if name == right.0 { 90 } else { 0 }),
        };
        let answer: Value = properties
            .keys()
            .map(|name| (name.clone(), stated(name)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        json!({"model": "stating-1", "choices": [{"message": {"content": json!({key: answer}).to_string()}}]})
    })
}

/// A `systemone` model that gives the right outcome and leaves out the others.
pub fn knowing_system_one() -> ScriptedReply {
    ScriptedReply::with(|request| json!({"model": "knowing-1", "answers": typed_answers(request)}))
}

/// A `gemini` model that gives the right outcome and leaves out the others.
pub fn knowing_gemini() -> ScriptedReply {
    ScriptedReply::with(|request| json!({"answers": typed_answers(request)}))
}

/// The answers to questions by their key.
fn typed_answers(request: &ReceivedRequest) -> Value {
    let body = request.json();
    let questions = body["questions"].as_object().unwrap();
    let answers = questions.iter().map(|(key, question)| {
        let criteria = &question["criteria"];
        let answer = match question["type"].as_str().unwrap() {
            "choice" => {
                let mut criteria = criteria.as_object().unwrap().iter();
                let right = criteria.find(|(_, words)| is_right(words.as_str().unwrap()));
                let right = right.unwrap().0;
                json!({"type": "choice", "choice": right, "probabilities": {right: 1}})
            }
            "score" => json!({"type": "score", "probabilities": {"0": 0, "1": 0, "2": 1}}),
            _ => json!({"type": "noul", "noul": 0.9}),
        };
        (key.clone(), answer)
    });
    answers.collect::<serde_json::Map<_, _>>().into()
}

/// A `decisions` model that gives the right outcome and leaves out the others.
pub fn knowing_decisions() -> ScriptedReply {
    ScriptedReply::with(|request| {
        let body = request.json();
        let questions = body["questions"].as_array().unwrap();
        let answers: Vec<Value> = questions.iter().map(decision).collect();
        json!({"model": "deciding-1", "answers": answers})
    })
}

fn decision(question: &Value) -> Value {
    let name = &question["name"];
    match question["type"].as_str().unwrap() {
        "choice" => {
            let mut choices = question["choices"].as_array().unwrap().iter();
            let right = choices.find(|choice| is_right(choice["description"].as_str().unwrap()));
            let right = &right.unwrap()["value"];
            json!({"type": "choice", "name": name, "choice": right,
                   "probabilities": [{"value": right, "probability": 1}]})
        }
        "score" => {
            let levels = question["levels"].as_array().unwrap().iter().enumerate();
            let probabilities = levels.map(|(index, level)| {
                let is_right = is_right(level["label"].as_str().unwrap());
                json!({"label": level["label"], "value": index, "probability": u8::from(is_right)})
            });
            json!({"type": "score", "name": name, "score": 2,
                   "probabilities": probabilities.collect::<Vec<_>>()})
        }
        _ => json!({"type": "predicate", "name": name, "probability": 0.9}),
    }
}
