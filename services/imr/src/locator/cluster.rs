//! etcd as several repositories share it: a copy of all records, changes of them, and the sign of life of this repository.
//!
//! | key | value |
//! |---|---|
//! | `PREFIX/format` | number of the format |
//! | `PREFIX/locator/ID` | a repository that runs, with a lease of etcd |
//! | `PREFIX/server/NAME` | how a server is started |
//! | `PREFIX/process/NAME` | its process, which has registered, or is about to end |
//! | `PREFIX/start/NAME` | the start that is in progress, and the repository that makes it |
//! | `PREFIX/failed/NAME` | why the last start has failed |
//! | `PREFIX/link/NAME`, `PREFIX/activator/NAME` | as in a file |
//!
//! Each change has the condition that what it changes is as this repository's copy has it. So of two repositories that begin a
//! start, one finds that the other was first. The copy follows a watch; own changes are in it at once, and the watch's report
//! of an earlier revision of the same key is skipped.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use parking_lot::{Condvar, Mutex};
use punctual_etcd::{
    Changed, Client, ClientOptions, Failure, Keys, Leases, Lines, delete, put, records, revision,
    when_equal, when_present,
};
use punctual_host::store::{Cdr, Record, StoreError};
use serde_json::{Value, json};

/// Tables, by the first part of a record's key.
pub(super) const LOCATOR: &str = "locator";
pub(super) const SERVER: &str = "server";
pub(super) const PROCESS: &str = "process";
pub(super) const START: &str = "start";
pub(super) const FAILED: &str = "failed";
pub(super) const LINK: &str = "link";
pub(super) const ACTIVATOR: &str = "activator";

/// Key and value of the format.
const FORMAT: &str = "format";
const FORMAT_NUMBER: &[u8] = b"1";

/// Number of records that one read returns at most.
const PAGE: usize = 500;

/// Number of records that one transaction changes at most. etcd accepts 128 operations and conditions (`--max-txn-ops`).
const MOST: usize = 60;

/// Part of the lease's time after which the sign of life is renewed.
const PARTS: u32 = 3;

/// Options of repositories that share their servers by etcd.
#[derive(Clone, Debug)]
pub struct EtcdOptions {
    /// Members of the cluster, and how they are called.
    pub client: ClientOptions,
    /// Prefix of all keys. Repositories with the same one share their servers.
    pub prefix: String,
    /// Time after which the others take over the starts of a repository that has died: from 1 s on, in whole seconds. etcd may
    /// take longer, as its members have to elect a leader within it.
    pub lease: Duration,
}

/// Records that this repository shares with others.
pub(crate) struct Cluster {
    changes: Client,
    /// Client of the signs of life, which do not wait for changes.
    beats: Client,
    watching: Client,
    prefix: String,
    /// Name of this repository among the others.
    own: String,
    lease: Duration,
    patience: Duration,
    copy: Mutex<Copy>,
    /// Notified when the copy has changed.
    copied: Condvar,
    /// True while the last sign of life was not accepted: changes are refused at once.
    is_away: AtomicBool,
    life: Mutex<Life>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Copy {
    entries: BTreeMap<String, Entry>,
    /// Revision up to which the watch has reported changes.
    seen: i64,
    /// Number of changes of the copy.
    version: u64,
}

#[derive(Debug)]
struct Entry {
    /// `None` for a record that was removed, until the watch has reported that.
    value: Option<Vec<u8>>,
    revision: i64,
}

#[derive(Debug, Default)]
struct Life {
    has_ended: bool,
    /// Connection of the watch. Shutting it down ends the watch.
    watch: Option<TcpStream>,
}

/// Change of a record; without a value it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) key: String,
    pub(super) value: Option<Vec<u8>>,
}

/// Condition that a record is there, or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Guard {
    pub(super) key: String,
    pub(super) is_there: bool,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("prefix", &self.prefix)
            .field("own", &self.own)
            .finish_non_exhaustive()
    }
}

/// Returns the key of a record, below the prefix.
pub(super) fn key(table: &str, name: &str) -> String {
    format!("{table}/{name}")
}

/// Returns the bytes of a record.
pub(super) fn encoded<T>(value: T) -> Result<Vec<u8>, StoreError>
where
    Cdr<T>: Record,
{
    let mut bytes = Vec::new();
    Cdr(value).encode(&mut bytes)?;
    Ok(bytes)
}

fn away(failure: Failure) -> StoreError {
    match failure {
        Failure::Undone(why) => StoreError::Away(format!("etcd: {why}")),
        Failure::Unknown(why) => StoreError::Unknown(format!("etcd: {why}")),
    }
}

impl Cluster {
    /// Reads all records. Blocks.
    ///
    /// # Errors
    /// The cluster cannot be reached, or its records have another format; the certificates for TLS cannot be read.
    pub(crate) fn open(options: &EtcdOptions) -> Result<Self, StoreError> {
        let client = |options: &ClientOptions| Client::new(options).map_err(StoreError::io);
        let lease = Duration::from_secs(options.lease.as_secs().max(1));
        // Signs of life are news that come this often.
        let watching = ClientOptions {
            patience: options.client.patience.max(lease),
            ..options.client.clone()
        };
        let number = getrandom::u64().map_err(StoreError::io)?;
        let cluster = Self {
            changes: client(&options.client)?,
            beats: client(&options.client)?,
            watching: client(&watching)?,
            prefix: options.prefix.trim_end_matches('/').to_owned(),
            own: format!("{number:016x}"),
            lease,
            patience: options.client.patience,
            copy: Mutex::default(),
            copied: Condvar::new(),
            is_away: AtomicBool::new(false),
            life: Mutex::default(),
            ended: Condvar::new(),
        };
        cluster.check_format()?;
        Ok(cluster)
    }

    /// Returns the name of this repository among the others.
    pub(super) fn own(&self) -> &str {
        &self.own
    }

    fn full(&self, key: &str) -> Vec<u8> {
        format!("{}/{key}", self.prefix).into_bytes()
    }

    fn all(&self) -> Keys {
        Keys::below(&format!("{}/", self.prefix))
    }

    fn check_format(&self) -> Result<(), StoreError> {
        let full = self.full(FORMAT);
        let transaction = json!({
            "compare": [when_present(&full, false)],
            "success": [put(&full, FORMAT_NUMBER, 0)],
            "failure": [{ "requestRange": { "key": BASE64.encode(&full) } }],
        });
        let reply = self.changes.call("/v3/kv/txn", &transaction);
        let reply = reply.map_err(away)?;
        if reply["succeeded"].as_bool() == Some(true) {
            return Ok(());
        }
        let found = records(&reply["responses"][0]["response_range"]).unwrap_or_default();
        let found = found.into_iter().next().map(|record| record.value);
        match found.as_deref() {
            Some(FORMAT_NUMBER) => Ok(()),
            _ => Err(StoreError::damaged(
                "the servers in etcd have a format that this version does not know",
            )),
        }
    }

    /// Reads all records anew. Returns those that differ from the copy, which has them from now on.
    ///
    /// # Errors
    /// The cluster cannot be reached.
    pub(super) fn read(&self) -> Result<Vec<Write>, StoreError> {
        let keys = self.all();
        let (mut from, mut at, mut all) = (keys.first.clone(), 0, BTreeMap::new());
        loop {
            let range = json!({
                "key": BASE64.encode(&from), "range_end": BASE64.encode(&keys.end),
                "limit": PAGE.to_string(), "revision": at.to_string(),
            });
            let reply = self.changes.call("/v3/kv/range", &range).map_err(away)?;
            if at == 0 {
                at = revision(&reply);
            }
            let broken = || StoreError::damaged("a reply of etcd is broken");
            let page = records(&reply).ok_or_else(broken)?;
            let is_last = page.len() < PAGE;
            if let Some(last) = page.last() {
                from = [&last.key[..], &[0]].concat();
            }
            for record in page {
                if let Some(key) = self.below_prefix(&record.key) {
                    all.insert(key, record.value);
                }
            }
            if is_last {
                break;
            }
        }
        let mut copy = self.copy.lock();
        let gone = copy.entries.iter();
        let gone = gone.filter(|(key, entry)| entry.value.is_some() && !all.contains_key(*key));
        let mut news: Vec<Write> = gone
            .map(|(key, _)| Write {
                key: key.clone(),
                value: None,
            })
            .collect();
        let changed = all.iter().filter(|(key, value)| {
            let known = copy.entries.get(*key).and_then(|one| one.value.as_ref());
            known != Some(*value)
        });
        news.extend(changed.map(|(key, value)| Write {
            key: key.clone(),
            value: Some(value.clone()),
        }));
        let entries = all.into_iter().map(|(key, value)| {
            let value = Some(value);
            (
                key,
                Entry {
                    value,
                    revision: at,
                },
            )
        });
        copy.entries = entries.collect();
        copy.seen = at;
        copy.version += 1;
        drop(copy);
        self.copied.notify_all();
        Ok(news)
    }

    fn below_prefix(&self, full: &[u8]) -> Option<String> {
        let below = full.strip_prefix(self.prefix.as_bytes())?;
        let below = below.strip_prefix(b"/")?;
        String::from_utf8(below.to_vec()).ok()
    }

    /// Takes what the watch reports. Returns what is new.
    pub(super) fn note(&self, changes: Vec<Changed>, seen: i64) -> Vec<Write> {
        let mut copy = self.copy.lock();
        let mut news = Vec::new();
        for change in changes {
            let Some(key) = self.below_prefix(&change.key) else {
                continue;
            };
            let known = copy.entries.get(&key);
            if known.is_some_and(|entry| entry.revision >= change.revision) {
                continue;
            }
            let is_new = known.and_then(|entry| entry.value.as_ref()) != change.value.as_ref();
            let entry = Entry {
                value: change.value.clone(),
                revision: change.revision,
            };
            copy.entries.insert(key.clone(), entry);
            if is_new {
                let value = change.value;
                news.push(Write { key, value });
            }
        }
        copy.seen = seen;
        copy.entries
            .retain(|_, entry| entry.value.is_some() || entry.revision > seen);
        copy.version += 1;
        drop(copy);
        self.copied.notify_all();
        news
    }

    /// Returns the bytes of a record in the copy.
    pub(super) fn value(&self, table: &str, name: &str) -> Option<Vec<u8>> {
        let copy = self.copy.lock();
        copy.entries.get(&key(table, name))?.value.clone()
    }

    /// Returns a record of the copy.
    pub(super) fn record<T>(&self, table: &str, name: &str) -> Option<T>
    where
        Cdr<T>: Record,
    {
        let bytes = self.value(table, name)?;
        <Cdr<T> as Record>::decode(&bytes).map(|Cdr(value)| value)
    }

    /// Waits until the copy has a record as it is in etcd now, or a later change of it. Blocks.
    ///
    /// # Errors
    /// The cluster cannot be reached; the change does not come in time.
    pub(super) fn wait_for(&self, table: &str, name: &str) -> Result<(), StoreError> {
        let key = key(table, name);
        let range = json!({ "key": BASE64.encode(&self.full(&key)) });
        let reply = self.changes.call("/v3/kv/range", &range).map_err(away)?;
        let broken = || StoreError::damaged("a reply of etcd is broken");
        let Some(record) = records(&reply).ok_or_else(broken)?.pop() else {
            return Ok(());
        };
        let until = Instant::now() + self.patience;
        loop {
            let (version, known) = {
                let copy = self.copy.lock();
                let entry = copy.entries.get(&key).map_or(0, |entry| entry.revision);
                (copy.version, entry.max(copy.seen))
            };
            if known >= record.revision {
                return Ok(());
            }
            self.wait_for_others(version, until)?;
        }
    }

    /// Returns the number of changes of the copy.
    pub(super) fn version(&self) -> u64 {
        self.copy.lock().version
    }

    /// Waits until the copy has the change of another repository that came before one of this one: it changes since a version.
    ///
    /// # Errors
    /// It does not come in time.
    pub(super) fn wait_for_others(&self, version: u64, until: Instant) -> Result<(), StoreError> {
        let mut copy = self.copy.lock();
        while copy.version == version {
            if self.copied.wait_until(&mut copy, until).timed_out() && copy.version == version {
                let why = "etcd does not report the changes of others";
                return Err(StoreError::Away(why.to_owned()));
            }
        }
        Ok(())
    }

    /// Returns the time within which changes of others are waited for.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// Changes records, if those are as the copy has them and `guards` hold. Returns whether they were. Blocks.
    ///
    /// # Errors
    /// The cluster cannot be reached, or has not said whether they were changed. If so, the watch tells that.
    pub(super) fn write(&self, writes: &[Write], guards: &[Guard]) -> Result<bool, StoreError> {
        // Relaxed: a call that fails tells the same.
        if self.is_away.load(Ordering::Relaxed) {
            return Err(StoreError::Away("etcd does not answer".to_owned()));
        }
        for part in writes.chunks(MOST) {
            if !self.write_part(part, guards)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn write_part(&self, writes: &[Write], guards: &[Guard]) -> Result<bool, StoreError> {
        let as_known = |write: &Write| {
            let copy = self.copy.lock();
            let full = self.full(&write.key);
            match copy.entries.get(&write.key).map(|entry| &entry.value) {
                Some(Some(value)) => when_equal(&full, value),
                _ => when_present(&full, false),
            }
        };
        let guarded = |guard: &Guard| when_present(&self.full(&guard.key), guard.is_there);
        let conditions: Vec<Value> = { writes.iter().map(as_known) }
            .chain(guards.iter().map(guarded))
            .collect();
        let change = |write: &Write| match &write.value {
            Some(value) => put(&self.full(&write.key), value, 0),
            None => delete(&self.full(&write.key)),
        };
        let changes: Vec<Value> = writes.iter().map(change).collect();
        let transaction = json!({ "compare": conditions, "success": changes });
        let reply = self.changes.call("/v3/kv/txn", &transaction);
        let reply = reply.map_err(away)?;
        if reply["succeeded"].as_bool() != Some(true) {
            return Ok(false);
        }
        let revision = revision(&reply);
        let mut copy = self.copy.lock();
        for write in writes {
            let value = write.value.clone();
            copy.entries
                .insert(write.key.clone(), Entry { value, revision });
        }
        Ok(true)
    }

    /// Renews the sign of life of this repository. Blocks.
    ///
    /// # Errors
    /// The cluster cannot be reached.
    pub(super) fn beat(&self) -> Result<(), StoreError> {
        let full = self.full(&key(LOCATOR, &self.own));
        let seconds = u32::try_from(self.lease.as_secs()).unwrap_or(u32::MAX);
        let beaten = Leases::granted(&self.beats, [seconds]).and_then(|leases| {
            let value = std::process::id().to_string();
            let put = put(&full, value.as_bytes(), leases.of(seconds));
            self.beats.call("/v3/kv/txn", &json!({ "success": [put] }))
        });
        // Relaxed: see `write`.
        self.is_away.store(beaten.is_err(), Ordering::Relaxed);
        beaten.map(drop).map_err(away)
    }

    /// Removes the sign of life, so that the others take over at once.
    fn remove_life(&self) {
        let full = self.full(&key(LOCATOR, &self.own));
        // Without an answer it ends by its lease.
        let _ = self
            .beats
            .call("/v3/kv/txn", &json!({ "success": [delete(&full)] }));
    }

    /// Watches from what was seen last on, at the member with a number; `None` if it cannot be reached, or at the end.
    pub(super) fn watch(&self, member: usize) -> Option<(Lines, i64)> {
        let seen = self.copy.lock().seen;
        let lines = self.watching.watch(member, &self.all(), seen + 1).ok()?;
        let mut life = self.life.lock();
        life.watch = lines.closer();
        (!life.has_ended).then_some((lines, seen))
    }

    /// Ends the connection of the watch: its member may have lost contact with the others.
    pub(super) fn cut(&self) {
        if let Some(watch) = self.life.lock().watch.take() {
            // If it is closed already, nothing remains to be done.
            let _ = watch.shutdown(Shutdown::Both);
        }
    }

    /// Returns the time between two signs of life.
    pub(super) fn interval(&self) -> Duration {
        self.lease / PARTS
    }

    /// Waits for a time, or until the end. Returns whether it is the end.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut life = self.life.lock();
        while !life.has_ended && !self.ended.wait_until(&mut life, until).timed_out() {}
        life.has_ended
    }

    /// Ends the waiting of all threads.
    pub(super) fn end(&self) {
        self.life.lock().has_ended = true;
        self.ended.notify_all();
        self.cut();
    }

    /// Removes the sign of life after the threads have ended.
    pub(super) fn leave(&self) {
        self.remove_life();
    }
}
