//! The connections to one endpoint, and how callers spread over them ([`crate::policy::Mux::Adaptive`]).
//!
//! There is one, until callers meet on it: one finds another's request under way, again and again. Then another
//! connection is opened, by a thread of its own, so that no call waits for it, and used once the server has answered a
//! LocateRequest there: one that serves a single connection at a time is left alone with the first. A caller that
//! meets another takes a connection that nobody uses, and keeps to it ([`super::chosen`]). Connections beside the first
//! are given up when they, or the others, have not been used for a while.

use super::cache::{open, still_wanted};
use super::chosen;
use super::connection::ClientConnection;
use super::delivered::Broken;
use super::endpoint::Endpoint;
use crate::config::OrbConfig;
use crate::lane::Lane;
use crate::messaging::Head;
use crate::policy::Wait;
use parking_lot::Mutex;
use punctual_cdr::{Block, ByteOrder, CdrError, Coding};
use punctual_exec::Deadline;
use punctual_giop::{LocateRequestHeader, MessageKind, Target};
use punctual_link::Properties;
use punctual_sys::clock::coarse_millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// So often callers meet before another connection is opened.
const MEETINGS: u32 = 32;
/// How long a further connection may take until the server has answered there.
const OPENED: Duration = Duration::from_secs(5);
/// Milliseconds for which no further one is opened after one that the server did not want.
const REFUSED: u64 = 30_000;
/// So often is a connection beside the first looked at in the time after which it is given up.
const LOOKS: u32 = 4;

/// See the module.
#[derive(Debug)]
pub(crate) struct ToEndpoint {
    /// No other has it.
    pub(super) number: u64,
    /// Locked while the first is being opened, so that two callers open one between them, and a third, who goes
    /// elsewhere, waits for neither.
    pub(super) held: Mutex<Vec<Arc<ClientConnection>>>,
    properties: Properties,
    /// How many there may be.
    most: usize,
    /// How long one beside the first is kept that is not needed.
    spare: Option<Duration>,
    /// How often callers have met since another was opened. Relaxed, as the two below: numbers by themselves.
    met: AtomicU32,
    is_opening: AtomicBool,
    /// When one may be opened next, by the coarse clock.
    not_before: AtomicU64,
}

impl ToEndpoint {
    /// None yet; as many as the configuration allows, where callers spread.
    pub(super) fn new(properties: &Properties, spreads: bool, config: &OrbConfig) -> Self {
        // Relaxed: a number, and no more.
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            held: Mutex::default(),
            properties: properties.clone(),
            most: match spreads {
                true => config.connections_per_endpoint,
                false => 1,
            },
            spare: config.timeouts.spare_connection,
            met: AtomicU32::new(0),
            is_opening: AtomicBool::new(false),
            not_before: AtomicU64::new(0),
        }
    }

    /// Whether there may be more than one.
    pub(super) fn spreads(&self) -> bool {
        self.most > 1
    }

    /// One that nobody uses at the moment. Without waiting: somebody who looks, too, may keep it from being found.
    fn idle_one(&self) -> Option<Arc<ClientConnection>> {
        let held = self.held.try_lock()?;
        let mut usable = held.iter().filter(|one| one.may_be_used());
        usable.find(|one| !one.is_busy()).cloned()
    }

    /// Whether it is time to open another; whoever is told so opens it.
    fn wants_another(&self) -> bool {
        let met = self.met.fetch_add(1, Ordering::Relaxed) + 1;
        if met < MEETINGS || self.not_before.load(Ordering::Relaxed) > coarse_millis() {
            return false;
        }
        self.met.store(0, Ordering::Relaxed);
        let has_room = self.held.try_lock().is_some_and(|mut held| {
            let before = held.len();
            held.retain(|one| one.may_be_used());
            if held.len() < before {
                // The server does not want as many.
                self.rests();
                return false;
            }
            held.len() < self.most
        });
        has_room && !self.is_opening.swap(true, Ordering::Relaxed)
    }

    /// None more are opened for a while.
    fn rests(&self) {
        let next = coarse_millis() + REFUSED;
        self.not_before.store(next, Ordering::Relaxed);
    }

    fn open(self: &Arc<Self>, lane: &Arc<Lane>, endpoint: &Endpoint) {
        let opened = self.open_and_try(lane, endpoint);
        if let Some(connection) = &opened {
            self.held.lock().push(connection.clone());
            // Whoever ends the ORB closes those that are there by then.
            let _ = still_wanted(lane.broker(), connection);
            if let Some(spare) = self.spare {
                lane.flusher.look_after(spare / LOOKS, connection);
            }
        } else {
            self.rests();
        }
        self.is_opening.store(false, Ordering::Relaxed);
    }

    fn open_and_try(
        self: &Arc<Self>,
        lane: &Arc<Lane>,
        endpoint: &Endpoint,
    ) -> Option<Arc<ClientConnection>> {
        if !lane.has_room_for_connections() {
            return None;
        }
        let deadline = Deadline::after(OPENED);
        let to = (endpoint, self);
        let opened = open(
            &lane.opened_for(),
            to,
            &self.properties,
            Wait::Read,
            deadline,
        );
        let connection = opened
            .inspect_err(|error| {
                tracing::debug!(address = %endpoint.address, "no further connection: {error}");
            })
            .ok()?;
        if connection.answers(endpoint, deadline) {
            return Some(connection);
        }
        tracing::debug!(address = %endpoint.address, "the server answers on no further connection");
        connection.break_off(&Broken::off("the server does not answer on it"));
        None
    }
}

impl ClientConnection {
    /// Whether a caller waits for a reply here.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.callers.has_any()
    }

    /// Another connection for the calling thread, which would meet somebody here. Where there is none that is free,
    /// one more may be opened for later calls. Waits for nothing.
    #[cold]
    pub(crate) fn elsewhere(
        &self,
        lane: &Arc<Lane>,
        endpoint: &Endpoint,
    ) -> Option<Arc<ClientConnection>> {
        if chosen::is_pinned(self.spreads()?) {
            return None;
        }
        let to = self.to.upgrade()?;
        if let Some(idle) = to.idle_one() {
            chosen::choose(to.number, &idle);
            return Some(idle);
        }
        if to.wants_another() {
            let (opener, endpoint, opening) = (lane.clone(), endpoint.clone(), to.clone());
            let open = move || opening.open(&opener, &endpoint);
            if lane.openers.spawn("punctual-open", open).is_err() {
                to.is_opening.store(false, Ordering::Relaxed);
                to.rests();
            }
        }
        None
    }

    /// Sends what waits here and on all others to the same endpoint.
    pub(crate) fn flush_all(&self, deadline: Deadline) {
        let to = self.to.upgrade();
        let others = to.map(|to| to.held.lock().clone()).unwrap_or_default();
        self.flush(deadline);
        let others = others.iter().filter(|one| !std::ptr::eq(&***one, self));
        others.for_each(|one| one.flush(deadline));
    }

    /// Gives it up if it is one beside the first that was not used for a while, or, where no thread keeps to it, that
    /// another could stand in for. In what time to look again, where it is not.
    pub(super) fn look_whether_needed(self: &Arc<Self>) -> Option<Duration> {
        let to = self.to.upgrade()?;
        let spare = to.spare.filter(|_| to.spreads())?;
        let (now, longest) = (coarse_millis(), spare.as_millis());
        let is_idle = |one: &ClientConnection| {
            one.is_idle() && u128::from(now.saturating_sub(one.last_used())) >= longest
        };
        let again = Some(spare / LOOKS);
        // Somebody may be opening one, which takes its time.
        let Some(mut held) = to.held.try_lock() else {
            return again;
        };
        let place = held.iter().position(|one| Arc::ptr_eq(one, self))?;
        if place == 0 {
            return None;
        }
        let has_stand_in = || !self.is_kept_to() && held.iter().any(|one| is_idle(one));
        if !is_idle(self) && !has_stand_in() {
            return again;
        }
        held.remove(place);
        drop(held);
        self.retire();
        None
    }

    /// Whether the server answers a LocateRequest here.
    fn answers(&self, endpoint: &Endpoint, deadline: Deadline) -> bool {
        let Some(pending) = self.register() else {
            return false;
        };
        let request = self.locate_request(endpoint, pending.id());
        let sent = request.is_ok_and(|mut request| self.send(&mut request, deadline).is_ok());
        sent && self.wait(&pending, deadline).is_ok()
    }

    fn locate_request(&self, endpoint: &Endpoint, request_id: u32) -> Result<Block, CdrError> {
        let session = &*self.wire.session;
        let coding = Coding {
            version: self.wire.version,
            ..Coding::new(self.wire.version, &self.wire.limits)
        };
        let kind = MessageKind::LocateRequest;
        let mut out = session.begin(self.lend(), kind, ByteOrder::NATIVE, coding);
        let target = Target::ObjectKey(&endpoint.object_key);
        let header = LocateRequestHeader { request_id, target };
        session.put_head(&mut out, &Head::LocateRequest(header))?;
        let mut block = out.into_block();
        session.finish(&mut block)?;
        Ok(block)
    }
}
