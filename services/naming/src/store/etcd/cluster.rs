//! Connection to the cluster that the store and its threads share: clients, key layout, and the
//! progress of the watch.

use std::time::Instant;

use data_encoding::BASE64;
use punctual_etcd::{Client, Failure, put, records, revision, when_equal, when_present};
use serde_json::{Value, json};

use super::layout::{Layout, hex, number};
use super::options::EtcdOptions;
use super::progress::Progress;
use crate::store::change::{Change, Loading};
use crate::store::{KIND, StoreError};

/// Version of the format of keys and values in etcd.
const FORMAT: &str = "1";

/// Number of records that one read request to etcd returns at most.
const PAGE: usize = 500;

type Result<T> = std::result::Result<T, StoreError>;

/// State that the etcd store shares with its threads.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) options: EtcdOptions,
    pub(super) layout: Layout,
    pub(super) client: Client,
    /// Client for writing heartbeats, with a connection of its own, so that heartbeats do not wait
    /// for changes.
    pub(super) beats: Client,
    pub(super) identity: u64,
    pub(super) progress: Progress,
}

impl Cluster {
    /// Connects to a cluster, and creates an empty store below the prefix if there is none.
    pub(super) fn connect(options: EtcdOptions) -> Result<Self> {
        let client = || Client::new(&options.client()).map_err(StoreError::io);
        let layout = Layout::below(&options.prefix);
        let made = getrandom::u64().map_err(StoreError::io)?;
        let client_of_changes = client()?;
        let identity = identified(&client_of_changes, &layout, Some(made))?;
        Ok(Self {
            client: client_of_changes,
            beats: client()?,
            layout,
            identity,
            progress: Progress::new(options.staleness),
            options,
        })
    }

    /// Returns the transaction's condition that the store is still the one that was opened.
    pub(super) fn identity_condition(&self) -> Value {
        let identity = identity_record(self.identity);
        when_equal(&self.layout.identity(), identity.as_bytes())
    }

    /// Checks that the store is still the one that was opened.
    pub(super) fn check_same(&self) -> Result<()> {
        match identified(&self.client, &self.layout, None)? == self.identity {
            true => Ok(()),
            false => Err(KIND.foreign("another store is there now")),
        }
    }

    /// Passes on all records as of one revision; returns that revision.
    pub(super) fn load(&self, loading: &mut dyn Loading) -> Result<i64> {
        let mut at = 0;
        for keys in [self.layout.contexts(), self.layout.bindings()] {
            let mut from = keys.first;
            loop {
                let range = json!({
                    "key": BASE64.encode(&from), "range_end": BASE64.encode(&keys.end),
                    "limit": PAGE.to_string(), "revision": at.to_string(),
                });
                let reply = self
                    .client
                    .call("/v3/kv/range", &range)
                    .map_err(unreachable)?;
                if at == 0 {
                    at = revision(&reply);
                }
                let records = records(&reply);
                let records =
                    records.ok_or_else(|| StoreError::Away("a reply is broken".into()))?;
                let Some(last) = records.last() else { break };
                from = last.key.clone();
                from.push(0);
                let is_last = records.len() < PAGE;
                for record in records {
                    self.hand_over(&record.key, &record.value, loading)?;
                }
                if is_last {
                    break;
                }
            }
        }
        Ok(at)
    }

    fn hand_over(&self, key: &[u8], value: &[u8], loading: &mut dyn Loading) -> Result<()> {
        match self.layout.change(key, Some(value)) {
            Ok(Some(Change::Create { context, home })) => loading.context(context, home),
            Ok(Some(Change::Bind {
                context,
                key,
                target,
            })) => loading.binding(context, &key, target),
            _ => {
                let key = String::from_utf8_lossy(key);
                return Err(StoreError::Damaged(format!("undecodable record `{key}`")));
            }
        }
        Ok(())
    }

    pub(super) fn beat_put(&self) -> Value {
        put(&self.layout.beat(), b"beat", 0)
    }

    /// Writes a beat, and waits until the watch reports it.
    pub(super) fn catch_up(&self, client: &Client) -> Result<()> {
        let (begun, before) = (Instant::now(), self.progress.revision());
        let transaction = json!({ "success": [self.beat_put()] });
        let reply = client
            .call("/v3/kv/txn", &transaction)
            .map_err(unreachable)?;
        let made = revision(&reply);
        self.progress.check_revision(made, before)?;
        match self.progress.wait_for(made, self.options.patience) {
            true => {
                self.progress.record_current(begun);
                Ok(())
            }
            false => Err(StoreError::Away("the watch lags behind".into())),
        }
    }
}

/// Returns the value to be stored for the identity of the store.
fn identity_record(identity: u64) -> String {
    format!("{FORMAT} {}", hex(identity))
}

/// Returns the identity of the store; `made` becomes its identity if it has none.
fn identified(client: &Client, layout: &Layout, made: Option<u64>) -> Result<u64> {
    let key = layout.identity();
    let read = json!({ "requestRange": { "key": BASE64.encode(&key) } });
    let success: Vec<Value> = made
        .map(|made| put(&key, identity_record(made).as_bytes(), 0))
        .into_iter()
        .chain([read.clone()])
        .collect();
    let transaction = json!({
        "compare": [when_present(&key, false)], "success": success, "failure": [read],
    });
    let reply = client
        .call("/v3/kv/txn", &transaction)
        .map_err(unreachable)?;
    let last = reply["responses"]
        .as_array()
        .and_then(|responses| responses.last());
    let records = last.and_then(|last| records(&last["response_range"]));
    let record = records.and_then(|mut records| records.pop());
    let record = record
        .ok_or_else(|| StoreError::Damaged("etcd has lost the identity of the store".into()))?;
    let text = String::from_utf8_lossy(&record.value).into_owned();
    match text.split_once(' ') {
        Some((FORMAT, identity)) => number(identity),
        _ => None,
    }
    .ok_or_else(|| KIND.foreign(text))
}

/// Returns the error for a failed call that makes no caller's change: for such a call it does not
/// matter whether it was executed.
pub(super) fn unreachable(failure: Failure) -> StoreError {
    match failure {
        Failure::Undone(why) | Failure::Unknown(why) => StoreError::Away(why),
    }
}
