//! The other names of a tool: reversible views of its id or of its server and own name.
//! A view never decides whether a tool exists; the snapshot's indexes do.

use sha2::{Digest as _, Sha256};

use crate::{hash8, name::Namespace, tool_id::ToolId};

/// What stands between server and tool in a routed name.
pub const ROUTED_SEPARATOR: &str = "__";

/// Longest name that model APIs accept, in characters.
pub const SAFE_MAX_LEN: usize = 64;

/// A tool's own name behind a registered server: what the server calls it, without the server's
/// name in front (`github.create_issue` and `github/create_issue` are `create_issue`).
pub fn own_name<'a>(namespace: &Namespace, upstream_name: &'a str) -> &'a str {
    upstream_name
        .strip_prefix(namespace.as_str())
        .and_then(|rest| rest.strip_prefix(['.', '/']))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(upstream_name)
}

/// `github__create_issue`: the router profile.
pub fn routed(namespace: &Namespace, own_name: &str) -> String {
    format!("{namespace}{ROUTED_SEPARATOR}{own_name}")
}

/// `github.create_issue`: the discovery profile, and code.
pub fn dotted(namespace: &Namespace, own_name: &str) -> String {
    format!("{namespace}.{own_name}")
}

/// `github__create_issue__06cc9cd7`: only `[a-zA-Z0-9_-]`, at most 64 characters, for clients and
/// model APIs that refuse a whole list over one other character. The hash at its end keeps
/// shortened names apart; a versioned id without a hash ends in that of the id.
pub fn safe(id: &ToolId) -> String {
    let hash = match id.hash8() {
        Some(hash) => hash.clone(),
        None => hash8::short(&Sha256::digest(id.to_string())),
    };
    let tail = format!("{ROUTED_SEPARATOR}{hash}");
    let mut name: String = routed(id.namespace(), id.name().as_str())
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .collect();
    name.truncate(SAFE_MAX_LEN - tail.len());
    name + &tail
}

/// Why a routed name leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoutedError<'a> {
    /// There is no `server__` in front.
    NotNamespaced,
    /// There is, and no such server.
    UnknownServer(&'a str),
}

/// Splits a routed name at the longest registered namespace that `__` follows.
pub fn split_routed<S>(
    name: &str,
    registered: impl Fn(&str) -> Option<S>,
) -> Result<(S, &str), RoutedError<'_>> {
    let cuts = || (1..name.len()).filter(|at| name.as_bytes()[*at..].starts_with(b"__"));
    cuts()
        .rev()
        .find_map(|at| Some((registered(&name[..at])?, &name[at + ROUTED_SEPARATOR.len()..])))
        .ok_or_else(|| match cuts().next() {
            Some(at) => RoutedError::UnknownServer(&name[..at]),
            None => RoutedError::NotNamespaced,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_own_prefix_is_dropped_once() {
        let namespace: Namespace = "github".parse().unwrap();
        for (upstream, own) in [
            ("github.create_issue", "create_issue"),
            ("github/create_issue", "create_issue"),
            ("github_create_issue", "github_create_issue"),
            ("github.github.x", "github.x"),
            ("github.", "github."),
            ("githubs.x", "githubs.x"),
        ] {
            assert_eq!(own_name(&namespace, upstream), own);
        }
    }

    #[test]
    fn a_safe_name_fits_every_model_api() {
        for (id, expected) in [
            ("github:create_issue#06cc9cd7", "github__create_issue__06cc9cd7"),
            ("a:b.c@1.4.0#06cc9cd7", "a__b_c__06cc9cd7"),
        ] {
            assert_eq!(safe(&id.parse().unwrap()), expected);
        }
        let versioned = safe(&"github:create_issue@1.4.0".parse().unwrap());
        assert_eq!(versioned, "github__create_issue__41e9b5f8");
        let long = format!("a:{}#06cc9cd7", "x".repeat(128)).parse().unwrap();
        assert_eq!(safe(&long).len(), SAFE_MAX_LEN);
        assert!(safe(&long).ends_with("__06cc9cd7"));
    }

    #[test]
    fn the_longest_registered_namespace_wins() {
        let registered = |name: &str| ["a", "a-b", "x_y"].into_iter().find(|r| *r == name);
        for (name, expected) in [
            ("a__t", Ok(("a", "t"))),
            ("a-b__t__u", Ok(("a-b", "t__u"))),
            ("a___t", Ok(("a", "_t"))),
            ("x_y__", Ok(("x_y", ""))),
            ("b__t", Err(RoutedError::UnknownServer("b"))),
            ("t", Err(RoutedError::NotNamespaced)),
            ("__t", Err(RoutedError::NotNamespaced)),
            ("", Err(RoutedError::NotNamespaced)),
            ("é__t", Err(RoutedError::UnknownServer("é"))),
        ] {
            assert_eq!(split_routed(name, registered), expected, "{name}");
        }
    }
}
