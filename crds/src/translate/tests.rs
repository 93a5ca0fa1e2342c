//! Translation from manifests to what is served and what is said about the rest.

mod policies;
mod references;
mod servers;

use super::*;

/// A translation in a standalone gateway whose environment has `TOKEN` and `HOME`.
fn standalone(manifests: &str) -> Translation {
    let env = |name: &str| match name {
        "TOKEN" => Some("s3cret".to_owned()),
        "HOME" => Some("/home/me".to_owned()),
        _ => None,
    };
    translated(manifests, Placement::Standalone { env: &env })
}

fn translated(manifests: &str, placement: Placement<'_>) -> Translation {
    let mut objects = Objects::default();
    objects.parse_file("f.yaml", manifests);
    translate(&objects, placement)
}

/// The namespaces that are served, each with the globs that are withheld from it.
fn served(translation: &Translation) -> Vec<String> {
    let globs = |server: &surface::doc::ServerDoc| {
        let globs = server.withheld.iter().flat_map(|withheld| withheld.tools.clone());
        globs.collect::<Vec<_>>().join(",")
    };
    let line = |server: &surface::doc::ServerDoc| match globs(server) {
        globs if globs.is_empty() => server.namespace.to_string(),
        globs => format!("{} without {globs}", server.namespace),
    };
    translation.doc.servers.iter().map(line).collect()
}

fn problems(translation: &Translation) -> Vec<String> {
    translation.problems.iter().map(ToString::to_string).collect()
}

/// `Accepted=True/Accepted ResolvedRefs=…` of the one object of this name.
fn conditions(translation: &Translation, name: &str) -> String {
    let status = translation.statuses.iter().find(|status| status.object.name == name).unwrap();
    let conditions = status.conditions.iter();
    let texts = conditions.map(|c| format!("{}={}/{}", c.type_, c.status, c.reason));
    texts.collect::<Vec<_>>().join(" ")
}

/// Which servers are served, and everything that is said, line by line.
#[track_caller]
fn check(manifests: &str, serves: &[&str], says: &[&str]) {
    let translation = standalone(manifests);
    assert_eq!(served(&translation), serves, "{manifests}");
    assert_eq!(problems(&translation), says, "{manifests}");
}

/// An UpstreamServer in `default` with this spec in flow style.
fn server(name: &str, spec: &str) -> String {
    object("UpstreamServer", name, spec)
}

/// A ToolPolicy in `default` with this spec in flow style.
fn policy(name: &str, spec: &str) -> String {
    object("ToolPolicy", name, spec)
}

fn object(kind: &str, name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: portreeve.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n"
    )
}

/// A valid server on stdio.
fn stdio(name: &str) -> String {
    server(name, "{transport: {stdio: {command: [run]}}}")
}
