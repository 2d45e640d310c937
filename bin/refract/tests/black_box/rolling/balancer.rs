//! HAProxy with the configuration in `docs/deploy`, on ports of this run.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use refract_test_stack::http::{Request, within_patience};
use tokio::process::{Child, Command};

/// The configuration that operators copy.
const CONFIGURATION: &str = include_str!("../../../../../docs/deploy/haproxy.cfg");

/// The three addresses of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodePorts {
    pub(crate) api: SocketAddr,
    pub(crate) app: SocketAddr,
    pub(crate) ops: SocketAddr,
}

/// A running HAProxy, which is killed when the value is dropped.
pub(crate) struct Balancer {
    _child: Child,
    pub(crate) api: SocketAddr,
    pub(crate) app: SocketAddr,
    metrics: SocketAddr,
}

/// Whether HAProxy is installed.
pub(crate) async fn is_installed() -> bool {
    let mut version = Command::new("haproxy");
    version
        .arg("-v")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    version.status().await.is_ok_and(|status| status.success())
}

impl Balancer {
    /// Starts HAProxy in front of nodes and waits until it has a node for API calls and for pages.
    pub(crate) async fn start(folder: &Path, nodes: &[NodePorts], own: NodePorts) -> Self {
        let file = folder.join("haproxy.cfg");
        std::fs::write(&file, configuration(nodes, own)).unwrap();
        let child = Command::new("haproxy")
            .args(["-db", "-q", "-f"])
            .arg(file)
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn();
        let balancer = Self {
            _child: child.unwrap(),
            api: own.api,
            app: own.app,
            metrics: own.ops,
        };
        within_patience(async {
            while tokio::net::TcpStream::connect(balancer.metrics)
                .await
                .is_err()
            {
                tokio::task::yield_now().await;
            }
            for backend in ["api", "app"] {
                let series = format!("haproxy_backend_active_servers{{proxy=\"{backend}\"}}");
                while balancer.metric(&series).await < 3.0 {
                    tokio::task::yield_now().await;
                }
            }
        })
        .await;
        balancer
    }

    /// The value of an HAProxy metric, by name and labels.
    pub(crate) async fn metric(&self, series: &str) -> f64 {
        let request = Request::outside("GET", "/metrics").header("Connection", "close");
        let mut connection = refract_test_stack::http::HttpConnection::open(self.metrics).await;
        connection.send(&request.bytes()).await;
        let text = connection.rest().await;
        let samples = text.lines().filter_map(|line| line.rsplit_once(' '));
        let mut ours = samples.filter(|(sample, _)| *sample == series);
        ours.next().expect(series).1.parse().unwrap()
    }
}

/// The configuration with the addresses of this run.
fn configuration(nodes: &[NodePorts], own: NodePorts) -> String {
    let mut text = CONFIGURATION.to_owned();
    for (port, address) in [("8080", own.api), ("8081", own.app), ("8404", own.ops)] {
        replace(
            &mut text,
            &format!("bind :{port}\n"),
            &format!("bind {address}\n"),
        );
    }
    for port in ["8080", "8081"] {
        let servers = nodes.iter().enumerate().map(|(number, node)| {
            let address = if port == "8080" { node.api } else { node.app };
            format!("    server n{number} {address} port {}\n", node.ops.port())
        });
        let servers: String = servers.collect();
        replace(
            &mut text,
            &format!("    server node1 node1:{port}\n"),
            &servers,
        );
        replace(&mut text, &format!("    server node2 node2:{port}\n"), "");
    }
    text
}

/// Replaces a line that must occur exactly once.
fn replace(text: &mut String, line: &str, by: &str) {
    assert_eq!(text.matches(line).count(), 1, "haproxy.cfg: {line}");
    *text = text.replace(line, by);
}
