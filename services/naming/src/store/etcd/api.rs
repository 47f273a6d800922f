//! etcd's calls, as its gateway has them: JSON over HTTP, numbers and bytes as text.
//!
//! A [`Client`] has one connection at a time, to one of its endpoints, and goes on to the next when that fails. What was
//! sent and not answered may have been done: [`Failure::Unknown`].

use std::io::{self, ErrorKind};
use std::time::Duration;

use data_encoding::BASE64;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::http::{Connection, Lines};

/// Why a call has no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nothing was done: no endpoint answers, or etcd has refused.
    Undone(String),
    /// It may have been done.
    Unknown(String),
}

/// Who calls.
#[derive(Debug)]
pub(super) struct Client {
    endpoints: Vec<String>,
    patience: Duration,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    at: usize,
    connection: Option<Connection>,
}

/// A key and what it has.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
}

/// What a watch tells.
#[derive(Debug)]
pub(super) enum Told {
    /// Keys of one revision or several, each with its value or gone; all up to a revision.
    Changes(Vec<(Vec<u8>, Option<Vec<u8>>)>, i64),
    /// etcd does not have what came before any more, or has older data: all is to be read anew.
    Lost(String),
}

impl Client {
    /// A client of endpoints `host:port`, of which there is one.
    pub(super) fn new(endpoints: &[String], patience: Duration) -> Self {
        Self {
            endpoints: endpoints.to_vec(),
            patience,
            open: Mutex::default(),
        }
    }

    /// Calls, at the first endpoint that can be reached.
    pub(super) fn call(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let mut open = self.open.lock();
        let body = body.to_string();
        let mut connection = match open.connection.take() {
            Some(connection) => connection,
            None => self.reached(&mut open)?,
        };
        let posted = connection.post(path, body.as_bytes());
        let (status, reply) = match posted {
            Ok(reply) => reply,
            Err(error) => {
                open.at += 1;
                let is_late = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                return Err(Failure::Unknown(match is_late {
                    true => "it did not answer in time".to_owned(),
                    false => error.to_string(),
                }));
            }
        };
        let reply = serde_json::from_slice::<Value>(&reply);
        let reply = reply.map_err(|error| Failure::Unknown(error.to_string()))?;
        if status == 200 {
            open.connection = Some(connection);
            return Ok(reply);
        }
        // This member may have lost the others.
        open.at += 1;
        Err(refused(&reply))
    }

    fn reached(&self, open: &mut Open) -> Result<Connection, Failure> {
        let mut why = String::new();
        for _ in &self.endpoints {
            let endpoint = self.endpoint(open.at);
            match Connection::open(endpoint, self.patience) {
                Ok(connection) => return Ok(connection),
                Err(error) => why = format!("{endpoint}: {error}"),
            }
            open.at += 1;
        }
        Err(Failure::Undone(why))
    }

    fn endpoint(&self, at: usize) -> &str {
        let at = at.checked_rem(self.endpoints.len()).unwrap_or(0);
        self.endpoints.get(at).map_or("", String::as_str)
    }

    /// Watches keys from a revision on, at the endpoint of that number, by a connection of its own.
    pub(super) fn watch(&self, at: usize, keys: &Keys, from: i64) -> io::Result<Lines> {
        let create = json!({ "create_request": {
            "key": BASE64.encode(&keys.first),
            "range_end": BASE64.encode(&keys.end),
            "start_revision": from.to_string(),
        }});
        let connection = Connection::open(self.endpoint(at), self.patience)?;
        connection.stream("/v3/watch", create.to_string().as_bytes())
    }
}

/// Keys from the first on to an end.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) first: Vec<u8>,
    pub(super) end: Vec<u8>,
}

impl Keys {
    /// All that begin so. The prefix ends with an ASCII character.
    pub(super) fn below(prefix: &str) -> Self {
        let first = prefix.as_bytes().to_vec();
        let mut end = first.clone();
        if let Some(last) = end.last_mut() {
            *last += 1;
        }
        Self { first, end }
    }
}

/// What etcd's error says (google.rpc.Code).
fn refused(reply: &Value) -> Failure {
    let text = reply["error"].as_str().unwrap_or("etcd refuses").to_owned();
    match reply["code"].as_i64() {
        // Invalid argument, permission denied, resource exhausted, unauthenticated.
        Some(3 | 7 | 8 | 16) => Failure::Undone(text),
        _ => Failure::Unknown(text),
    }
}

/// The revision that etcd has come to, by a reply's header.
pub(super) fn revision(reply: &Value) -> i64 {
    number(&reply["header"]["revision"])
}

/// A number as the gateway writes it: text.
pub(super) fn number(value: &Value) -> i64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    text.or_else(|| value.as_i64()).unwrap_or_default()
}

/// Bytes as the gateway writes them.
fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Null => Some(Vec::new()),
        value => BASE64.decode(value.as_str()?.as_bytes()).ok(),
    }
}

/// The records of a range's reply.
pub(super) fn records(reply: &Value) -> Option<Vec<Record>> {
    let Some(all) = reply["kvs"].as_array() else {
        return Some(Vec::new());
    };
    let record = |one: &Value| {
        Some(Record {
            key: bytes(&one["key"])?,
            value: bytes(&one["value"])?,
        })
    };
    all.iter().map(record).collect()
}

/// What a line of a watch says; nothing where it is none. `seen` is the revision that was told last.
pub(super) fn told(line: &[u8], seen: i64) -> Option<Told> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let result = line.get("result")?;
    let revision = revision(result);
    if number(&result["compact_revision"]) > 0 {
        return Some(Told::Lost("etcd has compacted what came between".into()));
    }
    if revision < seen {
        return Some(Told::Lost(format!(
            "etcd has older data: revision {revision} after {seen}"
        )));
    }
    if result["canceled"].as_bool() == Some(true) {
        return Some(Told::Lost("etcd has cancelled the watch".into()));
    }
    let Some(events) = result["events"].as_array() else {
        return Some(Told::Changes(Vec::new(), seen));
    };
    let mut last = seen;
    let mut changes = Vec::with_capacity(events.len());
    for event in events {
        let record = &event["kv"];
        let is_gone = event["type"].as_str() == Some("DELETE");
        let value = match is_gone {
            true => None,
            false => Some(bytes(&record["value"])?),
        };
        changes.push((bytes(&record["key"])?, value));
        last = last.max(number(&record["mod_revision"]));
    }
    Some(Told::Changes(changes, last))
}

/// A key that is put.
pub(super) fn put(key: &[u8], value: &[u8], lease: i64) -> Value {
    json!({ "requestPut": {
        "key": BASE64.encode(key), "value": BASE64.encode(value), "lease": lease.to_string(),
    }})
}

/// A key that is deleted.
pub(super) fn delete(key: &[u8]) -> Value {
    json!({ "requestDeleteRange": { "key": BASE64.encode(key) } })
}

/// Keys that are deleted, if there are any.
pub(super) fn delete_all(keys: &Keys) -> Value {
    json!({ "requestDeleteRange": {
        "key": BASE64.encode(&keys.first), "range_end": BASE64.encode(&keys.end),
    }})
}

/// That a key has a value.
pub(super) fn has_value(key: &[u8], value: &[u8]) -> Value {
    json!({ "key": BASE64.encode(key), "target": "VALUE", "result": "EQUAL",
            "value": BASE64.encode(value) })
}

/// That a key is there, or that it is not.
pub(super) fn is_there(key: &[u8], is_there: bool) -> Value {
    let result = if is_there { "GREATER" } else { "EQUAL" };
    json!({ "key": BASE64.encode(key), "target": "CREATE", "result": result,
            "create_revision": "0" })
}

/// That none of these keys is there.
pub(super) fn none_is_there(keys: &Keys) -> Value {
    json!({ "key": BASE64.encode(&keys.first), "range_end": BASE64.encode(&keys.end),
            "target": "CREATE", "result": "EQUAL", "create_revision": "0" })
}
