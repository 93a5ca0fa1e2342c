//! Writes the custom resource definitions into `crds/generated`; with `--check` only compares.
//! What they say is made in `crds::definition`.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, bail};
use crds::definition::{REPAIR, generated};

fn main() -> anyhow::Result<ExitCode> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("generated");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => write(&directory),
        ["--check"] => check(&directory),
        _ => bail!("usage: crdgen [--check]"),
    }
}

fn write(directory: &Path) -> anyhow::Result<ExitCode> {
    fs::create_dir_all(directory).context("creating the directory of generated files")?;
    for (name, text) in generated()? {
        fs::write(directory.join(name), text).with_context(|| format!("writing {name}"))?;
        say(&format!("crds/generated/{name}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check(directory: &Path) -> anyhow::Result<ExitCode> {
    let stale: Vec<&str> = generated()?
        .into_iter()
        .filter(|(name, text)| read(&directory.join(name)).as_ref() != Some(text))
        .map(|(name, _)| name)
        .collect();
    if stale.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for name in stale {
        say(&format!("crds/generated/{name} is stale"))?;
    }
    say(&format!("run: {REPAIR}"))?;
    Ok(ExitCode::FAILURE)
}

fn read(path: &PathBuf) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}").context("writing to standard output")
}
