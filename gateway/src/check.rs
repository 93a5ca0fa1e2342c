//! `portreeve-gateway check DIR`: the same reading and translation as `serve`, said aloud.

use std::{io::Write as _, process::ExitCode};

use crds::problem::Severity;

use crate::{cli::CheckOptions, config::directory};

pub(crate) fn run(options: &CheckOptions) -> anyhow::Result<ExitCode> {
    let translation = directory::read(&options.manifests)?;
    let mut out = std::io::stdout().lock();
    for problem in &translation.problems {
        writeln!(out, "{problem}")?;
    }
    let errors = translation.problems.iter().filter(|p| p.severity == Severity::Error).count();
    let servers = translation.doc.servers.len();
    let warnings = translation.problems.len() - errors;
    writeln!(out, "{servers} servers would be served; {errors} errors, {warnings} warnings")?;
    Ok(if errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
