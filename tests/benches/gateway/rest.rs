//! The gateway at rest: how soon it is ready and what it keeps in memory.

use std::time::{Duration, Instant};

use tests::harness::{FixtureServer, Gateway, fixture_argv, http_server, stdio_server};

const ROUNDS: usize = 7;

pub(crate) async fn run() {
    start().await;
    memory().await;
}

/// From the start of the process to ready, beside starting the server alone that it waits for.
async fn start() {
    let (mut alone, mut ready) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let fixture = FixtureServer::start(&[]).await;
        alone.push(begun.elapsed());
        let begun = Instant::now();
        let gateway = Gateway::start(&[http_server("fixture", &fixture.url, "")]).await;
        ready.push(begun.elapsed());
        drop(gateway);
    }
    println!("start of a server alone        median {:>9.1?}", median(alone));
    println!(
        "start of the gateway to ready  median {:>9.1?} (looked at every 20 ms)\n",
        median(ready)
    );
}

async fn memory() {
    let resident = |name: &str, gateway: &Gateway| {
        println!("resident, {name:<24} {:>8.1} MiB", mebibytes(gateway.pid()));
    };
    let empty = Gateway::start(&[]).await;
    resident("no server", &empty);
    let many =
        Gateway::start(&[stdio_server("many", &fixture_argv(&["--tools", "1000"]), "")]).await;
    resident("1,000 tools", &many);
    let most =
        Gateway::start(&[stdio_server("most", &fixture_argv(&["--tools", "10000"]), "")]).await;
    resident("10,000 tools", &most);
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn mebibytes(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kibibytes / 1024.0
}
