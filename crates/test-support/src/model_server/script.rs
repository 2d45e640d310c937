//! The script of a model server: the reply to each request.

use std::collections::VecDeque;

use super::http::ReceivedRequest;
use super::reply::ScriptedReply;

/// The replies of a server: some for the first requests in order, then one for all others.
#[derive(Clone, Debug)]
pub struct Script {
    first: VecDeque<ScriptedReply>,
    then: ScriptedReply,
    keeps_requests: bool,
}

impl Script {
    /// Sends these replies to the first requests, and [answers](ScriptedReply::answers) to all
    /// others.
    pub fn first(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        Self {
            first: replies.into_iter().collect(),
            ..Self::from(ScriptedReply::answers())
        }
    }

    /// Sets the reply to all requests after the first ones.
    #[must_use]
    pub fn then(self, reply: ScriptedReply) -> Self {
        Self {
            then: reply,
            ..self
        }
    }

    /// Drops every request after its answer, for load tests.
    #[must_use]
    pub fn unrecorded(self) -> Self {
        Self {
            keeps_requests: false,
            ..self
        }
    }
}

impl From<ScriptedReply> for Script {
    fn from(reply: ScriptedReply) -> Self {
        Self {
            first: VecDeque::new(),
            then: reply,
            keeps_requests: true,
        }
    }
}

/// A script in use, and the requests so far.
#[derive(Debug)]
pub(super) struct ScriptRun {
    script: Script,
    requests: Vec<ReceivedRequest>,
}

impl ScriptRun {
    pub(super) fn new(script: Script) -> Self {
        Self {
            script,
            requests: Vec::new(),
        }
    }

    pub(super) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.clone()
    }

    pub(super) fn then_once(&mut self, reply: ScriptedReply) {
        self.script.first.push_back(reply);
    }

    pub(super) fn then_always(&mut self, reply: ScriptedReply) {
        self.script.then = reply;
    }

    /// Stores the request and takes the next reply from the script.
    pub(super) fn reply_to(&mut self, request: &ReceivedRequest) -> ScriptedReply {
        if self.script.keeps_requests {
            self.requests.push(request.clone());
        }
        match self.script.first.pop_front() {
            Some(reply) => reply,
            None => self.script.then.clone(),
        }
    }
}
