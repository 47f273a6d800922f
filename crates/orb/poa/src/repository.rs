//! Link of an ORB to the Implementation Repository (`ImplementationRepository` of TAO): which of its persistent adapters are
//! registered there, and the calls that register them.
//!
//! References of persistent objects have the repository's endpoints; a client's first request goes there and is forwarded to
//! the process that has registered last. A registration that fails is tried again by a thread, until it succeeds or the ORB
//! ends: the repository may be starting itself.

use parking_lot::Mutex;
use punctual_exec::thread::ThreadSpec;
use punctual_orb::{
    CompletionStatus, ObjectRef, Operation, Orb, SystemException, SystemExceptionKind as Kind,
    WeakOrb, minor,
};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// Initial reference of the Implementation Repository.
const INITIAL_REFERENCE: &str = "ImplRepoService";

/// Time-out of a call to the repository.
const CALL: Duration = Duration::from_secs(5);

/// Time between two attempts to register: the first, and the longest one.
const AGAIN: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(30)];

/// Registered adapters of an ORB, by the names that they have in the repository.
pub(crate) struct Repository {
    me: Weak<Self>,
    orb: WeakOrb,
    server_id: String,
    locator: OnceLock<ObjectRef>,
    /// Object by which the repository calls this process.
    server: OnceLock<ObjectRef>,
    adapters: Mutex<Adapters>,
}

#[derive(Default)]
struct Adapters {
    by_name: BTreeMap<String, Stage>,
    /// True while a thread tries again.
    is_trying: bool,
    /// True if the repository has not answered the last call in time.
    is_silent: bool,
    /// True once the ORB ends: nothing is registered any more.
    has_ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A thread is registering the adapter.
    Registering,
    Registered,
    /// The last attempt has failed.
    Failed,
}

impl Repository {
    /// Returns the link of an ORB, if it uses an Implementation Repository.
    pub(crate) fn of(orb: &Orb) -> Option<Arc<Self>> {
        orb.config().implementation_repository.then(|| {
            Arc::new_cyclic(|me| Self {
                me: me.clone(),
                orb: orb.downgrade(),
                server_id: orb.server_id().to_owned(),
                locator: OnceLock::new(),
                server: OnceLock::new(),
                adapters: Mutex::default(),
            })
        })
    }

    /// Returns the server's id; empty if it has none.
    pub(crate) fn server_id(&self) -> &str {
        &self.server_id
    }

    /// Returns the repository's reference.
    ///
    /// # Errors
    /// Those of [`Orb::resolve_initial_references`].
    pub(crate) fn locator(&self, orb: &Orb) -> Result<ObjectRef, SystemException> {
        if let Some(locator) = self.locator.get() {
            return Ok(locator.clone());
        }
        let locator = orb.resolve_initial_references(INITIAL_REFERENCE)?;
        Ok(self.locator.get_or_init(|| locator).clone())
    }

    /// Registers the adapter with a name, unless it is registered or about to be. `server_object` makes the object by which
    /// the repository calls this process.
    pub(crate) fn register(
        &self,
        name: &str,
        server_object: impl FnOnce() -> Result<ObjectRef, SystemException>,
    ) {
        {
            let mut adapters = self.adapters.lock();
            if adapters.has_ended || adapters.by_name.contains_key(name) {
                return;
            }
            let by_name = &mut adapters.by_name;
            by_name.insert(name.to_owned(), Stage::Registering);
        }
        let made = match self.server.get() {
            Some(_) => Ok(()),
            None => server_object().map(|object| {
                self.server.get_or_init(|| object);
            }),
        };
        if self.is_silent() {
            // It is tried again already, and each attempt takes long: one more would hold up the caller in vain.
            if let Some(stage) = self.adapters.lock().by_name.get_mut(name) {
                *stage = Stage::Failed;
            }
            self.try_again();
        } else if made.and_then(|()| self.attempt(name)).is_err() {
            self.try_again();
        }
    }

    /// Returns whether the repository has not answered the last call in time.
    fn is_silent(&self) -> bool {
        self.adapters.lock().is_silent
    }

    /// Notes how a call to the repository has ended.
    fn note(&self, done: &Result<(), SystemException>) {
        let is_late = |error: &SystemException| error.kind() == Kind::Timeout;
        self.adapters.lock().is_silent = done.as_ref().is_err_and(is_late);
    }

    /// Tells the repository that an adapter ends, if it is registered.
    pub(crate) fn end(&self, name: &str) {
        let was = self.adapters.lock().by_name.remove(name);
        if was == Some(Stage::Registered) {
            self.tell_end(name);
        }
    }

    /// Tells the repository that all adapters end.
    pub(crate) fn end_all(&self) {
        let all = {
            let mut adapters = self.adapters.lock();
            adapters.has_ended = true;
            std::mem::take(&mut adapters.by_name)
        };
        for (name, stage) in all {
            // One that does not answer is waited for once, not for each adapter.
            if stage == Stage::Registered && !self.is_silent() {
                self.tell_end(&name);
            }
        }
    }

    /// Returns the name of an adapter in the repository, as TAO has it.
    fn full_name(&self, name: &str) -> String {
        match self.server_id.is_empty() {
            true => name.to_owned(),
            false => format!("{}:{name}", self.server_id),
        }
    }

    /// Makes one attempt to register an adapter; records and logs how it ended.
    fn attempt(&self, name: &str) -> Result<(), SystemException> {
        let done = self.call_register(name);
        self.note(&done);
        let mut adapters = self.adapters.lock();
        // It may have ended meanwhile.
        let stage = adapters.by_name.get_mut(name);
        if let Some(stage) = stage {
            *stage = match &done {
                Ok(()) => Stage::Registered,
                Err(_) => Stage::Failed,
            };
        }
        drop(adapters);
        if let Err(error) = &done {
            let name = self.full_name(name);
            tracing::warn!(
                "the POA `{name}` is not registered with the Implementation Repository, and will be tried again: {error}"
            );
        }
        done
    }

    fn call_register(&self, name: &str) -> Result<(), SystemException> {
        const RUNNING: Operation = Operation::two_way("server_is_running");
        let orb = self.orb.upgrade().ok_or_else(over)?;
        let (locator, server) = (self.locator(&orb)?, self.server.get().ok_or_else(over)?);
        let (name, partial) = (self.full_name(name), partial_reference(server));
        locator.with_timeout(CALL).invoke_raising(
            &RUNNING,
            |out| {
                out.put_string(&name)?;
                out.put_string(&partial)?;
                punctual_cdr::Marshal::marshal(server, out)
            },
            |_| Ok(()),
            refused,
        )
    }

    fn tell_end(&self, name: &str) {
        const ENDING: Operation = Operation::two_way("server_is_shutting_down");
        let name = self.full_name(name);
        let told = self.orb.upgrade().ok_or_else(over).and_then(|orb| {
            let locator = self.locator(&orb)?.with_timeout(CALL);
            locator.invoke_raising(&ENDING, |out| out.put_string(&name), |_| Ok(()), refused)
        });
        self.note(&told);
        if let Err(error) = told {
            tracing::debug!(
                "the Implementation Repository was not told that `{name}` ends: {error}"
            );
        }
    }

    /// Starts the thread that registers what has failed, if there is none.
    fn try_again(&self) {
        let mut adapters = self.adapters.lock();
        if adapters.has_ended || std::mem::replace(&mut adapters.is_trying, true) {
            return;
        }
        let me = self.me.clone();
        let trying = ThreadSpec::named("punctual-imr").start(move || {
            let [mut pause, longest] = AGAIN;
            loop {
                std::thread::sleep(pause);
                let Some(me) = me.upgrade() else { return };
                if !me.register_failed() {
                    return;
                }
                pause = (pause * 2).min(longest);
            }
        });
        if let Err(error) = trying {
            adapters.is_trying = false;
            tracing::error!("no thread can register the server again: {error}");
        }
    }

    /// Makes an attempt for each adapter whose last one has failed. Returns whether one failed again; if not, the calling
    /// thread is the one that tries no longer.
    fn register_failed(&self) -> bool {
        let failed: Vec<String> = {
            let adapters = self.adapters.lock();
            let failed = adapters.by_name.iter();
            let failed = failed.filter(|(_, stage)| **stage == Stage::Failed);
            failed.map(|(name, _)| name.clone()).collect()
        };
        for name in failed {
            let _is_logged = self.attempt(&name);
        }
        let mut adapters = self.adapters.lock();
        let left = adapters
            .by_name
            .values()
            .any(|stage| *stage == Stage::Failed);
        adapters.is_trying = left && !adapters.has_ended;
        adapters.is_trying
    }
}

/// Returns the place of this process as TAO writes it: a `corbaloc:` without the object key. Empty if it cannot be reached
/// by IIOP, where the repository has the object by which it calls the process.
fn partial_reference(server: &ObjectRef) -> String {
    let endpoints = punctual_orb::relay::endpoints_of(server.orb(), server.ior());
    let places = endpoints.iter().filter(|one| &*one.protocol == "iiop");
    let places = places.filter_map(|one| {
        let (host, port) = one.address.host_and_port()?;
        Some(match host.contains(':') {
            true => format!("iiop:1.2@[{host}]:{port}"),
            false => format!("iiop:1.2@{host}:{port}"),
        })
    });
    let places: Vec<String> = places.collect();
    match places.is_empty() {
        true => String::new(),
        false => format!("corbaloc:{}/", places.join(",")),
    }
}

/// Reads the user exception by which the repository refuses a server.
fn refused(
    id: &str,
    _: &mut punctual_cdr::Decoder<'_>,
) -> Result<Option<SystemException>, punctual_cdr::CdrError> {
    let is_not_found = id == "IDL:ImplementationRepository/NotFound:1.0";
    Ok(is_not_found.then(|| {
        SystemException::new(Kind::Transient, minor::UNKNOWN_SERVER, CompletionStatus::No)
            .with_detail("the Implementation Repository takes only servers that were added to it")
    }))
}

fn over() -> SystemException {
    SystemException::new(
        Kind::BadInvOrder,
        minor::ORB_HAS_SHUT_DOWN,
        CompletionStatus::No,
    )
    .with_detail("the ORB has shut down")
}
