//! The life of a tool call: found, permitted, carried, and its names restored
//! (DESIGN section 9). Arguments and results are not touched.

mod authorize;

use bytes::Bytes;
use surface::members::Members;
use upstream::{RpcError, UpstreamError};

use self::authorize::Permit;
use super::{
    exchange::Exchange,
    modern::{self, Params, Speaker},
    restore::{restore, restore_result},
};
use crate::failure::Failure;

const NO_NAME: Failure = Failure::InvalidParams("Tool call missing required 'name' parameter");

pub(crate) async fn call(
    exchange: &Exchange,
    speaker: Speaker,
    params: &Params<'_>,
) -> Result<Bytes, Failure> {
    let shown = modern::text(params.name).filter(|name| !name.is_empty()).ok_or(NO_NAME)?;
    let arguments = params.arguments;
    if arguments.is_some_and(|raw| !raw.get().starts_with('{')) {
        return Err(Failure::InvalidParams("invalid params: arguments must be an object"));
    }
    let route = exchange.profile.route(&exchange.serving, &shown)?;
    if let (Some(headers), Speaker::Modern) = (&exchange.headers, speaker) {
        modern::check_param_headers(headers, &route.tool, arguments)?;
    }
    let permit = authorize::authorize(&exchange.serving, route)?;
    let outcome = carry(exchange, &permit).await;
    exchange.metrics.carried(permit.namespace(), outcome.as_ref().map(|_| ()));
    let clean = &permit.tool().upstream_name;
    match outcome {
        Ok(Ok(result)) => Ok(finish(result, clean, &shown, speaker)),
        Ok(Err(error)) => Err(Failure::Answered(RpcError {
            message: restore(&error.message, clean, &shown).into_owned(),
            ..error
        })),
        Err(error) => Err(Failure::Upstream { tool: shown.into_owned(), error }),
    }
}

async fn carry(exchange: &Exchange, permit: &Permit) -> Result<upstream::Answer, UpstreamError> {
    // The params were read as JSON, so they are UTF-8.
    let params = std::str::from_utf8(&exchange.request.params).unwrap_or("{}");
    permit.carry(params, exchange.notices.clone()).await
}

fn finish(result: upstream::RawJson, clean: &str, shown: &str, speaker: Speaker) -> Bytes {
    let result = match restore_result(result.as_str(), clean, shown) {
        Some(restored) => upstream::RawJson::from(restored),
        None => result,
    };
    match speaker {
        Speaker::Legacy => result.into_bytes(),
        Speaker::Modern => with_result_type(result),
    }
}

/// A modern result says what it is; a legacy server's does not.
fn with_result_type(result: upstream::RawJson) -> Bytes {
    const KEY: &str = "resultType";
    let text = result.as_str();
    // Most modern results name it; only what might not is read.
    if text.contains("\"resultType\"")
        && Members::parse(text).is_ok_and(|members| members.get(KEY).is_some())
    {
        return result.into_bytes();
    }
    match text.strip_prefix('{').map(str::trim_start) {
        Some("}") => Bytes::from_static(br#"{"resultType":"complete"}"#),
        Some(rest) => format!(r#"{{"resultType":"complete",{rest}"#).into(),
        None => result.into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use upstream::RawJson;

    use super::*;

    #[test]
    fn a_result_type_is_added_once() {
        for (given, expected) in [
            (r#"{"content":[]}"#, r#"{"resultType":"complete","content":[]}"#),
            (r#"{ "a":"\"resultType\"" }"#, r#"{"resultType":"complete","a":"\"resultType\"" }"#),
            (r#"{"a":{"resultType":1}}"#, r#"{"resultType":"complete","a":{"resultType":1}}"#),
            (r#"{"resultType":"input_required"}"#, r#"{"resultType":"input_required"}"#),
            ("{ }", r#"{"resultType":"complete"}"#),
        ] {
            assert_eq!(with_result_type(RawJson::from(given.to_owned())), expected);
        }
    }
}
