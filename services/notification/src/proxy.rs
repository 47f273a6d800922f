//! Proxies: what those of consumers and those of suppliers have in common.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use punctual_events::peer::{Existence, bounded, existence};
use punctual_events::{Connection, Workers};

use crate::client::{Client, Form, Style};
use crate::common::Common;
use crate::cos_notification::EventType;
use crate::cos_notify_channel_admin::{ClientType, ObtainInfoMode, ProxyId, ProxyType};
use crate::filter::Attached;
use crate::quality::Quality;
use crate::types::{BadTypes, Types};

/// Parts of a proxy, whatever its client is.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) common: Arc<Common>,
    pub(crate) id: ProxyId,
    pub(crate) number: u64,
    pub(crate) form: Form,
    pub(crate) style: Style,
    pub(crate) connection: Connection<Client>,
    pub(crate) quality: Quality,
    pub(crate) filters: Attached,
    types: Mutex<Types>,
    /// States that the client wants to hear of changes of types.
    wants_updates: AtomicBool,
    /// States that the client has the operation to hear of them.
    has_ears: AtomicBool,
    failing: Mutex<Option<Instant>>,
}

/// Place and kind of a proxy that is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) id: ProxyId,
    pub(crate) number: u64,
    pub(crate) form: Form,
    pub(crate) style: Style,
}

impl Proxy {
    pub(crate) fn new(
        common: Arc<Common>,
        kind: Kind,
        quality: Quality,
        filters: Attached,
    ) -> Self {
        let Kind {
            id,
            number,
            form,
            style,
        } = kind;
        Self {
            common,
            id,
            number,
            form,
            style,
            connection: Connection::new(),
            quality,
            filters,
            types: Mutex::default(),
            wants_updates: AtomicBool::new(true),
            has_ears: AtomicBool::new(true),
            failing: Mutex::default(),
        }
    }

    pub(crate) fn common(&self) -> &Common {
        &self.common
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

    /// Returns the types that the client has stated.
    pub(crate) fn types(&self) -> Types {
        self.types.lock().clone()
    }

    /// Changes the types that the client states.
    ///
    /// # Errors
    /// They are wrong, or too many.
    pub(crate) fn change_types(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), BadTypes> {
        let mut types = self.types.lock();
        *types = types.changed(added, removed, self.common.limits.types)?;
        Ok(())
    }

    /// Notes that the client asks for the types of others; returns whether it wants those of now.
    pub(crate) fn obtains(&self, mode: ObtainInfoMode) -> bool {
        let (now, updates) = match mode {
            ObtainInfoMode::AllNowUpdatesOff => (true, false),
            ObtainInfoMode::AllNowUpdatesOn => (true, true),
            ObtainInfoMode::NoneNowUpdatesOff => (false, false),
            ObtainInfoMode::NoneNowUpdatesOn => (false, true),
        };
        // Relaxed: a flag of its own, which orders no other access.
        self.wants_updates.store(updates, Ordering::Relaxed);
        now
    }

    /// Returns the client, if it is to hear of changes of types.
    pub(crate) fn listener(&self) -> Option<Client> {
        let listens =
            self.wants_updates.load(Ordering::Relaxed) && self.has_ears.load(Ordering::Relaxed);
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
        objects.remove(&objects.id_of(self.number));
    }

    /// Returns the threads that begin a call to the client: others if the last call has failed, so that those to clients
    /// that cannot be reached, which may take as long as a call may, delay none to others.
    pub(crate) fn workers(&self) -> &Workers {
        match self.failing.lock().is_some() {
            true => &self.common.checks,
            false => &self.common.workers,
        }
    }

    /// Asks the client whether it exists; returns whether the connection is to end. Blocks.
    pub(crate) fn is_lost(&self) -> bool {
        let Some(client) = self.connection.peer() else {
            return false;
        };
        let object = bounded(client.object(), self.common.limits.call_timeout);
        match existence(&object) {
            Existence::Gone => !self.common.is_ending(),
            other => self.is_given_up(other == Existence::Exists),
        }
    }

    pub(crate) fn is_abandoned(&self, now: Instant) -> bool {
        self.connection
            .is_abandoned(now, &self.common.limits.patience())
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
