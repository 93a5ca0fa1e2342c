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
    let (servers, errors_said) = (counted(servers, "server"), counted(errors, "error"));
    let warnings = counted(warnings, "warning");
    writeln!(out, "{servers} would be served; {errors_said}, {warnings}")?;
    Ok(if errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
