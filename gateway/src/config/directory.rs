//! A folder of manifests: read whole, in the order of file names.
//! What the manifests mean is the business of `crds`; following changes that of `follow`.

mod follow;

use std::{
    io,
    path::{Path, PathBuf},
};

use crds::{
    objects::Objects,
    translate::{Placement, Translation, translate},
};
use surface::digest::Digest;

pub(crate) use self::follow::Watch;

/// A folder that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the manifests in {}", folder.display())]
pub(crate) struct DirectoryError {
    folder: PathBuf,
    source: io::Error,
}

/// Reads every manifest of a folder. Files that cannot be used become problems.
pub(crate) fn read(folder: &Path) -> Result<Translation, DirectoryError> {
    Files::load(folder).map(|files| files.translate())
}

/// What the folder holds, before anybody asks what it means.
struct Files(Vec<(String, io::Result<Vec<u8>>)>);

impl Files {
    fn load(folder: &Path) -> Result<Self, DirectoryError> {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| entry.map(|e| e.path())).collect())
            .map_err(|source| DirectoryError { folder: folder.to_owned(), source })?;
        paths.retain(|path| is_manifest(path));
        paths.sort();
        let files = paths.into_iter().filter_map(|path| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            match std::fs::read(&path) {
                // It went away since it was listed: that is a change of its own.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                held => Some((name, held)),
            }
        });
        Ok(Self(files.collect()))
    }

    fn translate(&self) -> Translation {
        let mut objects = Objects::default();
        for (name, held) in &self.0 {
            match held.as_deref().map(|bytes| (bytes, str::from_utf8(bytes))) {
                Ok((_, Ok(text))) => objects.parse_file(name, text),
                Ok((bytes, Err(error))) => {
                    objects.unreadable(name, Some(bytes), format!("is not UTF-8: {error}"));
                }
                Err(error) => objects.unreadable(name, None, format!("cannot be read: {error}")),
            }
        }
        let env = |name: &str| std::env::var(name).ok();
        translate(&objects, Placement::Standalone { env: &env })
    }

    /// Equal digests translate to the same.
    fn digest(&self) -> Digest {
        let parts: Vec<Digest> = self
            .0
            .iter()
            .flat_map(|(name, held)| match held {
                Ok(bytes) => [Digest::of(name), Digest::of("held"), Digest::of(bytes)],
                Err(error) => {
                    [Digest::of(name), Digest::of("unread"), Digest::of(error.to_string())]
                }
            })
            .collect();
        Digest::over(&parts)
    }
}

/// Hidden files are an editor's, or the machinery of a mounted ConfigMap.
fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json");
    let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
    extension && !hidden && path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = "apiVersion: portreeve.dev/v1alpha1\nkind: UpstreamServer\nmetadata: {name: s}\nspec:\n  transport:\n    stdio: {command: [x]}\n";

    #[test]
    fn a_file_that_is_no_text_does_not_keep_the_others_from_being_read() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes);
        put("a.yaml", b"caf\xe9: 1").unwrap();
        put("b.yaml", SERVER.as_bytes()).unwrap();
        std::os::unix::fs::symlink("/no/such/file", folder.path().join("c.yaml")).unwrap();
        let Translation { doc, problems, .. } = read(folder.path()).unwrap();
        assert_eq!(doc.servers.len(), 1);
        assert!(doc.servers[0].withheld.is_empty());
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        assert!(problem.to_string().starts_with("a.yaml: is not UTF-8"), "{problem}");
    }

    #[test]
    fn what_may_have_been_a_policy_withholds() {
        let utf16 = "\u{feff}kind: ToolPolicy".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        for (held, withheld) in [(Err(denied()), true), (Ok(utf16), true), (Ok(vec![0xff]), false)]
        {
            let server = ("s.yaml".to_owned(), Ok(SERVER.into()));
            let files = Files(vec![("p.yaml".to_owned(), held), server]);
            let doc = files.translate().doc;
            assert_eq!(!doc.servers[0].withheld.is_empty(), withheld);
        }
    }
}
