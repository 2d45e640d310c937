//! Server processes: started on a free port, awaited until they listen, stopped when dropped.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// The longest time until a server listens.
const START: Duration = Duration::from_secs(30);

/// A process that serves HTTP on 127.0.0.1.
pub struct ServerProcess {
    child: Child,
    address: SocketAddr,
}

impl ServerProcess {
    /// Starts this program with other arguments.
    pub fn start_own(arguments: &[&str], database: &str) -> anyhow::Result<Self> {
        let address = free_address()?;
        let child = Command::new(std::env::current_exe()?)
            .args(arguments)
            .env("LISTEN", address.to_string())
            .env("DATABASE_URL", database)
            .stdin(Stdio::null())
            .spawn()?;
        Self::started(child, address)
    }

    /// Starts `refract serve`.
    pub fn start_refract(
        binary: &Path,
        folder: &Path,
        settings: &[(&str, String)],
    ) -> anyhow::Result<Self> {
        let address = free_address()?;
        let child = Command::new(binary)
            .arg("serve")
            .current_dir(folder)
            .envs(settings.iter().cloned())
            .env("REFRACT_LISTEN", address.to_string())
            .env("REFRACT_OPS_LISTEN", "off")
            .stdin(Stdio::null())
            .stderr(std::fs::File::create(folder.join("serve.log"))?)
            .spawn()?;
        Self::started(child, address)
    }

    fn started(mut child: Child, address: SocketAddr) -> anyhow::Result<Self> {
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = child.try_wait()? {
                bail!("a server ended at once: {status}");
            }
            if begun.elapsed() > START {
                let _ = child.kill();
                bail!("a server does not listen");
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        Ok(Self { child, address })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Makes one POST of JSON and returns the body of the reply.
    pub fn post(&self, path: &str, body: &str) -> anyhow::Result<String> {
        self.send("POST", path, "", body)
    }

    /// Makes one request on a new connection and returns the body of the reply.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> anyhow::Result<String> {
        let answer = self.exchange(method, path, headers, body)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("half an answer")?;
        if !head.starts_with("HTTP/1.1 200") {
            bail!("{}: {body}", head.lines().next().unwrap_or_default());
        }
        Ok(body.to_owned())
    }

    /// Makes one GET and returns the status of the reply.
    pub fn status(&self, path: &str) -> anyhow::Result<u16> {
        let answer = self.exchange("GET", path, "", "")?;
        let status = answer.split_whitespace().nth(1);
        Ok(status.context("no status")?.parse()?)
    }

    fn exchange(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> anyhow::Result<String> {
        let mut stream = TcpStream::connect(self.address)?;
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An address whose port was free a moment ago.
fn free_address() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// The processor time that a process has used, in seconds.
pub fn cpu_seconds(pid: u32) -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    ticks(&stat).context("an odd /proc/PID/stat")
}

/// The processor time of all processes with a name, such as a database's, in seconds.
pub fn cpu_seconds_of(name: &str) -> f64 {
    let in_parentheses = format!("({name})");
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return 0.0;
    };
    processes
        .filter_map(|process| std::fs::read_to_string(process.ok()?.path().join("stat")).ok())
        .filter(|stat| stat.contains(&in_parentheses))
        .filter_map(|stat| ticks(&stat))
        .sum()
}

fn ticks(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    // `USER_HZ` is 100 on every supported Linux
    Some((user + system) / 100.0)
}

/// The resident memory of a process, in KiB.
pub fn resident_kib(pid: u32) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line
        .context("an odd /proc/PID/status")?
        .trim_end_matches("kB")
        .trim();
    Ok(kib.parse()?)
}
