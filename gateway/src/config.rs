//! Where the configuration comes from: one typed file for the process, and manifests for
//! everything that is about one server or policy.

pub(crate) mod directory;
pub(crate) mod settings;
