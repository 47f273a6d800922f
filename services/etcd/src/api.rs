//! Calls to etcd through its gateway: JSON over HTTP, with numbers and bytes as text.
//! A [`Client`] has one connection at a time, to one of its endpoints, and tries the next when that
//! fails. A request that was sent and not answered may have been executed: [`Failure::Unknown`].

use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64;
use parking_lot::Mutex;
use rustls::ClientConfig;
use serde_json::{Value, json};

use crate::http::{Connection, Lines};
use crate::stream::{Tls, TlsError};

/// Failure of a call to the etcd cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing was executed: no endpoint answers, or etcd refused the call.
    Undone(String),
    /// The outcome of the call is unknown: etcd may have executed it.
    Unknown(String),
}

/// A cluster to call, and the credentials of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientOptions {
    /// Addresses of the members to call, as `host:port`. One is enough; others are tried when it
    /// fails.
    pub endpoints: Vec<String>,
    /// Time limit for one call to etcd.
    pub patience: Duration,
    /// TLS, and the authorities of the members' certificates; without it everything is sent
    /// unencrypted.
    pub tls: Option<Tls>,
    /// User, if etcd requires authentication. Without TLS, name and password are sent unencrypted.
    pub user: Option<User>,
}

/// Client of an etcd cluster.
#[derive(Debug)]
pub struct Client {
    endpoints: Vec<String>,
    patience: Duration,
    tls: Option<Arc<ClientConfig>>,
    user: Option<User>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    at: usize,
    connection: Option<Connection>,
}

/// User of etcd, if it requires authentication (`etcdctl auth enable`).
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// User name for the authentication by etcd.
    pub name: String,
    /// Password for the authentication by etcd.
    pub password: String,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "User({})", self.name)
    }
}

/// Record of etcd: a key with its value.
#[derive(Clone, Debug)]
pub struct Record {
    /// Key of the etcd record.
    pub key: Vec<u8>,
    /// Value of the etcd record.
    pub value: Vec<u8>,
    /// Lease that the record ends with; 0 without one.
    pub lease: i64,
    /// Revision of the record's last change.
    pub revision: i64,
}

/// Change of a key that a watch reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Key that has changed.
    pub key: Vec<u8>,
    /// Value from then on; `None` if the key was deleted.
    pub value: Option<Vec<u8>>,
    /// Revision of the change.
    pub revision: i64,
}

/// Report from a watch on a range of etcd keys.
#[derive(Debug)]
pub enum WatchReport {
    /// Keys changed in one revision or several; complete up to the given revision.
    Changes(Vec<Changed>, i64),
    /// etcd has dropped earlier changes, or has older data: everything has to be read again.
    Lost(String),
}

impl Client {
    /// Creates a client, which connects when it is first used.
    ///
    /// # Errors
    /// The files that TLS is set up from cannot be read.
    pub fn new(options: &ClientOptions) -> Result<Self, TlsError> {
        Ok(Self {
            endpoints: options.endpoints.clone(),
            patience: options.patience,
            tls: options.tls.as_ref().map(Tls::config).transpose()?,
            user: options.user.clone(),
            open: Mutex::default(),
        })
    }

    /// Calls the first endpoint that can be reached. Blocks.
    ///
    /// # Errors
    /// See [`Failure`].
    pub fn call(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let body = body.to_string();
        let mut open = self.open.lock();
        let (mut status, mut reply) = self.posted(&mut open, path, &body)?;
        if status != 200 && self.user.is_some() && code(&reply) == UNAUTHENTICATED {
            // etcd has forgotten the connection's token, and has not executed the request.
            (status, reply) = self.posted(&mut open, path, &body)?;
        }
        match status {
            200 => Ok(reply),
            _ => {
                // This member may have lost contact with the others.
                open.at += 1;
                Err(refused(&reply))
            }
        }
    }

    /// Posts a request on the open connection, or on a new one; the connection is kept after
    /// success.
    fn posted(&self, open: &mut Open, path: &str, body: &str) -> Result<(u16, Value), Failure> {
        let mut connection = match open.connection.take() {
            Some(connection) => connection,
            None => self.reached(open)?,
        };
        let (status, reply) = connection.post(path, body.as_bytes()).map_err(|error| {
            open.at += 1;
            let is_late = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
            Failure::Unknown(match is_late {
                true => "it did not answer in time".to_owned(),
                false => error.to_string(),
            })
        })?;
        let reply = serde_json::from_slice(&reply);
        let reply = reply.map_err(|error| Failure::Unknown(error.to_string()))?;
        if status == 200 {
            open.connection = Some(connection);
        }
        Ok((status, reply))
    }

    fn reached(&self, open: &mut Open) -> Result<Connection, Failure> {
        let mut why = String::new();
        for _ in &self.endpoints {
            let endpoint = self.endpoint(open.at);
            match self.connected(endpoint) {
                Ok(connection) => return Ok(connection),
                Err(error) => why = format!("{endpoint}: {error}"),
            }
            open.at += 1;
        }
        Err(Failure::Undone(why))
    }

    /// Opens a connection, and obtains a token for it if a user is configured.
    fn connected(&self, endpoint: &str) -> io::Result<Connection> {
        let mut connection = Connection::open(endpoint, self.patience, self.tls.as_ref())?;
        let Some(user) = &self.user else {
            return Ok(connection);
        };
        let body = json!({ "name": user.name, "password": user.password }).to_string();
        let (status, reply) = connection.post("/v3/auth/authenticate", body.as_bytes())?;
        let reply = serde_json::from_slice::<Value>(&reply)?;
        match reply["token"].as_str() {
            Some(token) if status == 200 => Ok(connection.with_token(token.to_owned())),
            _ => {
                let why = reply["error"]
                    .as_str()
                    .unwrap_or("etcd does not know the user");
                Err(io::Error::new(ErrorKind::PermissionDenied, why.to_owned()))
            }
        }
    }

    fn endpoint(&self, at: usize) -> &str {
        let at = at.checked_rem(self.endpoints.len()).unwrap_or(0);
        self.endpoints.get(at).map_or("", String::as_str)
    }

    /// Watches keys from a revision on, at the endpoint with index `at`, by a connection of its
    /// own.
    ///
    /// # Errors
    /// The endpoint cannot be reached, or refuses.
    pub fn watch(&self, at: usize, keys: &Keys, from: i64) -> io::Result<Lines> {
        let create = json!({ "create_request": {
            "key": BASE64.encode(&keys.first),
            "range_end": BASE64.encode(&keys.end),
            "start_revision": from.to_string(),
        }});
        let connection = self.connected(self.endpoint(at))?;
        connection.stream("/v3/watch", create.to_string().as_bytes())
    }
}

/// Range of etcd keys.
#[derive(Debug)]
pub struct Keys {
    /// First key of the etcd key range.
    pub first: Vec<u8>,
    /// End of the etcd key range, exclusive.
    pub end: Vec<u8>,
}

impl Keys {
    /// Returns the range of the keys with this prefix. The prefix ends with an ASCII character.
    #[must_use]
    pub fn below(prefix: &str) -> Self {
        let first = prefix.as_bytes().to_vec();
        let mut end = first.clone();
        if let Some(last) = end.last_mut() {
            *last += 1;
        }
        Self { first, end }
    }
}

/// Error codes of etcd (google.rpc.Code).
const INVALID_ARGUMENT: i64 = 3;
const PERMISSION_DENIED: i64 = 7;
const RESOURCE_EXHAUSTED: i64 = 8;
const UNAUTHENTICATED: i64 = 16;

fn code(reply: &Value) -> i64 {
    reply["code"].as_i64().unwrap_or_default()
}

/// Returns the failure that an error reply of etcd describes.
fn refused(reply: &Value) -> Failure {
    let text = reply["error"].as_str().unwrap_or("etcd refuses").to_owned();
    match code(reply) {
        INVALID_ARGUMENT | PERMISSION_DENIED | RESOURCE_EXHAUSTED | UNAUTHENTICATED => {
            Failure::Undone(text)
        }
        _ => Failure::Unknown(text),
    }
}

/// Returns the etcd revision from the header of a reply.
#[must_use]
pub fn revision(reply: &Value) -> i64 {
    number(&reply["header"]["revision"])
}

/// Reads a number from the gateway's JSON, where it is text.
#[must_use]
pub fn number(value: &Value) -> i64 {
    let text = value.as_str().and_then(|text| text.parse().ok());
    text.or_else(|| value.as_i64()).unwrap_or_default()
}

/// Reads bytes from the gateway's JSON, where they are base64.
fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Null => Some(Vec::new()),
        value => BASE64.decode(value.as_str()?.as_bytes()).ok(),
    }
}

/// Reads the records of a range request's reply; `None` for a malformed one.
#[must_use]
pub fn records(reply: &Value) -> Option<Vec<Record>> {
    let Some(all) = reply["kvs"].as_array() else {
        return Some(Vec::new());
    };
    let record = |one: &Value| {
        Some(Record {
            key: bytes(&one["key"])?,
            value: bytes(&one["value"])?,
            lease: number(&one["lease"]),
            revision: number(&one["mod_revision"]),
        })
    };
    all.iter().map(record).collect()
}

/// Reads a line of a watch's reply; `None` for a malformed one. `seen` is the revision of the
/// previous line.
#[must_use]
pub fn watch_report(line: &[u8], seen: i64) -> Option<WatchReport> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let result = line.get("result")?;
    let revision = revision(result);
    if number(&result["compact_revision"]) > 0 {
        return Some(WatchReport::Lost(
            "etcd has compacted the revisions in between".into(),
        ));
    }
    if revision < seen {
        return Some(WatchReport::Lost(format!(
            "etcd has lost data: revision {revision} after {seen}"
        )));
    }
    if result["canceled"].as_bool() == Some(true) {
        return Some(WatchReport::Lost("etcd has cancelled the watch".into()));
    }
    let Some(events) = result["events"].as_array() else {
        return Some(WatchReport::Changes(Vec::new(), seen));
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
        let revision = number(&record["mod_revision"]);
        last = last.max(revision);
        changes.push(Changed {
            key: bytes(&record["key"])?,
            value,
            revision,
        });
    }
    Some(WatchReport::Changes(changes, last))
}

/// Makes the part of a transaction that puts a key, with a lease or 0.
#[must_use]
pub fn put(key: &[u8], value: &[u8], lease: i64) -> Value {
    json!({ "requestPut": {
        "key": BASE64.encode(key), "value": BASE64.encode(value), "lease": lease.to_string(),
    }})
}

/// Makes the part of a transaction that deletes a key.
#[must_use]
pub fn delete(key: &[u8]) -> Value {
    json!({ "requestDeleteRange": { "key": BASE64.encode(key) } })
}

/// Makes the part of a transaction that deletes all of these keys.
#[must_use]
pub fn delete_all(keys: &Keys) -> Value {
    json!({ "requestDeleteRange": {
        "key": BASE64.encode(&keys.first), "range_end": BASE64.encode(&keys.end),
    }})
}

/// Makes the condition that a key has a value.
#[must_use]
pub fn when_equal(key: &[u8], value: &[u8]) -> Value {
    json!({ "key": BASE64.encode(key), "target": "VALUE", "result": "EQUAL",
            "value": BASE64.encode(value) })
}

/// Makes the condition that a key has a lease.
#[must_use]
pub fn when_leased(key: &[u8], lease: i64) -> Value {
    json!({ "key": BASE64.encode(key), "target": "LEASE", "result": "EQUAL",
            "lease": lease.to_string() })
}

/// Makes the condition that a key exists, or that it does not.
#[must_use]
pub fn when_present(key: &[u8], is_there: bool) -> Value {
    let result = if is_there { "GREATER" } else { "EQUAL" };
    json!({ "key": BASE64.encode(key), "target": "CREATE", "result": result,
            "create_revision": "0" })
}

/// Makes the condition that none of these keys exists.
#[must_use]
pub fn when_empty(keys: &Keys) -> Value {
    json!({ "key": BASE64.encode(&keys.first), "range_end": BASE64.encode(&keys.end),
            "target": "CREATE", "result": "EQUAL", "create_revision": "0" })
}
