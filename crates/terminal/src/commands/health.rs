//! `refract health`: asks a node whether it takes calls, for supervisors without an HTTP client.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use http::StatusCode;

use super::node_call;
use crate::{output, settings};

/// Upper bound on the answer: longer than the database ping behind `/readyz` may take.
const PATIENCE: Duration = Duration::from_secs(4);

/// The arguments of `refract health`.
#[derive(Args)]
pub struct HealthCommand {
    /// Asks only whether the process is up, whatever its database does
    #[arg(long)]
    live: bool,

    /// Address of the node's `/healthz` and `/readyz`
    #[arg(
        long,
        env = "REFRACT_OPS_LISTEN",
        default_value = "127.0.0.1:9090",
        value_name = "ADDRESS"
    )]
    ops_listen: String,
}

impl HealthCommand {
    /// Runs `refract health`.
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        if self.ops_listen == "off" {
            bail!("REFRACT_OPS_LISTEN is off: a node without it cannot be asked");
        }
        let (path, state) = if self.live {
            ("/healthz", "up")
        } else {
            ("/readyz", "ready")
        };
        let address = settings::address("REFRACT_OPS_LISTEN", &self.ops_listen)?;
        let address = settings::as_reached(address);
        let call = format!("GET {path}");
        let asking = tokio::time::timeout(PATIENCE, node_call::send(address, &call, "", ""));
        let asked = asking.await.map_err(anyhow::Error::from);
        let reply = asked.and_then(|reply| Ok(reply?));
        let reply = reply.with_context(|| format!("no node answers at {address}"))?;
        ensure!(
            reply.status == StatusCode::OK,
            "the node is not {state}: {path} answers {}",
            reply.status.as_u16()
        );
        output::text(&format!("{state}\n"))
    }
}
