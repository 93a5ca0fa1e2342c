//! One server's listing turned into the tools that may be served, and the reasons for the rest.
//! A tool that cannot be served is left out alone.

use std::{collections::HashMap, fmt, sync::Arc};

use serde_json::Value;
use wildmatch::WildMatch;

use crate::{
    digest::Digest,
    doc::{ListingDoc, WithheldDoc},
    name::Namespace,
    tool::{Tool, ToolError},
};

/// The tools of one server, in id order.
#[derive(Debug, Clone)]
pub struct Catalogue {
    pub tools: Vec<Arc<Tool>>,
    pub exclusions: Vec<Exclusion>,
    /// Moves when anything the server says about its tools does; policy does not move it.
    pub revision: Digest,
}

/// One tool that is not served, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    /// The server's name for it, or its place in the listing where it has none.
    pub tool: String,
    pub scope: ExclusionScope,
    pub reason: ExclusionReason,
    pub message: String,
}

/// Where an excluded tool is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExclusionScope {
    /// From every profile.
    Everywhere,
    /// From the profiles that show cards; the router and servers profiles have it.
    Cards,
}

/// The closed list of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExclusionReason {
    NotATool,
    InvalidSchema,
    InvisibleCharacters,
    NotCanonical,
    Oversize,
    Collision,
    OutsideIdGrammar,
    Withheld,
}

impl ExclusionReason {
    /// As conditions and metric labels spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotATool => "NotATool",
            Self::InvalidSchema => "InvalidSchema",
            Self::InvisibleCharacters => "InvisibleCharacters",
            Self::NotCanonical => "NotCanonical",
            Self::Oversize => "Oversize",
            Self::Collision => "Collision",
            Self::OutsideIdGrammar => "OutsideIdGrammar",
            Self::Withheld => "Withheld",
        }
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.tool, self.message, self.reason.as_str())
    }
}

impl Catalogue {
    /// Reads a listing under the restrictions that are in force.
    pub fn read(namespace: &Namespace, listing: &ListingDoc, withheld: &[WithheldDoc]) -> Self {
        let mut exclusions = Vec::new();
        let mut tools = Vec::with_capacity(listing.tools.len());
        for (place, raw) in listing.tools.iter().enumerate() {
            match Tool::read(namespace, raw) {
                Ok(tool) => tools.push(Arc::new(tool)),
                Err(error) => exclusions.push(unreadable(place, raw.get(), &error)),
            }
        }
        tools.sort_by_cached_key(|tool| tool.order());
        let revision = Digest::over(tools.iter().map(|tool| &tool.digest));
        exclude_collisions(&mut tools, &mut exclusions);
        exclude_withheld(&mut tools, withheld, &mut exclusions);
        exclusions.extend(tools.iter().filter_map(|tool| without_card(tool)));
        Self { tools, exclusions, revision }
    }
}

fn unreadable(place: usize, text: &str, error: &ToolError) -> Exclusion {
    let reason = match error {
        ToolError::Oversize(_) => ExclusionReason::Oversize,
        ToolError::NotCanonical(_) => ExclusionReason::NotCanonical,
        ToolError::NotATool(_) => ExclusionReason::NotATool,
        ToolError::InvalidSchema { .. } => ExclusionReason::InvalidSchema,
        ToolError::InvisibleCharacters => ExclusionReason::InvisibleCharacters,
    };
    let name = serde_json::from_str::<Value>(text)
        .ok()
        .and_then(|value| Some(value.get("name")?.as_str()?.escape_debug().to_string()))
        .filter(|name| !name.is_empty() && name.len() <= 128);
    Exclusion {
        tool: name.unwrap_or_else(|| format!("#{place}")),
        scope: ExclusionScope::Everywhere,
        reason,
        message: error.to_string(),
    }
}

/// Equal names would make one tool answer for the other, so neither is served. Equal ids are a
/// case of it: an id holds the name.
fn exclude_collisions(tools: &mut Vec<Arc<Tool>>, exclusions: &mut Vec<Exclusion>) {
    let mut by_name: HashMap<&str, Vec<&Arc<Tool>>> = HashMap::new();
    for tool in tools.iter() {
        by_name.entry(&tool.own_name).or_default().push(tool);
    }
    let message = |name: &str, twins: &[&Arc<Tool>]| {
        let twins: Vec<String> =
            twins.iter().map(|t| format!("{:?} ({})", t.upstream_name, t.order())).collect();
        format!("shares the name {name:?} with others, so none is served: {}", twins.join(", "))
    };
    let colliding: HashMap<Box<str>, String> = by_name
        .into_iter()
        .filter(|(_, twins)| twins.len() > 1)
        .map(|(name, twins)| (name.into(), message(name, &twins)))
        .collect();
    take(tools, exclusions, ExclusionReason::Collision, |tool| {
        colliding.get(&tool.own_name).cloned()
    });
}

fn exclude_withheld(
    tools: &mut Vec<Arc<Tool>>,
    withheld: &[WithheldDoc],
    exclusions: &mut Vec<Exclusion>,
) {
    for WithheldDoc { tools: globs, reason, message } in withheld {
        let globs: Vec<WildMatch> = globs.iter().map(|glob| WildMatch::new(glob)).collect();
        take(tools, exclusions, ExclusionReason::Withheld, |tool| {
            // A restriction holds by whichever of its names the tool is meant.
            let names = [&tool.upstream_name, &tool.own_name];
            let hit = globs.iter().any(|glob| names.iter().any(|name| glob.matches(name)));
            hit.then(|| format!("is withheld: {message} ({reason})"))
        });
    }
}

/// Moves the tools for which there is a message from `tools` to `exclusions`.
fn take(
    tools: &mut Vec<Arc<Tool>>,
    exclusions: &mut Vec<Exclusion>,
    reason: ExclusionReason,
    message: impl Fn(&Tool) -> Option<String>,
) {
    tools.retain(|tool| {
        let message = message(tool);
        let keep = message.is_none();
        exclusions.extend(message.map(|message| Exclusion {
            tool: tool.upstream_name.to_string(),
            scope: ExclusionScope::Everywhere,
            reason,
            message,
        }));
        keep
    });
}

fn without_card(tool: &Tool) -> Option<Exclusion> {
    tool.id.as_ref().err().map(|error| Exclusion {
        tool: tool.upstream_name.to_string(),
        scope: ExclusionScope::Cards,
        reason: ExclusionReason::OutsideIdGrammar,
        message: error.to_string(),
    })
}
