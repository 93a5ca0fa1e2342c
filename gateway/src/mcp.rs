//! MCP towards agents, whatever carries it: messages in, answers out.
//! Knows neither HTTP nor stdio beyond the headers that a modern request mirrors.

pub(crate) mod call;
mod dispatch;
pub(crate) mod exchange;
pub(crate) mod greet;
pub(crate) mod message;
pub(crate) mod modern;
pub(crate) mod profile;
pub(crate) mod restore;
pub(crate) mod version;
