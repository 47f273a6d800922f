//! Events as messages of a stream.
//!
//! | header | contents |
//! |---|---|
//! | `Nats-Msg-Id` | `i` and the event's id in hexadecimal digits; or `a` and an id of the append's own |
//! | `Nats-TTL` | lifetime in whole seconds, rounded up, where the servers keep to it (2.11) |
//! | `Punctual-Expires` | moment of expiry, in milliseconds since 1970; absent: never |
//! | `Punctual-Priority` | priority; absent: 0 |
//!
//! The payload is the event's content.

use std::time::Duration;

use async_nats::HeaderMap;
use data_encoding::HEXLOWER;
use punctual_durable::{EventId, Moment, NewEvent};

const ID: &str = "Nats-Msg-Id";
const TTL: &str = "Nats-TTL";
const EXPIRES: &str = "Punctual-Expires";
const PRIORITY: &str = "Punctual-Priority";

/// Event's properties in the headers of its message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Properties {
    pub(crate) id: Option<EventId>,
    pub(crate) expires: Option<Moment>,
    pub(crate) priority: i16,
}

/// Returns the headers of an event's message. `own_id` tells it from all others if it has no id.
pub(crate) fn headers(event: &NewEvent, own_id: &str, has_ttl: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let id = match &event.id {
        Some(id) => format!("i{}", HEXLOWER.encode(id.as_bytes())),
        None => format!("a{own_id}"),
    };
    headers.insert(ID, id);
    if let Some(lifetime) = event.lifetime {
        headers.insert(EXPIRES, Moment::now().after(lifetime).0.to_string());
        if has_ttl {
            headers.insert(TTL, seconds(lifetime).to_string());
        }
    }
    if event.priority != 0 {
        headers.insert(PRIORITY, event.priority.to_string());
    }
    headers
}

/// Returns the properties of an event. Headers that are not as this service writes them are ignored.
pub(crate) fn properties(headers: Option<&HeaderMap>) -> Properties {
    let header = |name: &str| {
        headers
            .and_then(|all| all.get(name))
            .map(|value| value.as_str())
    };
    let id = header(ID).and_then(|id| id.strip_prefix('i'));
    let id = id.and_then(|id| HEXLOWER.decode(id.as_bytes()).ok());
    let expires = header(EXPIRES).and_then(|moment| moment.parse().ok());
    let priority = header(PRIORITY).and_then(|priority| priority.parse().ok());
    Properties {
        id: id.and_then(|id| EventId::new(&id)),
        expires: expires.map(Moment),
        priority: priority.unwrap_or(0),
    }
}

/// Returns the whole seconds in which a lifetime fits, at least the one that the servers permit.
fn seconds(lifetime: Duration) -> u64 {
    let whole = lifetime.as_secs();
    let part = u64::from(lifetime.subsec_nanos() > 0);
    (whole + part).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_as_they_were_written() {
        let event = NewEvent {
            id: EventId::new(&[0, 0xFF]),
            lifetime: Some(Duration::from_millis(1_500)),
            priority: -2,
            ..NewEvent::default()
        };
        let headers = headers(&event, "own", true);
        assert_eq!(headers.get(ID).unwrap().as_str(), "i00ff");
        assert_eq!(headers.get(TTL).unwrap().as_str(), "2");
        let read = properties(Some(&headers));
        assert_eq!((read.id, read.priority), (event.id, -2));
        assert!(read.expires > Some(Moment::now()));
    }

    #[test]
    fn a_message_of_others_has_default_properties() {
        let mut foreign = HeaderMap::new();
        for (name, value) in [(ID, "ix!"), (EXPIRES, "soon"), (PRIORITY, "high")] {
            foreign.insert(name, value);
        }
        assert_eq!(properties(Some(&foreign)), Properties::default());
        assert_eq!(properties(None), Properties::default());
        let plain = headers(&NewEvent::default(), "own", true);
        assert_eq!(plain.get(ID).unwrap().as_str(), "aown");
        assert_eq!(properties(Some(&plain)), Properties::default());
    }
}
