//! Proxies: what those of consumers and those of suppliers have in common.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use punctual::SystemException;
use punctual_events::peer::{Existence, bounded, existence};
use punctual_events::{Connection, ConnectionError, Workers};

use crate::client::{Client, Form, Style};
use crate::common::Common;
use crate::cos_notify_channel_admin::{ClientType, ObtainInfoMode, ProxyId, ProxyType};
use crate::draft::Draft;
use crate::kept;
use crate::notices::Notices;
use crate::refusal::Refusal;
use crate::stated::{Stated, Stating};
use crate::storage::Change;
use crate::tally::Tally;

/// Parts of a proxy, whatever its client is.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) common: Arc<Common>,
    pub(crate) id: ProxyId,
    /// Number of the administrator.
    admin: u64,
    pub(crate) form: Form,
    pub(crate) style: Style,
    is_plain: bool,
    pub(crate) connection: Connection<Client>,
    pub(crate) notices: Mutex<Notices>,
    pub(crate) stated: Stated,
    pub(crate) tally: Tally,
    /// States that the client has the operation to hear of them.
    has_ears: AtomicBool,
    failing: Mutex<Option<Instant>>,
}

/// Kind of a proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) form: Form,
    pub(crate) style: Style,
    /// States that the proxy has the interface of the Event Service.
    pub(crate) is_plain: bool,
}

impl Kind {
    /// Returns the kind of a proxy of the Event Service.
    pub(crate) const fn plain(style: Style) -> Self {
        Self {
            form: Form::Any,
            style,
            is_plain: true,
        }
    }

    /// Returns the kind of a proxy that was kept.
    pub(crate) fn of_kept(kept: &kept::Proxy) -> Self {
        Self {
            form: kept.form.into(),
            style: if kept.is_push {
                Style::Push
            } else {
                Style::Pull
            },
            is_plain: kept.is_plain,
        }
    }
}

impl Proxy {
    /// Makes a proxy with an id of the administrator with a number.
    pub(crate) fn new(
        (admin, id): (u64, ProxyId),
        kind: Kind,
        stated: Stated,
        tally: Tally,
    ) -> Self {
        Self {
            common: stated.common.clone(),
            id,
            admin,
            form: kind.form,
            style: kind.style,
            is_plain: kind.is_plain,
            connection: Connection::new(),
            notices: Mutex::default(),
            stated,
            tally,
            has_ears: AtomicBool::new(true),
            failing: Mutex::default(),
        }
    }

    /// Returns the kind of proxy, as it is seen by its client: a consumer that is pushed to has one of type PUSH.
    pub(crate) fn proxy_type(&self) -> ProxyType {
        match (self.style, self.form) {
            (Style::Push, Form::Any) => ProxyType::PushAny,
            (Style::Pull, Form::Any) => ProxyType::PullAny,
            (Style::Push, Form::Structured) => ProxyType::PushStructured,
            (Style::Pull, Form::Structured) => ProxyType::PullStructured,
            (Style::Push, Form::Sequence) => ProxyType::PushSequence,
            (Style::Pull, Form::Sequence) => ProxyType::PullSequence,
        }
    }

    /// Connects the client, once it has been prepared and is durable, or replaces the one that is connected, if the service
    /// allows that. Blocks.
    ///
    /// # Errors
    /// The proxy is connected, and its client may not be replaced, or has ended; the connection cannot be prepared or stored.
    pub(crate) fn connect(
        &self,
        client: Option<Client>,
        prepare: impl FnOnce() -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let _order = self.stated.record.order();
        let replaces = match self.connection.check_unconnected() {
            Err(ConnectionError::AlreadyConnected) if self.common.limits.reconnect => true,
            checked => {
                checked?;
                false
            }
        };
        prepare()?;
        if self.common.is_stored {
            self.store(self.record_with(&self.stated.draft(), client.as_ref())?)?;
        }
        let connected = match replaces {
            true => self.connection.replace(client),
            false => self.connection.connect(client),
        };
        connected.inspect_err(|_| self.forget())?;
        // What was found of the client before is not so of this one.
        self.has_ears.store(true, Ordering::Relaxed);
        *self.failing.lock() = None;
        Ok(())
    }

    /// Makes the end of the connection durable, so that it can end. Blocks.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(crate) fn prepare_end(&self) -> Result<(), Refusal> {
        let _order = self.stated.record.order();
        match self.stated.record.is_there() {
            true => self.store(None),
            false => Ok(()),
        }
    }

    /// Notes that the client suspends the connection, or resumes it; returns whether that is a change. Blocks.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(crate) fn note_suspension(&self, is_suspended: bool) -> Result<bool, SystemException> {
        self.change(|draft| {
            let before = std::mem::replace(&mut draft.is_suspended, is_suspended);
            Ok(before != is_suspended)
        })
    }

    fn record_with(
        &self,
        draft: &Draft,
        client: Option<&Client>,
    ) -> Result<Option<Change>, Refusal> {
        if !draft.settings.has_persistent_connections() {
            return Ok(None);
        }
        let proxy = kept::Proxy {
            admin: self.admin,
            id: self.id,
            form: self.form.into(),
            is_push: self.style == Style::Push,
            is_plain: self.is_plain,
            client: client.map_or(Ok(String::new()), Client::to_text)?,
            stated: draft.to_kept(),
        };
        Ok(Some(Change::Proxy(self.stated.number, Some(proxy))))
    }

    /// Notes that the client asks for the types of others; returns whether it wants those of now. Blocks.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(crate) fn obtains(&self, mode: ObtainInfoMode) -> Result<bool, SystemException> {
        let (now, updates) = match mode {
            ObtainInfoMode::AllNowUpdatesOff => (true, false),
            ObtainInfoMode::AllNowUpdatesOn => (true, true),
            ObtainInfoMode::NoneNowUpdatesOff => (false, false),
            ObtainInfoMode::NoneNowUpdatesOn => (false, true),
        };
        self.change(|draft| {
            draft.wants_updates = updates;
            Ok(now)
        })
    }

    /// Returns the client, if it is to hear of changes of types.
    pub(crate) fn listener(&self) -> Option<Client> {
        // Relaxed: a flag of its own, which orders no other access.
        let listens = self.stated.wants_updates() && self.has_ears.load(Ordering::Relaxed);
        let client = self.connection.peer().filter(|_| listens)?;
        Some(client.bounded(self.common.limits.call_timeout))
    }

    /// Notes that the client has no operation to hear of changes of types.
    pub(crate) fn note_deafness(&self) {
        self.has_ears.store(false, Ordering::Relaxed);
    }

    /// Notes whether a call to the client was answered; returns whether it is to be given up, as none has been for too
    /// long. While the service is being shut down, calls fail for that reason.
    pub(crate) fn is_given_up(&self, was_answered: bool) -> bool {
        let mut failing = self.failing.lock();
        if was_answered {
            *failing = None;
            return false;
        }
        let since = *failing.get_or_insert_with(Instant::now);
        let give_up = self.common.limits.give_up;
        !self.common.is_ending() && give_up.is_some_and(|time| since.elapsed() >= time)
    }

    /// Removes the proxy's object.
    pub(crate) fn remove_object(&self) {
        let objects = &self.common.objects;
        objects.remove(&objects.id_of(self.stated.number));
    }

    /// Returns whether the last call to the client has failed.
    pub(crate) fn is_failing(&self) -> bool {
        self.failing.lock().is_some()
    }

    /// Returns the threads that begin a call to the client: others if the last call has failed, so that those to clients
    /// that cannot be reached, which may take as long as a call may, delay none to others.
    pub(crate) fn workers(&self) -> &Workers {
        match self.is_failing() {
            true => &self.common.checks,
            false => &self.common.workers,
        }
    }

    /// Asks the client whether it exists; returns whether the connection is to end. Blocks.
    pub(crate) fn is_lost(&self) -> bool {
        let replaced = self.connection.replaced();
        let Some(client) = self.connection.peer() else {
            return false;
        };
        let object = bounded(client.object(), self.common.limits.call_timeout);
        match existence(&object) {
            _ if self.connection.replaced() != replaced => false,
            Existence::Gone => !self.common.is_ending(),
            other => self.is_given_up(other == Existence::Exists),
        }
    }

    pub(crate) fn is_abandoned(&self, now: Instant) -> bool {
        self.connection
            .is_abandoned(now, &self.common.limits.patience())
    }
}

impl Stating for Proxy {
    fn stated(&self) -> &Stated {
        &self.stated
    }

    /// A proxy is kept while it is connected.
    fn record(&self, draft: &Draft) -> Result<Option<Change>, Refusal> {
        match self.connection.is_connected() {
            true => self.record_with(draft, self.connection.peer().as_ref()),
            false => Ok(None),
        }
    }

    fn removal(&self) -> Change {
        Change::Proxy(self.stated.number, None)
    }

    fn has_ended(&self) -> bool {
        self.connection.check_unconnected() == Err(ConnectionError::Disconnected)
    }
}

/// Returns the form that a type of client has.
pub(crate) const fn form_of(client: ClientType) -> Form {
    match client {
        ClientType::AnyEvent => Form::Any,
        ClientType::StructuredEvent => Form::Structured,
        ClientType::SequenceEvent => Form::Sequence,
    }
}
