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
    http::message::Message as Outgoing,
    mcp::{
        exchange::{Answered, Exchange},
        message::{Message, Notification, Refused, Request},
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
    tokio::select! {
        () = session.read() => {}
        reason = asked_to_stop() => tracing::info!("stopping: {}", reason?),
    }
    backing.end().await;
    writer.await?;
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
        // A client that starts its server asks at once; it is answered once there is something
        // to say.
        self.live.ready().await;
        loop {
            match reader.next().await {
                Ok(Line::Whole(line)) => self.take(&line, &mut tasks).await,
                Ok(Line::TooLong { .. } | Line::Endless) => {
                    self.refuse(Refused::anonymous(Failure::TooLarge { limit: MAX_LINE })).await;
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
        match Message::parse(line) {
            Ok(Message::Request(request)) => self.start(request, tasks),
            Ok(Message::Notification(notification)) => self.notice(&notification),
            Ok(Message::Response) => {}
            Err(refused) => self.refuse(refused).await,
        }
    }

    fn start(&self, request: Request, tasks: &mut JoinSet<()>) {
        let id = request.id.clone();
        let (notices, received) = mpsc::channel(16);
        let exchange = Exchange {
            serving: self.live.load(),
            profile: Arc::clone(&self.profile),
            metrics: Arc::clone(&self.metrics),
            headers: None,
            request,
            notices: Some(notices),
        };
        let (lines, running) = (self.lines.clone(), Arc::clone(&self.running));
        let done = id.clone();
        // Held over the start, so that the entry is there before the task takes it away.
        let mut entries = lock(&self.running);
        let task = tasks.spawn(async move {
            answer_lines(exchange, received, &lines).await;
            lock(&running).remove(&done);
        });
        entries.insert(id, task);
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

async fn answer_lines(
    exchange: Exchange,
    mut notices: mpsc::Receiver<upstream::RawJson>,
    lines: &mpsc::Sender<Bytes>,
) {
    let answer = exchange.answer();
    tokio::pin!(answer);
    loop {
        tokio::select! {
            biased;
            Some(notice) = notices.recv() => {
                let _ = lines.send(notice.into_bytes()).await;
            }
            answered = &mut answer => {
                let _ = lines.send(Outgoing::new(answered).into_bytes()).await;
                return;
            }
        }
    }
}

fn lock(running: &Running) -> std::sync::MutexGuard<'_, HashMap<Bytes, AbortHandle>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}
