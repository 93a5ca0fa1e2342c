//! What the servers work on: a file, a memory and a git repository in a folder of the test's own.

use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

pub(crate) struct Ground(TempDir);

impl Ground {
    pub(crate) fn new() -> Self {
        let ground = Self(TempDir::new().unwrap());
        std::fs::write(ground.file("tide.txt"), "high at noon\n").unwrap();
        let entity = json!({"type": "entity", "name": "tide", "entityType": "thing", "observations": ["it turns"]});
        std::fs::write(ground.file("memory.jsonl"), format!("{entity}\n")).unwrap();
        ground.git("init --quiet");
        ground.git(
            "-c user.name=t -c user.email=t@example.com commit --quiet --allow-empty -m first",
        );
        ground
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    pub(crate) fn folder(&self) -> String {
        self.0.path().to_string_lossy().into_owned()
    }

    fn git(&self, arguments: &str) {
        let mut git = Command::new("git");
        git.current_dir(self.0.path()).args(arguments.split(' '));
        assert!(git.status().unwrap().success(), "git {arguments}");
    }
}
