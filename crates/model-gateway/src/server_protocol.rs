//! The protocols by which a model server is asked. A new protocol is one more variant here and in
//! [`Protocol`], an arm in [`crate::estimate`], and a module of its own.

use std::sync::Arc;

use refract_domain::answer::Answers;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;

use crate::attempts::CallSender;
use crate::chat::ChatProtocol;
use crate::failure::ModelFailure;
use crate::protocol::Protocol;
use crate::servers::address::ServerAddress;
use crate::servers::each_server::EachServer;
use crate::settings::ModelSettings;
use crate::stated::StatedProtocol;
use crate::typed_questions::TypedProtocol;
use crate::{decisions, system_one};

/// How model servers are asked, with what was learned about each of them. Clones share it.
#[derive(Clone, Debug)]
pub(crate) enum ServerProtocol {
    SystemOne(Arc<TypedProtocol>),
    Decisions(Arc<TypedProtocol>),
    Chat(Arc<ChatProtocol>),
    Stated(Arc<StatedProtocol>),
}

impl ServerProtocol {
    pub(crate) fn new(settings: &ModelSettings, addresses: &EachServer<ServerAddress>) -> Self {
        let model = settings.name.clone();
        let typed = |format, model| {
            Arc::new(TypedProtocol {
                format,
                model,
                request_tokens: settings.request_tokens,
            })
        };
        match settings.protocol {
            Protocol::SystemOne => Self::SystemOne(typed(system_one::FORMAT, model)),
            Protocol::Decisions => Self::Decisions(typed(decisions::FORMAT, model)),
            Protocol::Chat => Self::Chat(Arc::new(ChatProtocol::new(
                &model,
                settings.follow_ups,
                addresses,
            ))),
            Protocol::Stated => Self::Stated(Arc::new(StatedProtocol::new(&model, addresses))),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::SystemOne(_) => Protocol::SystemOne.name(),
            Self::Decisions(_) => Protocol::Decisions.name(),
            Self::Chat(_) => Protocol::Chat.name(),
            Self::Stated(_) => Protocol::Stated.name(),
        }
    }

    /// Asks all questions of a version about one submission. The first request that fails fails
    /// all; the others are dropped.
    pub(crate) async fn ask(
        &self,
        call: &CallSender<'_>,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, ModelFailure> {
        match self {
            Self::SystemOne(protocol) | Self::Decisions(protocol) => {
                protocol.ask(call, version, submission).await
            }
            Self::Chat(protocol) => protocol.ask(call, version, submission).await,
            Self::Stated(protocol) => protocol.ask(call, version, submission).await,
        }
    }
}
