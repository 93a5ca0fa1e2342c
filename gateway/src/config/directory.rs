//! A folder of manifests: read whole, in the order of file names, and followed.
//! What the manifests mean is the business of `crds`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crds::{
    objects::Objects,
    translate::{Placement, Translation, translate},
};
use notify::{RecursiveMode, Watcher as _};
use tokio::{sync::mpsc, task::block_in_place};
use tokio_util::sync::CancellationToken;

/// A change is read once nothing more has happened for this long: saving is several steps.
const QUIET: Duration = Duration::from_millis(150);

/// A folder that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the manifests in {}", folder.display())]
pub(crate) struct DirectoryError {
    folder: PathBuf,
    source: std::io::Error,
}

/// Reads every manifest of a folder. Files whose content is wrong become problems.
pub(crate) fn read(folder: &Path) -> Result<Translation, DirectoryError> {
    let failed = |source| DirectoryError { folder: folder.to_owned(), source };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|e| e.path())).collect())
        .map_err(failed)?;
    files.retain(|path| is_manifest(path));
    files.sort();
    let mut objects = Objects::default();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match std::fs::read_to_string(&path) {
            Ok(text) => objects.parse_file(&name, &text),
            Err(source) => return Err(DirectoryError { folder: path, source }),
        }
    }
    let env = |name: &str| std::env::var(name).ok();
    Ok(translate(&objects, Placement::Standalone { env: &env }))
}

/// Hidden files are an editor's, or the machinery of a mounted ConfigMap.
fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json");
    let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
    extension && !hidden && path.is_file()
}

/// Reads the folder again whenever it changes, until `stop`. A folder that cannot be read
/// changes nothing.
pub(crate) async fn follow(
    folder: PathBuf,
    stop: CancellationToken,
    tell: impl Fn(Translation) + Send + 'static,
) {
    let (sender, mut events) = mpsc::channel(1);
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Reading the folder is itself an event that must not lead to reading it again.
        if event.is_ok_and(|event| !event.kind.is_access()) {
            // Full means that a change is already known.
            let _ = sender.try_send(());
        }
    });
    let watching = watcher.and_then(|mut watcher| {
        watcher.watch(&folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    // Watches for as long as it lives.
    let _guard = match watching {
        Ok(watcher) => watcher,
        Err(error) => {
            tracing::error!(%error, folder = %folder.display(), "changes cannot be followed");
            return;
        }
    };
    loop {
        tokio::select! {
            () = settled(&mut events) => {}
            () = stop.cancelled() => return,
        }
        // A thousand manifests take their time; requests must not wait on this thread for it.
        match block_in_place(|| read(&folder)) {
            Ok(translation) => tell(translation),
            Err(error) => {
                let cause = error.source.to_string();
                tracing::error!(%error, cause, "keeping what was read before");
            }
        }
    }
}

/// Resolves after a change, once it is quiet.
async fn settled(events: &mut mpsc::Receiver<()>) {
    if events.recv().await.is_none() {
        return std::future::pending().await;
    }
    while let Ok(Some(())) = tokio::time::timeout(QUIET, events.recv()).await {}
}
