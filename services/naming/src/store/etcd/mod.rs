//! An etcd cluster, that any number of naming servers share.
//!
//! Each server has all of it in memory and follows a watch. A change is one etcd transaction: what it rests upon as its
//! comparisons, so that it comes to nothing if another server was faster. No two servers ever bind one name, whatever
//! their memories hold, as etcd puts the transactions of all servers in one order.
//!
//! Whether memory is true is seen by a *beat*: a key that each server writes again and again, and that comes back by
//! the watch. Between the two, all older changes of any server have come by. Where no beat has come back for as long as
//! [`EtcdOptions::staleness`], memory counts as old.

mod api;
mod follow;
mod http;
mod layout;
mod lease;
mod stream;

use std::sync::Arc;
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use punctual_exec::thread::ThreadSpec;
use serde_json::{Value, json};

use super::record::encoded;
use super::{Change, Fact, Follower, Loading, SharedStore, Store, StoreError};
pub use api::EtcdUser;
pub use stream::EtcdTls;

use api::{Client, Failure, delete, delete_all, has_value, is_there, none_is_there, put};
use follow::Progress;
use layout::{Layout, hex};
use lease::Leases;

/// The form of keys and values.
const FORMAT: &str = "1";

/// Comparisons and changes of a transaction. etcd takes 128 (`--max-txn-ops`).
const MOST: usize = 120;

/// Records that are asked for at once.
const PAGE: usize = 500;

/// How an etcd cluster is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdOptions {
    /// The members that are called, as `host:port`. One is enough; others are tried when it fails.
    pub endpoints: Vec<String>,
    /// What all keys begin with. Servers with the same one serve the same names. Default: `/punctual/naming`.
    pub prefix: String,
    /// How long a call to etcd may take. Default: 2 s.
    pub patience: Duration,
    /// How old what is read may be. Each server writes to etcd three times in this time. Default: 3 s.
    pub staleness: Duration,
    /// Whether names are resolved though what is known of them may be older than that, since etcd cannot be reached.
    /// Default: false, they raise TRANSIENT.
    pub reads_stale: bool,
    /// TLS, and by whom the members' certificates are. Default: none, all goes in clear.
    pub tls: Option<EtcdTls>,
    /// Who this server is, where etcd asks for a name and a password. Without TLS, these go in clear. Default: none.
    pub user: Option<EtcdUser>,
}

impl EtcdOptions {
    /// The usual ones, for these members.
    #[must_use]
    pub fn at(endpoints: Vec<String>) -> Self {
        Self {
            endpoints,
            prefix: "/punctual/naming".to_owned(),
            patience: Duration::from_secs(2),
            staleness: Duration::from_secs(3),
            reads_stale: false,
            tls: None,
            user: None,
        }
    }
}

/// A store in an etcd cluster.
#[derive(Debug)]
pub struct EtcdStore {
    shared: Arc<Shared>,
}

/// What the store's threads have, too.
#[derive(Debug)]
struct Shared {
    options: EtcdOptions,
    layout: Layout,
    client: Client,
    /// Beats go by a connection of their own, and do not wait for changes.
    beats: Client,
    identity: u64,
    progress: Progress,
}

type Result<T> = std::result::Result<T, StoreError>;

impl EtcdStore {
    /// Connects to a cluster, and makes an empty store of the keys below the prefix if there are none.
    ///
    /// # Errors
    /// No member answers, or there is something else below the prefix.
    pub fn connect(options: EtcdOptions) -> Result<Self> {
        let client = || Client::new(&options);
        let layout = Layout::below(&options.prefix);
        let made = getrandom::u64().map_err(|error| StoreError::Io(error.to_string()))?;
        let client_of_changes = client()?;
        let identity = identified(&client_of_changes, &layout, Some(made))?;
        let shared = Shared {
            client: client_of_changes,
            beats: client()?,
            layout,
            identity,
            progress: Progress::new(options.staleness),
            options,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }
}

/// What stands at the key of the identity.
fn identity_record(identity: u64) -> String {
    format!("{FORMAT} {}", hex(identity))
}

/// The identity of the store; `made` becomes it where there is none.
fn identified(client: &Client, layout: &Layout, made: Option<u64>) -> Result<u64> {
    let key = layout.identity();
    let read = json!({ "requestRange": { "key": BASE64.encode(&key) } });
    let success: Vec<Value> = made
        .map(|made| put(&key, identity_record(made).as_bytes(), 0))
        .into_iter()
        .chain([read.clone()])
        .collect();
    let transaction = json!({
        "compare": [is_there(&key, false)], "success": success, "failure": [read],
    });
    let reply = client.call("/v3/kv/txn", &transaction).map_err(away)?;
    let last = reply["responses"]
        .as_array()
        .and_then(|responses| responses.last());
    let records = last.and_then(|last| api::records(&last["response_range"]));
    let record = records.and_then(|mut records| records.pop());
    let record = record
        .ok_or_else(|| StoreError::Damaged("etcd has lost the identity of the store".into()))?;
    let text = String::from_utf8_lossy(&record.value).into_owned();
    match text.split_once(' ') {
        Some((FORMAT, identity)) => layout::number(identity),
        _ => None,
    }
    .ok_or(StoreError::Foreign(text))
}

impl Store for EtcdStore {
    fn identity(&self) -> u64 {
        self.shared.identity
    }

    fn shared(&self) -> Option<&dyn SharedStore> {
        Some(self)
    }

    fn load(&self, loading: &mut dyn Loading) -> Result<()> {
        let revision = self.shared.load(loading)?;
        self.shared.progress.come_to(revision);
        Ok(())
    }

    fn commit(&self, changes: &[Change]) -> Result<()> {
        self.commit_if(&[], changes).map(drop)
    }
}

impl SharedStore for EtcdStore {
    fn follow(&self, follower: Arc<dyn Follower>) -> Result<()> {
        let start = |name: &'static str, work: Box<dyn FnOnce() + Send>| {
            // It ends by itself after the store was dropped, perhaps by the thread itself.
            let started = ThreadSpec::named(name).start(work);
            started
                .map(drop)
                .map_err(|error| StoreError::Io(error.to_string()))
        };
        let (watching, beating) = (self.shared.clone(), self.shared.clone());
        start("etcd-watch", Box::new(move || watching.watch(&*follower)))?;
        start("etcd-beat", Box::new(move || beating.beat()))?;
        Ok(())
    }

    fn commit_if(&self, facts: &[Fact], changes: &[Change]) -> Result<bool> {
        // Where it is known to be away, nobody waits for the time-out.
        self.shared.progress.check()?;
        let layout = &self.shared.layout;
        let mut compare: Vec<Value> = facts.iter().map(|fact| comparison(layout, fact)).collect();
        // Nothing is written into another store that has come in its place.
        let identity = identity_record(self.shared.identity);
        compare.push(has_value(&layout.identity(), identity.as_bytes()));
        let leases = Leases::granted(&self.shared.client, changes)?;
        let success: Vec<Value> = changes
            .iter()
            .flat_map(|change| write(layout, change, leases.of_change(change)))
            .collect();
        // Its event tells that all before it has come by the watch.
        let failure = [self.shared.beat_put()];
        let transaction = json!({ "compare": compare, "success": success, "failure": failure });
        let before = self.shared.progress.revision();
        let reply = self.shared.client.call("/v3/kv/txn", &transaction);
        let reply = reply.map_err(|failure| match failure {
            Failure::Undone(why) => StoreError::Away(why),
            Failure::Unknown(why) => StoreError::Unknown(why),
        })?;
        let is_done = reply["succeeded"].as_bool() == Some(true);
        if !is_done {
            leases.revoke(&self.shared.client);
        }
        let revision = api::revision(&reply);
        let checked = self.shared.progress.check_revision(revision, before);
        checked.map_err(|error| StoreError::Unknown(error.to_string()))?;
        let has_come = self
            .shared
            .progress
            .wait_for(revision, self.shared.options.patience);
        match (is_done, has_come) {
            // What is done is done; this server learns it late.
            (true, _) => Ok(true),
            (false, true) => Ok(false),
            (false, false) => Err(StoreError::Away("the watch lags behind".into())),
        }
    }

    fn most(&self) -> usize {
        MOST
    }

    fn catch_up(&self) -> Result<()> {
        self.shared.progress.check()?;
        self.shared.catch_up(&self.shared.client)
    }

    fn check_current(&self) -> Result<()> {
        match self.shared.options.reads_stale {
            true => Ok(()),
            false => self.check_reached(),
        }
    }

    fn check_reached(&self) -> Result<()> {
        self.shared.progress.check()
    }
}

impl Drop for EtcdStore {
    fn drop(&mut self) {
        self.shared.progress.end();
    }
}

impl Shared {
    /// Hands over all records as they are at one revision; that revision.
    fn load(&self, loading: &mut dyn Loading) -> Result<i64> {
        let mut revision = 0;
        for keys in [self.layout.contexts(), self.layout.bindings()] {
            let mut from = keys.first;
            loop {
                let range = json!({
                    "key": BASE64.encode(&from), "range_end": BASE64.encode(&keys.end),
                    "limit": PAGE.to_string(), "revision": revision.to_string(),
                });
                let reply = self.client.call("/v3/kv/range", &range).map_err(away)?;
                if revision == 0 {
                    revision = api::revision(&reply);
                }
                let records = api::records(&reply);
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
        Ok(revision)
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
                return Err(StoreError::Damaged(format!("`{key}` is no record")));
            }
        }
        Ok(())
    }

    fn beat_put(&self) -> Value {
        put(&self.layout.beat(), b"beat", 0)
    }

    /// Writes a beat, and waits until it has come by the watch.
    fn catch_up(&self, client: &Client) -> Result<()> {
        let (begun, before) = (Instant::now(), self.progress.revision());
        let transaction = json!({ "success": [self.beat_put()] });
        let reply = client.call("/v3/kv/txn", &transaction).map_err(away)?;
        let revision = api::revision(&reply);
        self.progress.check_revision(revision, before)?;
        match self.progress.wait_for(revision, self.options.patience) {
            true => {
                self.progress.was_current(begun);
                Ok(())
            }
            false => Err(StoreError::Away("the watch lags behind".into())),
        }
    }
}

fn comparison(layout: &Layout, fact: &Fact) -> Value {
    match fact {
        Fact::Bound {
            context,
            key,
            target: Some(target),
        } => has_value(&layout.binding(*context, key), &encoded(target)),
        Fact::Bound { context, key, .. } => is_there(&layout.binding(*context, key), false),
        Fact::Present(context) => is_there(&layout.context(*context), true),
        Fact::Empty(context) => none_is_there(&layout.bindings_of(*context)),
    }
}

/// A change as a transaction has it; `lease` for the key of a temporary binding.
fn write(layout: &Layout, change: &Change, lease: i64) -> Vec<Value> {
    let one = match change {
        Change::Create { context, home } => {
            put(&layout.context(*context), hex(*home).as_bytes(), 0)
        }
        Change::Destroy(context) => {
            let bindings = delete_all(&layout.bindings_of(*context));
            return vec![delete(&layout.context(*context)), bindings];
        }
        Change::Bind {
            context,
            key,
            target,
        } => put(&layout.binding(*context, key), &encoded(target), lease),
        Change::Unbind { context, key } => delete(&layout.binding(*context, key)),
    };
    vec![one]
}

/// For calls that change nothing which anybody waits for.
fn away(failure: Failure) -> StoreError {
    match failure {
        Failure::Undone(why) | Failure::Unknown(why) => StoreError::Away(why),
    }
}
