//! A model server of the `systemone` protocol with one constant answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use actix_web::{App, HttpResponse, HttpServer, rt, web};

/// The answer to the questions of the prism in [`Node`](crate::node::Node).
const ANSWER: &str = r#"{"model":"bench","answers":{"topic":{"type":"choice","choice":"delivery","confidence":0.9,"probabilities":{"billing":0.02,"delivery":0.9,"product":0.05,"other":0.02,"insufficient_information":0.01}},"angry":{"type":"noul","noul":0.12},"urgency":{"type":"score","score":0.7,"confidence":0.5,"probabilities":{"0":0.4,"1":0.5,"2":0.1}}},"usage":{"input_tokens":318,"output_tokens":34}}"#;

/// Serves on the address in `LISTEN`, and answers after a delay. `/asked` returns the number of
/// requests so far.
pub fn serve(delay: Duration) -> anyhow::Result<()> {
    let listen = std::env::var("LISTEN")?;
    let asked = Arc::new(AtomicU64::new(0));
    let server = HttpServer::new(move || {
        let (asked, counted) = (Arc::clone(&asked), Arc::clone(&asked));
        let asked = move || {
            let asked = asked.load(Ordering::Relaxed).to_string();
            async { asked }
        };
        let answer = move |_: web::Bytes| {
            counted.fetch_add(1, Ordering::Relaxed);
            answer_after(delay)
        };
        App::new()
            .route("/asked", web::get().to(asked))
            .route("/systemone", web::post().to(answer))
    });
    let server = server.workers(2).backlog(8192).max_connections(20_000);
    rt::System::new().block_on(async { server.bind(listen)?.run().await })?;
    Ok(())
}

async fn answer_after(delay: Duration) -> HttpResponse {
    if !delay.is_zero() {
        rt::time::sleep(delay).await;
    }
    HttpResponse::Ok()
        .content_type("application/json")
        .body(ANSWER)
}
