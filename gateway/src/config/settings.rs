//! `--config gateway.yaml`: what is not about one server or policy. Flags override it.
//! No secret stands in it. Its JSON Schema is checked in as `gateway/config.schema.json`.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::cli::ServeOptions;

const DEFAULT_LISTEN: &str = "127.0.0.1:8080";
const DEFAULT_ADMIN: &str = "127.0.0.1:9090";

/// Configuration of one gateway process.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "Portreeve gateway configuration")]
struct File {
    /// Address agents connect to, `host:port`. Default `127.0.0.1:8080`.
    listen: Option<String>,
    /// Address of `/livez`, `/readyz` and `/metrics`. Default `127.0.0.1:9090`.
    admin: Option<String>,
    /// Host names by which clients may address the gateway, beside loopback ones: `mcp.example.com`.
    allowed_hosts: Vec<String>,
    /// Origins whose pages may call the gateway, beside those of loopback hosts:
    /// `https://app.example.com`.
    allowed_origins: Vec<String>,
    /// Folder where the last good snapshot is kept.
    state: Option<PathBuf>,
}

/// What the file and the flags come to.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) listen: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) state: Option<PathBuf>,
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("cannot read the configuration file {}", .0.display())]
    Read(PathBuf, #[source] std::io::Error),
    #[error("the configuration file {} is invalid: {reason}", path.display())]
    Parse { path: PathBuf, reason: String },
    #[error("{0} must be an address such as 127.0.0.1:8080, not {1:?}")]
    Address(&'static str, String),
    #[error(
        "{0} can be reached by others and nobody is asked who they are; listen on 127.0.0.1, or say --insecure-no-auth"
    )]
    Exposed(SocketAddr),
}

impl Settings {
    pub(crate) fn load(options: &ServeOptions) -> Result<Self, SettingsError> {
        let File { listen, admin, allowed_hosts, allowed_origins, state } =
            options.config.as_deref().map(File::read).transpose()?.unwrap_or_default();
        let address = |flag: Option<SocketAddr>, name, file: Option<String>, default: &str| {
            let text = file.unwrap_or_else(|| default.to_owned());
            flag.map_or_else(|| text.parse().map_err(|_| SettingsError::Address(name, text)), Ok)
        };
        let settings = Self {
            listen: address(options.listen, "listen", listen, DEFAULT_LISTEN)?,
            admin: address(options.admin, "admin", admin, DEFAULT_ADMIN)?,
            allowed_hosts,
            allowed_origins,
            state: options.state.clone().or(state),
        };
        if !settings.listen.ip().is_loopback() && !options.insecure_no_auth {
            return Err(SettingsError::Exposed(settings.listen));
        }
        Ok(settings)
    }
}

impl File {
    fn read(path: &Path) -> Result<Self, SettingsError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| SettingsError::Read(path.to_owned(), source))?;
        serde_saphyr::from_str(&text).map_err(|error| SettingsError::Parse {
            path: path.to_owned(),
            reason: error.to_string(),
        })
    }
}

fn schema() -> String {
    let schema = schemars::schema_for!(File);
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

pub(crate) fn print_schema() -> std::io::Result<ExitCode> {
    std::io::Write::write_all(&mut std::io::stdout(), schema().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checked_in_schema_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/config.schema.json");
        assert_eq!(
            std::fs::read_to_string(path).unwrap_or_default(),
            schema(),
            "stale; repair with: cargo run -p gateway -- config-schema > gateway/config.schema.json"
        );
    }

    #[test]
    fn an_exposed_address_needs_words() {
        let options = |insecure_no_auth| ServeOptions {
            manifests: PathBuf::new(),
            config: None,
            listen: Some("0.0.0.0:8080".parse().unwrap()),
            admin: None,
            state: None,
            insecure_no_auth,
        };
        assert!(matches!(Settings::load(&options(false)), Err(SettingsError::Exposed(_))));
        assert!(Settings::load(&options(true)).is_ok());
    }
}
