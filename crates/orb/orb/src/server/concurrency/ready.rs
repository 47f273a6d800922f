//! A turn at a connection: receive what is there, serve it.

use super::turn::{Late, OnReactor, Wanted};
use crate::messaging::{InboxError, Taken};
use crate::probe::{self, Point};
use crate::server::memory::Memory;
use crate::server::receive::ServerConnection;
use crate::server::{Refusal, Serving};
use crate::sync;
use punctual_cdr::GiopVersion;
use punctual_exec::reactor::{Handler, Readiness, ReadyEvent, Role, depth};
use punctual_link::{LinkError, Phase, Waitable};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Messages that one connection has served in a turn, before it goes behind others.
const MESSAGES: usize = 64;

impl Handler for ServerConnection {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self.link().waitable() {
            Waitable::Descriptor(descriptor) => Some(descriptor),
            _ => None,
        }
    }

    fn ready(self: Arc<Self>, turn: &mut ReadyEvent<'_>) {
        let Some(on) = self.on_reactor() else {
            return;
        };
        probe::begins!(Point::ServerTransportReceive);
        on.token.get_or_init(|| turn.token());
        match on.flush(&self) {
            Ok(false) => {}
            Ok(true) => self.link().close(),
            Err(error) => {
                self.has_not_sent(&error);
                return turn.deregister();
            }
        }
        if turn.readiness().has(Readiness::DEADLINE) && self.is_given_up(on) {
            return turn.deregister();
        }
        let refusal = match turn.role() {
            Role::Reserve => Some(Refusal::AllBusy),
            Role::Worker if depth() > self.orb.config().max_nesting.saturating_add(1) => {
                Some(Refusal::TooDeep)
            }
            Role::Worker => None,
        };
        let serving = Serving::enter_refusing(self.clone(), refusal);
        self.serve_ready(on, turn, &serving);
    }
}

/// How reading went on.
enum Step {
    /// Something was served, or received: once more.
    On,
    /// There is no more, or somebody else has it.
    Over,
}

impl ServerConnection {
    fn serve_ready(self: &Arc<Self>, on: &OnReactor, turn: &mut ReadyEvent<'_>, serving: &Serving) {
        let mut memory = Memory::take();
        self.serve_turn(on, turn, serving, &mut memory);
        self.send_pending();
        memory.rest();
    }

    fn serve_turn(
        self: &Arc<Self>,
        on: &OnReactor,
        turn: &mut ReadyEvent<'_>,
        serving: &Serving,
        memory: &mut Memory,
    ) {
        // Whether the socket is known to be empty. Behind the last octets may be the end.
        let mut emptied = false;
        for _ in 0..MESSAGES {
            // Room for replies brings the next turn.
            if on.is_congested() {
                return;
            }
            match self.step(on, turn, serving, memory, &mut emptied) {
                Step::On => {}
                Step::Over => return,
            }
        }
        turn.hand_over(Readiness::READ);
    }

    fn step(
        self: &Arc<Self>,
        on: &OnReactor,
        turn: &mut ReadyEvent<'_>,
        serving: &Serving,
        memory: &mut Memory,
        emptied: &mut bool,
    ) -> Step {
        let Some(mut inbox) = sync::try_lock(&self.inbox) else {
            return Step::Over;
        };
        let is_alone = !*emptied && inbox.is_empty() && self.expects_plain_requests();
        if is_alone {
            let block = memory.empty_block(self.link());
            probe::begins!(Point::ServerReceive);
            let received = self.link().receive_now(block, inbox.least());
            probe::begins!(Point::ServerMessagingReceive);
            match received {
                Ok(None) => return self.rest(on, Wanted::Anything),
                Ok(Some(taken)) => *emptied = is_all(taken, turn),
                Err(error) => return self.is_over(turn, &error.into(), false),
            }
        }
        if is_alone || self.expects_plain_requests() && self.copy_short(&inbox, memory) {
            let (requests, limits) = (&mut memory.requests, self.orb.limits());
            let block = &mut memory.block;
            if let Some(request) = self.session.plain_request(requests, block, limits) {
                probe::begins!(Point::ServerTransportReceive);
                if !is_alone {
                    inbox.pass(block.len());
                }
                self.has_received(GiopVersion::V1_2, !inbox.is_empty());
                drop(inbox);
                let reply = &mut memory.reply;
                let serve = || self.serve_plain(block, &request, reply, serving);
                return self.in_turn(on, turn, serving, serve);
            }
            if is_alone {
                inbox.put(std::mem::take(block));
            }
        }
        match inbox.take(self.link()) {
            Ok(Taken::Message(message)) => {
                self.has_message(&message, inbox.is_mid_message());
                drop(inbox);
                self.in_turn(on, turn, serving, || self.handle(message, serving))
            }
            Ok(Taken::Need(_)) if *emptied => {
                let wanted = self.wanted(inbox.is_mid_message());
                inbox.let_go();
                self.rest(on, wanted)
            }
            Ok(Taken::Need(need)) => match inbox.receive_now(self.link(), need) {
                Ok(None) => {
                    let wanted = self.wanted(inbox.is_mid_message());
                    inbox.let_go();
                    self.rest(on, wanted)
                }
                Ok(Some(taken)) => {
                    *emptied = is_all(taken, turn);
                    Step::On
                }
                Err(error) => self.is_over(turn, &error.into(), inbox.is_mid_message()),
            },
            Err(error) => self.is_over(turn, &error, inbox.is_mid_message()),
        }
    }

    /// Serves a message with the connection in hand.
    #[inline]
    fn in_turn(
        &self,
        on: &OnReactor,
        turn: &mut ReadyEvent<'_>,
        serving: &Serving,
        serve: impl FnOnce(),
    ) -> Step {
        let mark = on.take_in_hand(self.number_received());
        serving.has_in_hand(mark);
        serve();
        if on.put_down(mark) {
            return Step::On;
        }
        turn.disown();
        Step::Over
    }

    fn wanted(&self, mid_message: bool) -> Wanted {
        match (mid_message, self.is_heard()) {
            (true, _) => Wanted::Rest(self.number_received()),
            (false, true) => Wanted::Anything,
            (false, false) => Wanted::First,
        }
    }

    #[inline]
    fn rest(&self, on: &OnReactor, wanted: Wanted) -> Step {
        // The reactor waits for what comes next.
        probe::begins!(Point::ServerReceive);
        on.rest(self, wanted);
        Step::Over
    }

    fn is_over(&self, turn: &ReadyEvent<'_>, error: &InboxError, mid_message: bool) -> Step {
        self.end(error, mid_message);
        turn.deregister();
        Step::Over
    }

    /// Ends the connection if the peer has taken too long; whether it has.
    fn is_given_up(&self, on: &OnReactor) -> bool {
        match on.late() {
            None => return false,
            Some(Late::Writing) => {
                let error = punctual_link::SendError {
                    error: LinkError::timed_out(Phase::Send),
                    sent: 0,
                };
                self.has_not_sent(&error);
            }
            Some(Late::Reading) => {
                let error = LinkError::timed_out(Phase::Receive);
                let inbox = sync::try_lock(&self.inbox);
                let mid_message = inbox.is_some_and(|inbox| inbox.is_mid_message());
                self.end(&error.into(), mid_message);
            }
        }
        true
    }
}

/// Whether a receive has emptied the socket; not where the end was told of, which comes behind.
fn is_all(taken: punctual_link::Taken, turn: &ReadyEvent<'_>) -> bool {
    taken.all && !turn.readiness().has(Readiness::END)
}
