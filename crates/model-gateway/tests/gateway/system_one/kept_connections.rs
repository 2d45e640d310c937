use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};

use super::*;

#[actix_rt::test]
async fn provenance_counts_every_request_that_a_server_read() {
    let replies = [ScriptedReply::answers(), ScriptedReply::nothing()];
    let server = ModelServer::start(Script::first(replies));
    let model = model(&server);
    let version = yes_no();
    let mut counted = 0;
    for is_answered in [true, false, true] {
        let call = model
            .answer(&version, &submission(&version, "a text"))
            .await;
        assert_eq!(call.outcome.is_ok(), is_answered);
        if !is_answered {
            assert_eq!(call.outcome, Err(ModelError::Disconnected));
        }
        assert_eq!((call.report.requests, call.report.attempts), (1, 1));
        counted += usize::try_from(call.report.attempts).unwrap();
    }
    let counts = server.counts();
    assert_eq!((counts.connections, counts.requests), (2, counted));
}
