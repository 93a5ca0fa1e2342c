//! Following a folder: every change is read once it is quiet, and none is missed for good.

use std::{path::PathBuf, time::Duration};

use crds::translate::Translation;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use surface::digest::Digest;
use tokio::{
    sync::mpsc,
    task::block_in_place,
    time::{Instant, sleep, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{DirectoryError, Files};

/// A change is read once nothing more has happened for this long: saving is several steps.
const QUIET: Duration = Duration::from_millis(150);

/// A folder that never is quiet is read this long after its first change.
const SETTLED: Duration = Duration::from_secs(2);

/// Events are the fast way, not the only one: network file systems send none, and a folder that
/// was replaced as a whole sends none any more.
const RESCAN: Duration = Duration::from_secs(30);

/// How often a folder is looked for that cannot be watched, for instance because it is gone.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A folder that is watched.
#[derive(Debug)]
pub(crate) struct Watch {
    folder: PathBuf,
    /// Nothing where the system gives none; the folder is then looked at now and then.
    watcher: Option<RecommendedWatcher>,
    events: mpsc::Receiver<()>,
    /// Keeps `events` open, watcher or not.
    _sender: mpsc::Sender<()>,
    is_armed: bool,
    /// What was told last.
    told: Digest,
    /// Whether the last reading failed; that is said once.
    is_failing: bool,
}

impl Watch {
    /// Reads the folder, and watches it from before that, so that no change falls in between.
    pub(crate) fn start(folder: PathBuf) -> Result<(Self, Translation), DirectoryError> {
        let (sender, events) = mpsc::channel(1);
        let tell = sender.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading the folder is itself an event that must not lead to reading it again. An
            // error means that events were lost.
            if event.map_or(true, |event| !event.kind.is_access()) {
                // Full means that a change is already known.
                let _ = tell.try_send(());
            }
        });
        let watcher = watcher
            .inspect_err(|error| tracing::error!(%error, "changes are seen late: no watcher"))
            .ok();
        let told = Digest::over([]);
        let (is_armed, is_failing) = (false, false);
        let mut watch =
            Self { folder, watcher, events, _sender: sender, is_armed, told, is_failing };
        watch.arm();
        let files = Files::load(&watch.folder)?;
        watch.told = files.digest();
        Ok((watch, files.translate()))
    }

    /// Tells what the folder holds whenever that changes, until `stop`. A folder that cannot be
    /// read changes nothing.
    pub(crate) async fn follow(
        mut self,
        stop: CancellationToken,
        tell: impl Fn(Translation) + Send + 'static,
    ) {
        loop {
            let patience =
                if self.is_armed || self.watcher.is_none() { RESCAN } else { LOOK_AGAIN };
            tokio::select! {
                () = settled(&mut self.events) => {}
                () = sleep(patience) => {}
                () = stop.cancelled() => return,
            }
            // A thousand manifests take their time; requests must not wait on this thread for it.
            if let Some(translation) = block_in_place(|| self.look()) {
                tell(translation);
            }
        }
    }

    /// What the folder holds, when it is something else than was told.
    fn look(&mut self) -> Option<Translation> {
        self.arm();
        let files = match Files::load(&self.folder) {
            Ok(files) => files,
            Err(error) => {
                if !std::mem::replace(&mut self.is_failing, true) {
                    let cause = error.source.to_string();
                    tracing::error!(%error, cause, "keeping what was read before");
                }
                return None;
            }
        };
        self.is_failing = false;
        let digest = files.digest();
        (std::mem::replace(&mut self.told, digest) != digest).then(|| files.translate())
    }

    /// Watches what is at the path now: another folder may have been put there. Always before
    /// reading, so that what happens meanwhile is an event.
    fn arm(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        // Fails when the former folder is gone, and its watch with it.
        let _ = watcher.unwatch(&self.folder);
        let armed = watcher.watch(&self.folder, RecursiveMode::NonRecursive);
        if let (Err(error), true) = (&armed, self.is_armed) {
            tracing::warn!(%error, folder = %self.folder.display(), "changes are seen late");
        }
        self.is_armed = armed.is_ok();
    }
}

/// Resolves after a change, once it is quiet.
async fn settled(events: &mut mpsc::Receiver<()>) {
    if events.recv().await.is_none() {
        return std::future::pending().await;
    }
    let latest = Instant::now() + SETTLED;
    while let Ok(Some(())) = timeout_at(latest.min(Instant::now() + QUIET), events.recv()).await {
        if Instant::now() >= latest {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn put(folder: &Path, name: &str) {
        let server = format!(
            "apiVersion: portreeve.dev/v1alpha1\nkind: UpstreamServer\nmetadata: {{name: {name}}}\nspec:\n  transport:\n    stdio: {{command: [x]}}\n"
        );
        std::fs::write(folder.join(format!("{name}.yaml")), server).unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn changes_are_told_from_the_first_reading_on_and_after_the_folder_was_replaced() {
        let ground = tempfile::tempdir().unwrap();
        let folder = ground.path().join("manifests");
        std::fs::create_dir(&folder).unwrap();
        let (watch, first) = Watch::start(folder.clone()).unwrap();
        assert!(first.doc.servers.is_empty());
        // Before anybody follows.
        put(&folder, "a");
        let (sender, mut told) = mpsc::unbounded_channel();
        let stop = CancellationToken::new();
        let _stopped = stop.clone().drop_guard();
        tokio::spawn(watch.follow(stop, move |translation| {
            let names = translation.doc.servers.iter().map(|server| server.object.name.clone());
            sender.send(names.collect::<Vec<_>>()).unwrap();
        }));
        assert_eq!(told.recv().await.unwrap(), ["a"]);
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::create_dir(&folder).unwrap();
        put(&folder, "b");
        while told.recv().await.unwrap() != ["b"] {}
        put(&folder, "c");
        assert_eq!(told.recv().await.unwrap(), ["b", "c"]);
    }
}
