//! `stdio`: one profile over stdin and stdout, for clients that start their server.
//! The same exchanges as over HTTP; lines instead of bodies, and one client only.

use std::{
    collections::HashMap,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncWriteExt as _, BufReader, Stdout},
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};
use upstream::lines::{Line, LineReader, one_line};

use crate::{
    cli::{ProfileName, StdioOptions},
    failure::Failure,
    http::{batch, message::Message as Outgoing},
    mcp::{
        exchange::{Answered, Exchange, Told},
        message::{Body, Message, Notification, Refused, Request},
        modern::Speaker,
        profile::Profile,
    },
    metrics::Metrics,
    serve::{Backing, asked_to_stop},
    serving::Live,
};

/// Longest line taken from the client, in bytes.
const MAX_LINE: usize = 4 * 1024 * 1024;

pub(crate) async fn run(options: StdioOptions) -> anyhow::Result<ExitCode> {
    let StdioOptions { manifests, profile } = options;
    let profile = Arc::new(match profile {
        ProfileName::Router => Profile::Router,
    });
    let live = Live::new();
    let metrics = Arc::new(Metrics::new()?);
    let backing = Backing::start(manifests, None, &live, &metrics)?;
    let (lines, receiver) = mpsc::channel(64);
    let writer = tokio::spawn(write(tokio::io::stdout(), receiver));
    let session = Session { live, metrics, profile, lines, running: Arc::default() };
    let spoken = async {
        session.read().await;
        writer.await
    };
    tokio::select! {
        written = spoken => written?,
        reason = asked_to_stop() => tracing::info!("stopping: {}", reason?),
    }
    backing.end().await;
    Ok(ExitCode::SUCCESS)
}

async fn write(mut stdout: Stdout, mut lines: mpsc::Receiver<Bytes>) {
    while let Some(line) = lines.recv().await {
        let line = one_line(line.into());
        let written = async {
            stdout.write_all(&line).await?;
            stdout.flush().await
        };
        if written.await.is_err() {
            // The client is gone; the end of its input says so too.
            return;
        }
    }
}

type Running = Arc<Mutex<HashMap<Bytes, AbortHandle>>>;

#[derive(Clone)]
struct Session {
    live: Live,
    metrics: Arc<Metrics>,
    profile: Arc<Profile>,
    lines: mpsc::Sender<Bytes>,
    /// Requests under way by id, so that they can be cancelled.
    running: Running,
}

impl Session {
    /// Reads until the client closes its end, then lets what is under way finish.
    async fn read(self) {
        let mut reader = LineReader::new(BufReader::new(tokio::io::stdin()), MAX_LINE);
        let mut tasks = JoinSet::new();
        let too_large = || Refused::anonymous(Failure::TooLarge { limit: MAX_LINE });
        loop {
            match reader.next().await {
                Ok(Line::Whole(line)) => self.take(&line, &mut tasks).await,
                Ok(Line::TooLong { .. }) => self.refuse(too_large()).await,
                // Where the next message starts will never be known.
                Ok(Line::Endless) => {
                    self.refuse(too_large()).await;
                    break;
                }
                Ok(Line::End) | Err(_) => break,
            }
            while tasks.try_join_next().is_some() {}
        }
        tasks.join_all().await;
    }

    async fn take(&self, line: &Bytes, tasks: &mut JoinSet<()>) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match Body::parse(line) {
            Ok(Body::One(Message::Request(request))) => self.start(request, tasks),
            Ok(Body::One(Message::Notification(notification))) => self.notice(&notification),
            Ok(Body::One(Message::Response)) => {}
            // Nobody says a version here, so whoever sends several at once is taken to know them.
            Ok(Body::Batch(items)) => self.start_batch(items, tasks),
            Err(refused) => self.refuse(refused).await,
        }
    }

    fn start(&self, request: Request, tasks: &mut JoinSet<()>) {
        let id = request.id.clone();
        let (session, done) = (self.clone(), id.clone());
        // Held over the start, so that the entry is there before the task takes it away.
        let mut entries = lock(&self.running);
        let task = tasks.spawn(async move {
            session.answer(request).await;
            lock(&session.running).remove(&done);
        });
        entries.insert(id, task);
    }

    async fn answer(&self, request: Request) {
        if needs_servers(&request) {
            self.live.ready().await;
        }
        let mut telling = self.exchange(request).tell();
        loop {
            // Refused only when nobody reads any more.
            match telling.next().await {
                Told::Notice(notice) => {
                    let _ = self.lines.send(notice.into_bytes()).await;
                }
                Told::Answer(answered) => {
                    let _ = self.lines.send(Outgoing::new(answered).into_bytes()).await;
                    return;
                }
            }
        }
    }

    fn start_batch(&self, items: Vec<Result<Message, Refused>>, tasks: &mut JoinSet<()>) {
        let mut needs = false;
        for item in items.iter().flatten() {
            match item {
                Message::Request(request) => needs |= needs_servers(request),
                Message::Notification(notification) => self.notice(notification),
                Message::Response => {}
            }
        }
        let session = self.clone();
        tasks.spawn(async move {
            if needs {
                session.live.ready().await;
            }
            if let Some(answers) = batch::answer(items, |request| session.exchange(request)).await {
                let _ = session.lines.send(answers).await;
            }
        });
    }

    fn exchange(&self, request: Request) -> Exchange {
        Exchange {
            serving: self.live.load(),
            profile: Arc::clone(&self.profile),
            metrics: Arc::clone(&self.metrics),
            headers: None,
            request,
            notices: None,
        }
    }

    fn notice(&self, notification: &Notification) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled<'a> {
            #[serde(borrow)]
            request_id: &'a RawValue,
        }
        if notification.method != "notifications/cancelled" {
            return;
        }
        if let Ok(cancelled) = serde_json::from_slice::<Cancelled<'_>>(&notification.params)
            && let Some(task) = lock(&self.running).remove(cancelled.request_id.get().as_bytes())
        {
            task.abort();
        }
    }

    async fn refuse(&self, refused: Refused) {
        let Refused { id, failure } = refused;
        let answered = Answered { id, speaker: Speaker::Modern, outcome: Err(failure) };
        // Refused only when nobody reads any more.
        let _ = self.lines.send(Outgoing::new(answered).into_bytes()).await;
    }
}

/// A client that starts its server asks at once. About tools it is answered once there is
/// something to say; everything else does not wait for servers.
fn needs_servers(request: &Request) -> bool {
    request.method.starts_with("tools/")
}

fn lock(running: &Running) -> std::sync::MutexGuard<'_, HashMap<Bytes, AbortHandle>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}
