//! One tool of one server: its names, its id, its digest and its own text.
//! Whether it may be served is the catalogue's business.

use std::sync::Arc;

use serde_json::{Value, value::RawValue};

use crate::{
    digest::{self, Digest},
    hash8::hash8,
    name::{NameError, Namespace},
    param_header::ParamHeader,
    tool_id::{Edition, ToolId},
    view,
};

/// Largest Tool object, in bytes of JSON. Real ones stay below 30 KiB.
pub const MAX_TOOL_BYTES: usize = 256 * 1024;

/// A tool that can be called.
#[derive(Debug, Clone)]
pub struct Tool {
    /// What the server calls it.
    pub upstream_name: Box<str>,
    /// The same without the server's name in front.
    pub own_name: Box<str>,
    /// Its id, or why no card can be made of it.
    pub id: Result<ToolId, NameError>,
    pub digest: Digest,
    /// Parameters that a modern client mirrors into headers.
    pub param_headers: Vec<ParamHeader>,
    /// The Tool object as the server wrote it.
    pub raw: Arc<RawValue>,
}

/// Why a Tool object cannot be served to anybody.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    #[error("is {0} bytes long; at most {MAX_TOOL_BYTES} are served")]
    Oversize(usize),
    #[error("{0}")]
    NotCanonical(String),
    #[error("is not a Tool object: {0}")]
    NotATool(&'static str),
    #[error("has an invalid {member}: {message}")]
    InvalidSchema { member: &'static str, message: String },
    #[error("has a name with invisible or direction-changing characters")]
    InvisibleCharacters,
}

impl Tool {
    /// Reads one entry of a listing.
    pub fn read(namespace: &Namespace, raw: &Arc<RawValue>) -> Result<Self, ToolError> {
        if raw.get().len() > MAX_TOOL_BYTES {
            return Err(ToolError::Oversize(raw.get().len()));
        }
        let not_canonical =
            |error: digest::CanonicalError| ToolError::NotCanonical(error.to_string());
        let value = digest::exact(raw.get()).map_err(not_canonical)?;
        let upstream_name = tool_name(&value)?;
        let input_schema = &value["inputSchema"];
        check_schemas(&value)?;
        Ok(Self {
            own_name: view::own_name(namespace, upstream_name).into(),
            id: tool_id(namespace, upstream_name, &value),
            digest: Digest::of_json(&value).map_err(not_canonical)?,
            param_headers: ParamHeader::all(input_schema)
                .map_err(|message| ToolError::InvalidSchema { member: "inputSchema", message })?,
            upstream_name: upstream_name.into(),
            raw: Arc::clone(raw),
        })
    }

    /// What tools are ordered by: the id where there is one.
    pub(crate) fn order(&self) -> String {
        match &self.id {
            Ok(id) => id.to_string(),
            Err(_) => self.own_name.to_string(),
        }
    }
}

fn tool_name(value: &Value) -> Result<&str, ToolError> {
    if !value.is_object() {
        return Err(ToolError::NotATool("it is no JSON object"));
    }
    match value.get("name").and_then(Value::as_str) {
        None => Err(ToolError::NotATool("it has no name")),
        Some("") => Err(ToolError::NotATool("its name is empty")),
        Some(name) if name.chars().any(is_invisible) => Err(ToolError::InvisibleCharacters),
        Some(name) => Ok(name),
    }
}

/// Characters that are not seen, or that change how others are seen.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn check_schemas(tool: &Value) -> Result<(), ToolError> {
    let invalid = |member, message: &str| {
        Err(ToolError::InvalidSchema { member, message: message.to_owned() })
    };
    match tool.get("inputSchema") {
        None => return invalid("inputSchema", "it is missing"),
        Some(schema) if !schema.is_object() => {
            return invalid("inputSchema", "it is no JSON object");
        }
        Some(_) => {}
    }
    for member in ["inputSchema", "outputSchema"] {
        let Some(schema) = tool.get(member) else { continue };
        // Compiling it here means that it can be compiled later; remote references cannot.
        if let Err(error) = jsonschema::validator_for(schema) {
            return invalid(member, &error.to_string());
        }
    }
    Ok(())
}

fn tool_id(namespace: &Namespace, upstream_name: &str, tool: &Value) -> Result<ToolId, NameError> {
    let name = view::own_name(namespace, upstream_name).parse()?;
    let edition = match declared_version(tool) {
        Some(version) => Edition::Version(version.parse()?, None),
        None => Edition::Hash(hash8(upstream_name, &tool["inputSchema"])),
    };
    Ok(ToolId::new(namespace.clone(), name, edition))
}

/// `_meta.version` where the server declares one. Zero and the empty string declare nothing.
fn declared_version(tool: &Value) -> Option<String> {
    match tool.get("_meta")?.get("version")? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) if number.as_f64() != Some(0.0) => Some(number.to_string()),
        _ => None,
    }
}
