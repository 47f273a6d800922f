//! Link whose connections are byte slices: they deliver an input, and record the octets sent.

use crate::cdr::Run;
use punctual::protocol::Deadline;
use punctual_cdr::Block;
use punctual_link::{
    Acceptor, Address, Cause, Connection, Guarantees, Link, LinkError, Pending, Phase, Properties,
    SendError, Waitable,
};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Name of the byte-slice link of the fuzz targets.
pub(crate) const NAME: &str = "slice";

/// Function that computes the octets to receive from the octets that were sent, for connections
/// without a fixed input.
pub(crate) type Answer = fn(&[u8]) -> Vec<u8>;

/// Connection that delivers the octets of an input, and then closes.
#[derive(Debug)]
pub(crate) struct SliceConnection {
    state: Mutex<State>,
    closed: AtomicBool,
    /// Upper bound of the number of octets received at once; 0 for all.
    piece: usize,
    answer: Option<Answer>,
    /// Range of the input that is delivered as a lent run, in separate memory.
    lent: Range<usize>,
    here: Address,
}

#[derive(Debug, Default)]
struct State {
    input: Vec<u8>,
    taken: usize,
    sent: Vec<u8>,
    answered: usize,
}

impl SliceConnection {
    pub(crate) fn new(input: &[u8], piece: usize) -> Arc<Self> {
        Arc::new(Self::with(input.to_vec(), piece, None))
    }

    /// Makes a connection that delivers everything at once, with a range of the input as a lent
    /// run.
    pub(crate) fn lending(input: &[u8], lent: Range<usize>) -> Arc<Self> {
        Arc::new(Self {
            lent,
            ..Self::with(input.to_vec(), 0, None)
        })
    }

    fn with(input: Vec<u8>, piece: usize, answer: Option<Answer>) -> Self {
        Self {
            state: Mutex::new(State {
                input,
                ..State::default()
            }),
            closed: AtomicBool::new(false),
            piece,
            answer,
            lent: 0..0,
            here: Address::new(NAME, "here"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the octets that were sent on the connection.
    pub(crate) fn sent(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock().sent)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

impl Connection for SliceConnection {
    fn lend(&self, capacity: usize) -> Block {
        Block::of_thread(capacity.max(1024), 1 << 16)
    }

    fn send(&self, parts: &[IoSlice<'_>], _: Deadline) -> Result<(), SendError> {
        if self.is_closed() {
            let error = LinkError::closed(Phase::Send);
            return Err(SendError { error, sent: 0 });
        }
        let mut state = self.lock();
        parts
            .iter()
            .for_each(|part| state.sent.extend_from_slice(part));
        Ok(())
    }

    fn receive(&self, block: &mut Block, _: usize, _: Deadline) -> Result<usize, LinkError> {
        let mut state = self.lock();
        if let Some(answer) = self.answer {
            let before = state.answered;
            let asked = state.sent.split_off(before);
            let answered = answer(&asked);
            state.sent.extend_from_slice(&asked);
            state.answered = state.sent.len();
            state.input.extend_from_slice(&answered);
        }
        let left = state.input.get(state.taken..).unwrap_or_default();
        let count = match self.piece {
            0 => left.len(),
            piece => left.len().min(piece),
        };
        if count == 0 || self.is_closed() {
            return Err(LinkError::closed(Phase::Receive));
        }
        match left.get(self.lent.clone()).filter(|lent| !lent.is_empty()) {
            Some(lent) if state.taken == 0 => {
                block.extend_from_slice(&left[..self.lent.start]);
                block.attach(Arc::new(Run(lent.to_vec())));
                block.extend_from_slice(&left[self.lent.end..count]);
            }
            _ => block.extend_from_slice(&left[..count]),
        }
        state.taken += count;
        Ok(count)
    }

    fn pending(&self) -> Pending {
        let state = self.lock();
        match (
            self.answer,
            self.is_closed(),
            state.taken < state.input.len(),
        ) {
            (_, true, _) => Pending::End,
            (_, _, true) => Pending::Data,
            (Some(_), ..) => Pending::Nothing,
            _ => Pending::End,
        }
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    fn peer(&self) -> &Address {
        &self.here
    }

    fn local(&self) -> &Address {
        &self.here
    }

    fn waitable(&self) -> Waitable<'_> {
        Waitable::Own
    }
}

/// Inputs for the connections that a thread will open, and the connections that it has opened.
#[derive(Default)]
struct Opens {
    inputs: VecDeque<Vec<u8>>,
    piece: usize,
    answer: Option<Answer>,
    opened: Vec<Arc<SliceConnection>>,
}

thread_local! {
    static OPENS: RefCell<Opens> = RefCell::default();
}

/// Sets the inputs for the connections that the calling thread opens from now on; opening more
/// connections than inputs fails.
pub(crate) fn opens(inputs: impl IntoIterator<Item = Vec<u8>>, piece: usize) {
    OPENS.with_borrow_mut(|opens| {
        opens.inputs = inputs.into_iter().collect();
        opens.piece = piece;
        opens.answer = None;
    });
}

/// Makes connections that the calling thread opens from now on receive the answers that this
/// function computes.
pub(crate) fn opens_answered(answer: Answer) {
    OPENS.with_borrow_mut(|opens| opens.answer = Some(answer));
}

/// Closes the connections that the calling thread has opened, and returns the octets sent on each.
pub(crate) fn close_opened() -> Vec<Vec<u8>> {
    let opened = OPENS.with_borrow_mut(|opens| std::mem::take(&mut opens.opened));
    opened
        .iter()
        .map(|one| {
            one.close();
            one.sent()
        })
        .collect()
}

/// Link that delivers byte slices as a stream, for fuzz targets.
#[derive(Clone, Debug)]
pub(crate) struct Slices;

impl Link for Slices {
    fn name(&self) -> &str {
        NAME
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::STREAM
    }

    fn connect(
        &self,
        _: &Address,
        _: &Properties,
        _: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        OPENS.with_borrow_mut(|opens| {
            let input = match opens.answer {
                Some(_) => Vec::new(),
                None => opens.inputs.pop_front().ok_or_else(|| LinkError {
                    phase: Phase::Connect,
                    cause: Cause::Os(std::io::ErrorKind::ConnectionRefused.into()),
                })?,
            };
            let connection = Arc::new(SliceConnection::with(input, opens.piece, opens.answer));
            opens.opened.push(connection.clone());
            Ok(connection as Arc<dyn Connection>)
        })
    }

    fn listen(&self, at: &Address, _: &Properties) -> Result<Box<dyn Acceptor>, LinkError> {
        Ok(Box::new(Nobody {
            address: at.clone(),
            closed: Mutex::new(false),
            changed: Condvar::new(),
        }))
    }
}

/// Link over byte slices that takes the place of another link, under its name.
#[derive(Clone, Debug)]
pub(crate) struct Named(pub(crate) &'static str);

impl Link for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn guarantees(&self) -> Guarantees {
        Slices.guarantees()
    }

    fn connect(
        &self,
        to: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        Slices.connect(to, properties, deadline)
    }

    fn listen(
        &self,
        at: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        Slices.listen(at, properties)
    }
}

/// Acceptor of the byte-slice link, at which no connection ever arrives.
#[derive(Debug)]
struct Nobody {
    address: Address,
    closed: Mutex<bool>,
    changed: Condvar,
}

impl Acceptor for Nobody {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        let _closed = self.changed.wait_while(closed, |closed| !*closed);
        Err(LinkError::closed(Phase::Accept))
    }

    fn close(&self) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}
