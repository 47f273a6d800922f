//! Groups in an etcd cluster, which several servers share. One of them serves at a time.
//!
//! | key | value |
//! |---|---|
//! | `PREFIX/holder` | the server that has the right to write, with a lease of etcd |
//! | `PREFIX/fence` | another one with each write |
//! | `PREFIX/record/TABLE/NUMBER` | a record, the number in 16 hexadecimal digits |
//!
//! Each write has the condition that this server is the holder, so that one which has lost the right writes nothing. The right
//! is renewed after each third of its time, which a server counts from before it asked and etcd from later: when another one
//! takes the right, this one has stopped granting leases to members.
//!
//! A request that etcd has not answered may be executed at any later time, when a member of the cluster that was stopped or cut
//! off goes on. So each write also has the condition that the fence is as the write before has left it, and each renewal that the
//! holder's key has the lease that it was given last. After a write without an answer, the fence is changed before the next one.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use data_encoding::{BASE64, HEXLOWER};
use parking_lot::{Condvar, Mutex};
use punctual_etcd::{
    Client, ClientOptions, Failure, Keys, Leases, Record, delete, put, records, revision,
    when_equal, when_leased, when_present,
};
use punctual_exec::thread::ThreadSpec;
use punctual_host::store::{SharedRecord, SharedRecords, StoreError};
use punctual_host::{NotReady, Turn};
use serde_json::{Value, json};

/// Number of records that one read returns at most.
const PAGE: usize = 200;

/// Number of records that one transaction writes at most. etcd accepts 128 operations (`--max-txn-ops`).
const MOST: usize = 100;

/// Part of the right's time after which it is renewed, and at which a server that waits looks.
const PARTS: u32 = 3;

/// Part of the right's time for which a renewal waits for one member of the cluster.
const PATIENCE_PARTS: u32 = 6;

/// Part of the right's time after which a renewal that has failed is tried again.
const AGAIN_PARTS: u32 = 24;

/// Part of the right's time by which this server ends it before etcd does, as their clocks may run at different rates.
const CLOCKS: u32 = 128;

/// Number of times that a fence is changed which others have changed meanwhile: requests of this server without an answer.
const MOST_FENCES: usize = 8;

/// Options of groups in etcd.
#[derive(Clone, Debug)]
pub struct EtcdOptions {
    /// Members of the cluster, and how they are called.
    pub client: ClientOptions,
    /// Prefix of all keys. Servers with the same one share their groups.
    pub prefix: String,
    /// Time after which another server takes over from one that does not renew its right: from 1 s on, in whole seconds.
    pub lease: Duration,
}

/// Records in etcd, and the right to write them.
pub struct EtcdRecords {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    /// Client of renewals, which do not wait for changes.
    renewals: Client,
    prefix: String,
    holder: Vec<u8>,
    lease: Duration,
    /// Time until which this server has the right; `None` before it has had it.
    until: Mutex<Option<Instant>>,
    /// Lease of the holder's key; `None` if it is not known. Held while the right is renewed.
    lease_id: Mutex<Option<i64>>,
    /// Value of the fence; `None` if it is not known. Held during a write.
    fence: Mutex<Option<Vec<u8>>>,
    /// Number of the last value of the fence.
    fences: AtomicU64,
    loss: OnceLock<String>,
    is_ended: Mutex<bool>,
    ended: Condvar,
}

impl fmt::Debug for EtcdRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdRecords")
            .field("prefix", &self.inner.prefix)
            .field("loss", &self.inner.loss.get())
            .finish_non_exhaustive()
    }
}

impl EtcdRecords {
    /// Makes the records below a prefix. Nothing is called yet.
    ///
    /// # Errors
    /// The certificates for TLS cannot be read; the system has no random numbers.
    pub fn new(options: &EtcdOptions) -> Result<Self, StoreError> {
        let client = |options: &ClientOptions| Client::new(options).map_err(StoreError::io);
        let lease = Duration::from_secs(options.lease.as_secs().max(1));
        // One member of the cluster that hangs does not cost the right: there is time to ask another one.
        let renewals = ClientOptions {
            patience: options.client.patience.min(lease / PATIENCE_PARTS),
            ..options.client.clone()
        };
        let number = getrandom::u64().map_err(StoreError::io)?;
        let holder = format!("{}-{number:016x}", std::process::id());
        let inner = Inner {
            client: client(&options.client)?,
            renewals: client(&renewals)?,
            prefix: options.prefix.trim_end_matches('/').to_owned(),
            holder: holder.into_bytes(),
            lease,
            until: Mutex::new(None),
            lease_id: Mutex::new(None),
            fence: Mutex::new(None),
            fences: AtomicU64::new(0),
            loss: OnceLock::new(),
            is_ended: Mutex::new(false),
            ended: Condvar::new(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Returns whether this server has the right to write now, by its own clock.
    #[must_use]
    pub fn has_right(&self) -> bool {
        self.inner.has_right()
    }
}

/// Outcome of an attempt to take or renew the right.
enum Taken {
    Yes,
    No,
}

impl Inner {
    fn has_right(&self) -> bool {
        let until = *self.until.lock();
        self.loss.get().is_none() && until.is_some_and(|until| Instant::now() < until)
    }

    fn holder_key(&self) -> String {
        format!("{}/holder", self.prefix)
    }

    fn record_key(&self, table: &str, number: u64) -> String {
        let number = HEXLOWER.encode(&number.to_be_bytes());
        format!("{}/record/{table}/{number}", self.prefix)
    }

    fn all_records(&self) -> Keys {
        Keys::below(&format!("{}/record/", self.prefix))
    }

    /// Returns the condition that this server is the holder.
    fn is_holder(&self) -> Value {
        when_equal(self.holder_key().as_bytes(), &self.holder)
    }

    fn fence_key(&self) -> String {
        format!("{}/fence", self.prefix)
    }

    fn record(&self, client: &Client, key: &str) -> Result<Option<Record>, Failure> {
        let range = json!({ "key": BASE64.encode(key.as_bytes()) });
        let reply = client.call("/v3/kv/range", &range)?;
        let found = records(&reply);
        let found = found.ok_or_else(|| Failure::Undone("a reply of etcd is broken".to_owned()))?;
        Ok(found.into_iter().next())
    }

    /// Takes the right, if no server has it.
    fn take(&self, client: &Client) -> Result<Taken, Failure> {
        let mut lease_id = self.lease_id.lock();
        let is_free = when_present(self.holder_key().as_bytes(), false);
        self.put_holder(client, &[is_free], &mut lease_id)
    }

    /// Renews the right.
    fn renew(&self, client: &Client) -> Result<Taken, Failure> {
        let mut lease_id = self.lease_id.lock();
        let key = self.holder_key();
        let lease = match *lease_id {
            Some(lease) => lease,
            None => match self.record(client, &key)? {
                Some(record) if record.value == self.holder => record.lease,
                _ => return Ok(Taken::No),
            },
        };
        let is_last = when_leased(key.as_bytes(), lease);
        match self.put_holder(client, &[self.is_holder(), is_last], &mut lease_id)? {
            Taken::Yes => Ok(Taken::Yes),
            // A renewal without an answer may have been executed meanwhile.
            Taken::No => match self.record(client, &key)? {
                Some(record) if record.value == self.holder => {
                    *lease_id = Some(record.lease);
                    Err(Failure::Undone("another renewal came first".to_owned()))
                }
                _ => Ok(Taken::No),
            },
        }
    }

    /// Puts the holder's key for another time, if conditions hold.
    fn put_holder(
        &self,
        client: &Client,
        conditions: &[Value],
        lease_id: &mut Option<i64>,
    ) -> Result<Taken, Failure> {
        let asked = Instant::now();
        let seconds = u32::try_from(self.lease.as_secs()).unwrap_or(u32::MAX);
        let leases = Leases::granted(client, [seconds])?;
        let holder = put(
            self.holder_key().as_bytes(),
            &self.holder,
            leases.of(seconds),
        );
        let transaction = json!({ "compare": conditions, "success": [holder] });
        // Until there is an answer.
        *lease_id = None;
        let reply = client.call("/v3/kv/txn", &transaction)?;
        if reply["succeeded"].as_bool() != Some(true) {
            leases.revoke(client);
            return Ok(Taken::No);
        }
        *lease_id = Some(leases.of(seconds));
        *self.until.lock() = Some(asked + self.lease - self.lease / CLOCKS);
        Ok(Taken::Yes)
    }

    fn lose(&self, reason: &str) {
        // The first reason counts.
        if self.loss.set(reason.to_owned()).is_ok() {
            tracing::error!("this server has lost the right to serve: {reason}");
        }
    }

    /// Renews the right until it is lost, or the end.
    fn keep(&self) {
        let mut pause = self.lease / PARTS;
        loop {
            let mut is_ended = self.is_ended.lock();
            if !*is_ended {
                self.ended.wait_for(&mut is_ended, pause);
            }
            if *is_ended {
                return;
            }
            drop(is_ended);
            match self.renew(&self.renewals) {
                Ok(Taken::Yes) => pause = self.lease / PARTS,
                Ok(Taken::No) => return self.lose("another server has it"),
                Err(failure) if self.has_right() => {
                    tracing::warn!("the right to serve is not renewed: {}", why(failure));
                    pause = self.lease / AGAIN_PARTS;
                }
                Err(failure) => {
                    return self.lose(&format!(
                        "etcd has confirmed nothing in time: {}",
                        why(failure)
                    ));
                }
            }
        }
    }

    /// Returns the value of the fence that the next write has to find. After it, no earlier write is executed any more.
    fn fenced(&self, fence: &mut Option<Vec<u8>>) -> Result<Vec<u8>, StoreError> {
        let key = self.fence_key();
        for _ in 0..MOST_FENCES {
            if let Some(fence) = fence {
                return Ok(fence.clone());
            }
            let found = self.record(&self.client, &key).map_err(away)?;
            let as_found = match &found {
                Some(record) => when_equal(key.as_bytes(), &record.value),
                None => when_present(key.as_bytes(), false),
            };
            let next = self.next_fence();
            let transaction = json!({
                "compare": [self.is_holder(), as_found], "success": [put(key.as_bytes(), &next, 0)],
            });
            let reply = self.client.call("/v3/kv/txn", &transaction);
            if reply.map_err(away)?["succeeded"].as_bool() == Some(true) {
                *fence = Some(next);
            } else {
                self.check_holder()?;
            }
        }
        let why = "the fence of writes changes again and again";
        Err(StoreError::Away(why.to_owned()))
    }

    fn next_fence(&self) -> Vec<u8> {
        // Relaxed: only that it is another number matters.
        let number = self.fences.fetch_add(1, Ordering::Relaxed);
        [&self.holder[..], format!("-{number}").as_bytes()].concat()
    }

    /// Checks that etcd has this server as the holder, and notes it if not.
    fn check_holder(&self) -> Result<(), StoreError> {
        let holder = self.record(&self.client, &self.holder_key());
        let holder = holder.map_err(away)?;
        if holder.is_none_or(|holder| holder.value != self.holder) {
            self.lose("another server has it");
        }
        self.check()
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.has_right() {
            true => Ok(()),
            false => {
                let loss = self
                    .loss
                    .get()
                    .map_or("this server has not the right to write", String::as_str);
                Err(StoreError::Away(loss.to_owned()))
            }
        }
    }
}

impl SharedRecords for EtcdRecords {
    fn name(&self) -> String {
        format!("(in etcd, below {})", self.inner.prefix)
    }

    fn most_at_once(&self) -> usize {
        MOST
    }

    fn find(&self, table: &str, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let key = self.inner.record_key(table, number);
        let found = self.inner.record(&self.inner.client, &key).map_err(away)?;
        Ok(found.map(|record| record.value))
    }

    fn read(&self) -> Result<Vec<SharedRecord>, StoreError> {
        self.inner.check()?;
        let keys = self.inner.all_records();
        let (mut from, mut at, mut all) = (keys.first.clone(), 0, Vec::new());
        loop {
            let range = json!({
                "key": BASE64.encode(&from), "range_end": BASE64.encode(&keys.end),
                "limit": PAGE.to_string(), "revision": at.to_string(),
            });
            let reply = self
                .inner
                .client
                .call("/v3/kv/range", &range)
                .map_err(away)?;
            if at == 0 {
                at = revision(&reply);
            }
            let page = records(&reply).ok_or_else(broken)?;
            let is_last = page.len() < PAGE;
            if let Some(last) = page.last() {
                from = [&last.key[..], &[0]].concat();
            }
            for record in page {
                let key = record.key.get(keys.first.len()..).unwrap_or_default();
                let (table, number) = named(key)
                    .ok_or_else(|| StoreError::damaged("a key in etcd that is none of a record"))?;
                all.push(SharedRecord {
                    table,
                    number,
                    value: Some(record.value),
                });
            }
            if is_last {
                return Ok(all);
            }
        }
    }

    fn write(&self, records: &[SharedRecord]) -> Result<(), StoreError> {
        self.inner.check()?;
        let mut fence = self.inner.fence.lock();
        let fence_key = self.inner.fence_key();
        for part in records.chunks(MOST) {
            let change = |record: &SharedRecord| {
                let key = self.inner.record_key(&record.table, record.number);
                match &record.value {
                    Some(value) => put(key.as_bytes(), value, 0),
                    None => delete(key.as_bytes()),
                }
            };
            let mut success: Vec<Value> = last_of_each(part).into_iter().map(change).collect();
            let found = self.inner.fenced(&mut fence)?;
            let next = self.inner.next_fence();
            success.push(put(fence_key.as_bytes(), &next, 0));
            let is_found = when_equal(fence_key.as_bytes(), &found);
            let transaction =
                json!({ "compare": [self.inner.is_holder(), is_found], "success": success });
            let reply = self.inner.client.call("/v3/kv/txn", &transaction);
            let reply = reply.map_err(|failure| match failure {
                Failure::Undone(why) => StoreError::Away(why),
                Failure::Unknown(why) => {
                    *fence = None;
                    StoreError::Unknown(why)
                }
            })?;
            if reply["succeeded"].as_bool() != Some(true) {
                *fence = None;
                self.inner.check_holder()?;
                let why = "another write of this server came first";
                return Err(StoreError::Away(why.to_owned()));
            }
            *fence = Some(next);
        }
        Ok(())
    }
}

impl Turn for EtcdRecords {
    fn wait(&self, is_ending: &mut dyn FnMut() -> bool) -> Result<bool, NotReady> {
        let inner = &self.inner;
        let pause = (inner.lease / PARTS / 4).min(Duration::from_millis(250));
        while !is_ending() {
            match inner.take(&inner.client) {
                Ok(Taken::Yes) => {
                    let kept = inner.clone();
                    let started = ThreadSpec::named("group-right").start(move || kept.keep());
                    // The thread ends by itself after the records were dropped.
                    return started
                        .map(|_| true)
                        .map_err(|error| NotReady(error.to_string()));
                }
                Ok(Taken::No) => {}
                Err(failure) => tracing::warn!("the right to serve is not known: {}", why(failure)),
            }
            std::thread::sleep(pause);
        }
        Ok(false)
    }

    fn loss(&self) -> Option<String> {
        self.inner.loss.get().cloned()
    }

    fn confirm(&self) -> Result<(), NotReady> {
        match self.inner.renew(&self.inner.client) {
            Ok(Taken::Yes) => Ok(()),
            Ok(Taken::No) => {
                self.inner.lose("another server has it");
                Err(NotReady("another server has the right to serve".to_owned()))
            }
            Err(failure) => Err(NotReady(why(failure))),
        }
    }
}

/// Lets another server take the right at once.
impl Drop for EtcdRecords {
    fn drop(&mut self) {
        *self.inner.is_ended.lock() = true;
        self.inner.ended.notify_all();
        if self.inner.has_right() {
            let holder = delete(self.inner.holder_key().as_bytes());
            let transaction = json!({ "compare": [self.inner.is_holder()], "success": [holder] });
            // Without an answer, the others wait for the time of the right.
            let _ = self.inner.renewals.call("/v3/kv/txn", &transaction);
        }
    }
}

/// Returns the last change of each record: a transaction may not change one twice.
fn last_of_each(records: &[SharedRecord]) -> Vec<&SharedRecord> {
    let is_last = |(at, record): &(usize, &SharedRecord)| {
        let mut later = records.iter().skip(at + 1);
        !later.any(|other| (&other.table, other.number) == (&record.table, record.number))
    };
    let all = records.iter().enumerate().filter(is_last);
    all.map(|(_, record)| record).collect()
}

/// Returns the table and the number that the rest of a key names.
fn named(key: &[u8]) -> Option<(Arc<str>, u64)> {
    let (table, number) = std::str::from_utf8(key).ok()?.rsplit_once('/')?;
    let number = HEXLOWER.decode(number.as_bytes()).ok()?;
    Some((table.into(), u64::from_be_bytes(number.try_into().ok()?)))
}

fn why(failure: Failure) -> String {
    match failure {
        Failure::Undone(why) | Failure::Unknown(why) => why,
    }
}

fn away(failure: Failure) -> StoreError {
    StoreError::Away(why(failure))
}

fn broken() -> StoreError {
    StoreError::Away("a reply of etcd is broken".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_record_and_others_name_none() {
        assert_eq!(
            named(b"groups/00000000000000ff"),
            Some(("groups".into(), 255))
        );
        for key in [
            &b""[..],
            b"groups",
            b"groups/ff",
            b"groups/xx000000000000ff",
            b"\xff/00000000000000ff",
        ] {
            assert_eq!(named(key), None);
        }
    }

    #[test]
    fn of_changes_of_one_record_the_last_is_written() {
        let record = |number, value: Option<&[u8]>| SharedRecord {
            table: "t".into(),
            number,
            value: value.map(<[u8]>::to_vec),
        };
        let all = [
            record(1, Some(b"a")),
            record(2, None),
            record(1, Some(b"b")),
        ];
        assert_eq!(last_of_each(&all), [&all[1], &all[2]]);
    }
}
