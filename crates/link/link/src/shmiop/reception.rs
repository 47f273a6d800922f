//! A thread at the door: lets peers in and hears their greetings, many at a time, so that one that is
//! slow, silent or hostile keeps nobody else waiting.

use super::acceptor::Handover;
use super::connection::ShmConnection;
use super::copies::Ledger;
use super::greeting::{Introduction, Own, Places, Theirs};
use super::{ShmOptions, client_address};
use crate::{Address, Cause, LinkError, Phase};
use punctual_exec::Deadline;
use punctual_sys::passing::{self, Found};
use punctual_sys::unix;
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Peers that may be about to introduce themselves; of more, the one that has taken longest is let go.
const GUESTS: usize = 64;

/// The door of one acceptor.
#[derive(Debug)]
pub(super) struct Reception {
    listener: Arc<OwnedFd>,
    address: Address,
    options: ShmOptions,
    ledger: Arc<Ledger>,
    handover: Arc<Handover>,
    /// In the order in which they came, which is that of their deadlines.
    guests: VecDeque<Guest>,
    /// Counts peers whose end has no name.
    unnamed: u64,
}

#[derive(Debug)]
struct Guest {
    introduction: Introduction,
    name: String,
    deadline: Deadline,
}

/// Nobody accepts any more.
struct Closed;

impl Reception {
    pub(super) fn new(
        listener: Arc<OwnedFd>,
        address: Address,
        options: ShmOptions,
        ledger: Arc<Ledger>,
        handover: Arc<Handover>,
    ) -> Self {
        Self {
            listener,
            address,
            options,
            ledger,
            handover,
            guests: VecDeque::new(),
            unnamed: 0,
        }
    }

    /// Runs until the listener is shut.
    pub(super) fn run(mut self) {
        while self.step().is_ok() {}
    }

    fn step(&mut self) -> Result<(), Closed> {
        let found = match self.wait() {
            Ok(found) => found,
            Err(error) => return self.report(error),
        };
        let (door, guests) = found.split_first().ok_or(Closed)?;
        if *door == Found::End {
            return Err(Closed);
        }
        self.hear(guests)?;
        if *door == Found::Data {
            self.let_in()?;
        }
        self.guests.retain(|guest| !guest.deadline.has_passed());
        Ok(())
    }

    /// Waits for the door and the guests, in this order.
    fn wait(&self) -> std::io::Result<Vec<Found>> {
        let first = self.guests.front();
        let timeout: Option<Duration> = first.and_then(|guest| guest.deadline.remaining());
        let guests = self.guests.iter().map(|guest| guest.introduction.socket());
        let sockets: Vec<BorrowedFd<'_>> = std::iter::once(&*self.listener)
            .chain(guests)
            .map(AsFd::as_fd)
            .collect();
        passing::wait_all(&sockets, timeout)
    }

    /// Hears the guests that said something, or left, and hands on those that are introduced.
    fn hear(&mut self, found: &[Found]) -> Result<(), Closed> {
        let mut found = found.iter();
        for mut guest in std::mem::take(&mut self.guests) {
            // Guests and findings are as many.
            if found.next().is_none_or(|found| *found == Found::Nothing) {
                self.guests.push_back(guest);
                continue;
            }
            match self.introduce(&mut guest) {
                Ok(None) => self.guests.push_back(guest),
                Ok(Some((own, theirs))) => {
                    let connection = self.connect(guest, own, theirs);
                    if !self.handover.put(Ok(Arc::new(connection))) {
                        return Err(Closed);
                    }
                }
                Err(Cause::Os(error)) => self.report(error)?,
                // Its own fault, and of no interest to whoever accepts.
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn introduce(&self, guest: &mut Guest) -> Result<Option<(Own, Theirs)>, Cause> {
        let Some(theirs) = guest.introduction.hear(&self.options)? else {
            return Ok(None);
        };
        let own = Own::new(&self.options)?;
        guest.introduction.show(&own)?;
        Ok(Some((own, theirs)))
    }

    fn connect(&self, guest: Guest, own: Own, theirs: Theirs) -> ShmConnection {
        let places = Places {
            local: self.address.clone(),
            peer: client_address(self.address.place(), &guest.name),
        };
        guest
            .introduction
            .connect(own, theirs, &self.options, &self.ledger, places)
    }

    fn let_in(&mut self) -> Result<(), Closed> {
        let (socket, name) = match unix::accept(&*self.listener) {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return self.report(error),
        };
        let name = name.unwrap_or_else(|| {
            self.unnamed += 1;
            format!("unnamed-{}", self.unnamed)
        });
        // Whoever is not allowed here has been told.
        if let Ok(introduction) = Introduction::new(socket, &self.options) {
            if self.guests.len() == GUESTS {
                self.guests.pop_front();
            }
            self.guests.push_back(Guest {
                introduction,
                name,
                deadline: Deadline::after(self.options.handshake),
            });
        }
        Ok(())
    }

    /// Tells whoever accepts what the operating system said, and waits until it was told.
    fn report(&self, error: std::io::Error) -> Result<(), Closed> {
        let error = LinkError::os(Phase::Accept, error);
        let goes_on = self.handover.put(Err(error));
        if goes_on { Ok(()) } else { Err(Closed) }
    }
}
