//! Several messages in one, as the two oldest versions have them: answered together.

use bytes::Bytes;
use futures::future::join_all;

use super::message::Message;
use crate::mcp::{
    exchange::{Answered, Exchange},
    message::{Message as Received, Refused, Request},
    modern::Speaker,
};

/// The answers as one array; nothing when nothing was asked.
pub(crate) async fn answer(
    items: Vec<Result<Received, Refused>>,
    exchange: impl Fn(Request) -> Exchange,
) -> Option<Bytes> {
    let answers = items.into_iter().filter_map(|item| match item {
        Ok(Received::Request(request)) => Some(Ok(exchange(request))),
        Ok(Received::Notification(_) | Received::Response) => None,
        Err(refused) => Some(Err(refused)),
    });
    let answers = join_all(answers.map(async |item| match item {
        Ok(exchange) => Message::new(exchange.answer().await).into_bytes(),
        Err(Refused { id, failure }) => {
            let outcome = Err(failure);
            Message::new(Answered { id, speaker: Speaker::Legacy, outcome }).into_bytes()
        }
    }));
    let answers: Vec<Bytes> = answers.await;
    (!answers.is_empty()).then(|| [&b"["[..], &answers.join(&b","[..]), b"]"].concat().into())
}
