//! A model that counts how often it is asked about each text.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use refract_test_support::model_server::{
    ModelServer, ReceivedRequest, Script, ScriptedReply, system_one_answers,
};
use serde_json::json;

/// Texts that begin with this word are left unanswered at their first request.
pub(crate) const FAILS_FIRST: &str = "fails";
/// The longest time for an answer; the average is half.
const THINKING: Duration = Duration::from_millis(100);

/// The number of requests for each text, by its first two words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked(Arc<Mutex<BTreeMap<String, usize>>>);

impl Asked {
    /// The script of a model that counts here.
    pub(crate) fn script(&self) -> Script {
        let asked = self.clone();
        let reply = ScriptedReply::with(move |request| {
            let (name, times) = asked.count(request);
            if name.starts_with(FAILS_FIRST) && times == 1 {
                json!({"answers": {}})
            } else {
                system_one_answers(request)
            }
        });
        Script::from(reply.held()).unrecorded()
    }

    fn count(&self, request: &ReceivedRequest) -> (String, usize) {
        let name = name_of(request.json()["state"]["text"].as_str().unwrap());
        let mut asked = self.0.lock().unwrap();
        let times = asked.entry(name.clone()).or_default();
        *times += 1;
        (name, *times)
    }

    /// The counts of all texts.
    pub(crate) fn counts(&self) -> BTreeMap<String, usize> {
        self.0.lock().unwrap().clone()
    }
}

/// The identity of a text: its first two words.
pub(crate) fn name_of(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').take(2).collect();
    words.join(" ")
}

/// Lets the model answer each request after a short delay, forever.
pub(crate) async fn think(model: &ModelServer) {
    let mut ticks = tokio::time::interval(THINKING / 2);
    let (mut released, mut last) = (0, 0);
    loop {
        ticks.tick().await;
        model.release(last - released);
        released = last;
        last = model.counts().requests;
    }
}
