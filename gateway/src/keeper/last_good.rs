//! The last good snapshot on disk: a restarted gateway serves what it served before while its
//! servers are still being asked.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use surface::doc::{FORMAT, ListingDoc, ServerDoc, SnapshotDoc};

const FILE: &str = "snapshot.json";

#[derive(Debug)]
pub(super) struct LastGood {
    folder: PathBuf,
    /// Whether what was there at the start has been read.
    taken: bool,
}

impl LastGood {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, taken: false }
    }

    /// What a former process left; once.
    pub(super) async fn take(&mut self) -> Option<SnapshotDoc> {
        if std::mem::replace(&mut self.taken, true) {
            return None;
        }
        let path = self.folder.join(FILE);
        let read = tokio::task::spawn_blocking(move || read(&path)).await;
        match read.unwrap_or_else(|panic| Err(io::Error::other(panic))) {
            Ok(doc) => doc,
            Err(error) => {
                tracing::warn!(%error, "the kept snapshot cannot be used");
                None
            }
        }
    }

    pub(super) async fn save(&self, doc: &SnapshotDoc) {
        let (folder, doc) = (self.folder.clone(), doc.clone());
        let written = tokio::task::spawn_blocking(move || write(&folder, &doc)).await;
        if let Err(error) = written.unwrap_or_else(|panic| Err(io::Error::other(panic))) {
            tracing::warn!(%error, "the snapshot could not be kept");
        }
    }
}

/// The listing of a server that is described as it was then.
pub(super) fn listing(doc: &mut SnapshotDoc, server: &ServerDoc) -> Option<Arc<ListingDoc>> {
    let known = doc.servers.iter().find(|known| known.namespace == server.namespace)?;
    (known.transport == server.transport && known.object == server.object)
        .then(|| doc.listings.remove(&server.namespace))?
}

fn read(path: &Path) -> io::Result<Option<SnapshotDoc>> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let doc: SnapshotDoc = serde_json::from_slice(&text)?;
    // An older or newer release wrote it: it will be written again soon.
    Ok(Some(doc).filter(|doc| doc.format == FORMAT))
}

/// Written aside and moved into place: a reader sees the old one or the new one, whole.
fn write(folder: &Path, doc: &SnapshotDoc) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&mut file, doc)?;
    file.flush()?;
    file.persist(folder.join(FILE)).map_err(|error| error.error)?;
    Ok(())
}
