//! Listening on TCP, with the handshakes of all new clients in parallel.
//!
//! One thread polls the listener and every socket whose handshake is under way; none of them
//! blocks. Successful connections wait in a queue for [`Acceptor::accept`]. While the queue is
//! full, new clients wait in the kernel's.

use crate::address_of;
use crate::connection::TlsConnection;
use crate::handshake::Handshake;
use crate::options::{ClientCertificate, TlsOptions};
use crate::refusals::Refusals;
use crate::source::Source;
use punctual_exec::{Deadline, ThreadSpec};
use punctual_link::{Acceptor, Address, Connection, LinkError, Phase, resolve};
use punctual_sys::passing::{Found, wait_all};
use punctual_sys::{stream, tcp};
use rustls::ServerConnection;
use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Pause in accepting new clients when the operating system lacks resources, or the queue is full.
const PAUSE: Duration = Duration::from_millis(20);
/// Interval to retry a handshake whose data did not fit the socket's buffer: more than a round trip
/// of certificates, which is rare.
const RETRY: Duration = Duration::from_millis(5);

#[derive(Debug)]
struct TlsAcceptor {
    shared: Arc<Shared>,
    address: Address,
}

#[derive(Debug)]
struct Shared {
    listener: TcpListener,
    options: TlsOptions,
    source: Arc<Source>,
    refusals: Arc<Refusals>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    ready: VecDeque<Arc<dyn Connection>>,
    /// Reason why no client could be accepted, for the next call of `accept`.
    failure: Option<LinkError>,
    closed: bool,
}

pub(crate) fn listen(
    address: &Address,
    options: TlsOptions,
    source: &Arc<Source>,
    refusals: &Arc<Refusals>,
) -> Result<Box<dyn Acceptor>, LinkError> {
    let os = |error| LinkError::os(Phase::Listen, error);
    let candidates = resolve(address, Deadline::after(Duration::from_secs(10)))?;
    if source.configs().server.is_none() {
        let reason = "a server needs a certificate and a key, and none is configured";
        return Err(os(io::Error::new(io::ErrorKind::NotFound, reason)));
    }
    let listener = listen_at_one(&candidates, options.backlog, options.incoming_cpu).map_err(os)?;
    listener.set_nonblocking(true).map_err(os)?;
    // Refused here, as otherwise each connection would be.
    options.tcp.traffic.apply(&listener).map_err(os)?;
    let address = address_of(listener.local_addr().map_err(os)?);
    let shared = Arc::new(Shared {
        listener,
        options,
        source: source.clone(),
        refusals: refusals.clone(),
        queue: Mutex::new(Queue::default()),
        changed: Condvar::new(),
    });
    let working = shared.clone();
    ThreadSpec::named("punctual-tls")
        .start(move || PendingHandshakes::new(&working).serve())
        .map_err(|error| os(error.into()))?;
    Ok(Box::new(TlsAcceptor { shared, address }))
}

fn listen_at_one(
    candidates: &[SocketAddr],
    backlog: u16,
    processor: Option<u32>,
) -> io::Result<TcpListener> {
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for candidate in candidates {
        match tcp::listen_steered(*candidate, i32::from(backlog), processor) {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

impl Acceptor for TlsAcceptor {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        let mut queue = self.shared.queue();
        loop {
            if queue.closed {
                return Err(LinkError::closed(Phase::Accept));
            }
            if let Some(connection) = queue.ready.pop_front() {
                return Ok(connection);
            }
            if let Some(failure) = queue.failure.take() {
                return Err(failure);
            }
            let waited = self.shared.changed.wait(queue);
            queue = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn demands_trust_in_client(&self) -> bool {
        self.shared.options.client_certificate == ClientCertificate::Required
    }

    fn close(&self) {
        let unaccepted = {
            let mut queue = self.shared.queue();
            queue.closed = true;
            std::mem::take(&mut queue.ready)
        };
        drop(unaccepted);
        self.shared.changed.notify_all();
        // This also wakes the thread that does the handshakes. A listener that cannot be shut down
        // already is.
        let _ = stream::shut(&self.shared.listener);
    }
}

impl Drop for TlsAcceptor {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_room(&self, queue: &Queue) -> bool {
        queue.ready.len() < usize::from(self.options.backlog.max(1))
    }
}

/// Handshakes in progress, the oldest one first.
struct PendingHandshakes<'s> {
    shared: &'s Shared,
    under_way: VecDeque<PendingHandshake>,
    /// Time until which the acceptor accepts no clients.
    paused: Option<Deadline>,
}

struct PendingHandshake {
    handshake: Handshake,
    peer: Address,
    deadline: Deadline,
    /// `true` if the peer has sent any data.
    has_spoken: bool,
}

/// Outcome of one step of a TLS handshake.
enum StepOutcome {
    Waits,
    Accepted,
    Refused(String),
}

impl<'s> PendingHandshakes<'s> {
    fn new(shared: &'s Shared) -> Self {
        Self {
            shared,
            under_way: VecDeque::new(),
            paused: None,
        }
    }

    /// Accepts clients and performs handshakes until the acceptor is closed.
    fn serve(mut self) {
        loop {
            let open = {
                let queue = self.shared.queue();
                if queue.closed {
                    return;
                }
                self.shared.has_room(&queue)
            };
            self.paused = self.paused.filter(|paused| !paused.has_passed());
            let listens = open && self.paused.is_none();
            match self.wait(listens) {
                Ok((newcomer, found)) => {
                    self.advance(&found);
                    if newcomer {
                        self.take_in();
                    }
                }
                Err(error) => {
                    self.pause(error);
                    self.rest();
                }
            }
        }
    }

    /// Sleeps for a short pause, when polling the sockets has failed; the end of the acceptor ends
    /// the pause.
    fn rest(&self) {
        let queue = self.shared.queue();
        if !queue.closed {
            drop(self.shared.changed.wait_timeout(queue, PAUSE));
        }
    }

    /// Waits for the first event; returns whether a new client is there, and the state of each
    /// handshake's socket.
    fn wait(&self, listens: bool) -> io::Result<(bool, Vec<Found>)> {
        let waiting = self.under_way.iter();
        let mut sockets: Vec<BorrowedFd<'_>> = waiting
            .map(|newcomer| newcomer.handshake.stream.as_fd())
            .collect();
        let mut bound = self.under_way.front().map(|oldest| oldest.deadline);
        let mut sooner = |other: Duration| {
            let other = Deadline::after(other);
            bound = Some(bound.map_or(other, |bound| bound.earlier(other)));
        };
        if listens {
            sockets.push(self.shared.listener.as_fd());
        } else {
            sooner(PAUSE);
        }
        let to_send = |newcomer: &PendingHandshake| newcomer.handshake.tls.wants_write();
        if self.under_way.iter().any(to_send) {
            sooner(RETRY);
        }
        let mut found = wait_all(&sockets, bound.and_then(|bound| bound.remaining()))?;
        let newcomer = listens && found.pop() != Some(Found::Nothing);
        Ok((newcomer, found))
    }

    fn advance(&mut self, found: &[Found]) {
        // As many as there were when the wait began.
        for found in found {
            let Some(mut newcomer) = self.under_way.pop_front() else {
                return;
            };
            match newcomer.advance(*found) {
                StepOutcome::Waits => self.under_way.push_back(newcomer),
                StepOutcome::Accepted => self.accept(newcomer),
                StepOutcome::Refused(reason) => self.shared.refusals.note(newcomer.peer, reason),
            }
        }
    }

    fn accept(&self, newcomer: PendingHandshake) {
        let PendingHandshake {
            handshake, peer, ..
        } = newcomer;
        let made = handshake
            .stream
            .set_nonblocking(false)
            .and_then(|()| TlsConnection::new(handshake, peer.clone(), &self.shared.options));
        match made {
            Ok(connection) => {
                let mut queue = self.shared.queue();
                // One that completes after the close is dropped, and its client sees the end.
                if !queue.closed {
                    queue.ready.push_back(Arc::new(connection));
                }
                drop(queue);
                self.shared.changed.notify_one();
            }
            Err(error) => self.shared.refusals.note(peer, error.to_string()),
        }
    }

    fn take_in(&mut self) {
        let (socket, peer) = match self.shared.listener.accept() {
            Ok((socket, peer)) => (socket, address_of(peer)),
            // The client had left again, or a signal came.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::Interrupted
                        | io::ErrorKind::ConnectionAborted
                ) =>
            {
                return;
            }
            Err(error) => return self.pause(error),
        };
        let begun = socket.set_nonblocking(true).and_then(|()| {
            self.shared.options.tcp.apply(&socket)?;
            let config = self.shared.source.configs().server;
            let config = config.ok_or(io::ErrorKind::NotFound)?;
            let tls = ServerConnection::new(config).map_err(io::Error::other)?;
            Ok(Handshake::new(socket, tls))
        });
        match begun {
            Ok(handshake) => self.begin(handshake, peer),
            Err(error) => self.shared.refusals.note(peer, error.to_string()),
        }
    }

    fn begin(&mut self, handshake: Handshake, peer: Address) {
        if self.under_way.len() >= self.shared.options.handshakes.max(1)
            && let Some(given_up) = self.under_way.remove(self.to_give_up())
        {
            let reason = "let go for a newer one: too many handshakes are under way";
            self.shared.refusals.note(given_up.peer, reason.to_owned());
        }
        self.under_way.push_back(PendingHandshake {
            handshake,
            peer,
            deadline: Deadline::after(self.shared.options.handshake_timeout),
            has_spoken: false,
        });
    }

    /// Returns the index of the handshake to drop: the oldest of those whose peers have sent
    /// nothing, or of the others, whichever are more. A flood of silent peers ends no handshake
    /// that has begun, and a flood of half-begun handshakes none of new clients.
    fn to_give_up(&self) -> usize {
        let spoken = self.under_way.iter().filter(|one| one.has_spoken).count();
        let most_have_spoken = spoken > self.under_way.len() / 2;
        let is_of_most = |one: &PendingHandshake| one.has_spoken == most_have_spoken;
        self.under_way.iter().position(is_of_most).unwrap_or(0)
    }

    /// Pauses accepting for a while, and reports the reason to `accept`.
    fn pause(&mut self, error: io::Error) {
        self.paused = Some(Deadline::after(PAUSE));
        let mut queue = self.shared.queue();
        if !queue.closed {
            queue.failure = Some(LinkError::os(Phase::Accept, error));
        }
        drop(queue);
        self.shared.changed.notify_one();
    }
}

impl PendingHandshake {
    fn advance(&mut self, found: Found) -> StepOutcome {
        self.has_spoken |= found != Found::Nothing;
        let goes_on = found != Found::Nothing || self.handshake.tls.wants_write();
        match goes_on.then(|| self.handshake.advance()) {
            Some(Ok(true)) => StepOutcome::Accepted,
            Some(Err(error)) => StepOutcome::Refused(error.to_string()),
            Some(Ok(false)) | None if self.deadline.has_passed() => {
                StepOutcome::Refused("the handshake took too long".to_owned())
            }
            Some(Ok(false)) | None => StepOutcome::Waits,
        }
    }
}
