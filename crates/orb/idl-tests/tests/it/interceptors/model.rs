//! Expected calls, computed from the rules (CORBA 3.3 part 1, §16.3.3 to §16.3.10) without the ORB.

use super::recorder::{Called, Point, RAISED};
use super::ways::{Ask, Got, Way};
use punctual::interceptor::ReplyStatus as Status;
use punctual::{CompletionStatus as Completed, SystemExceptionKind as Kind};

/// Action of an interceptor at an interception point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Raise,
    Panic,
    Forward,
}

/// Action that one interceptor takes once, at one point; `None` for no action.
pub(crate) type Plan = Option<(&'static str, Point, Act)>;

/// Outcome of a request, as the test's model predicts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    Results,
    User,
    System(Kind, u32, Completed),
    Forward,
    Sent,
}

pub(crate) struct Model {
    plan: Plan,
    pub(crate) called: Vec<Called>,
    way: Way,
    ask: Ask,
}

/// Minor codes of Punctual for an interceptor and for a servant that has panicked.
const INTERCEPTOR_PANICKED: u32 = punctual::minor::INTERCEPTOR_PANICKED;
const SERVANT_PANICKED: u32 = punctual::minor::SERVANT_PANICKED;

impl Model {
    pub(crate) fn new(way: Way, ask: Ask, plan: Plan) -> Self {
        let called = Vec::new();
        Self {
            plan,
            called,
            way,
            ask,
        }
    }

    /// Computes the calls of the interceptors, and returns the result that the caller gets.
    pub(crate) fn call(&mut self) -> Got {
        loop {
            match self.attempt() {
                Came::Results | Came::Sent => return Got::Results,
                Came::User => return Got::Refused,
                Came::System(kind, minor, completed) => return Got::System(kind, minor, completed),
                Came::Forward => {}
            }
        }
    }

    fn attempt(&mut self) -> Came {
        let (begun, interrupted) = self.begin(&["c1", "c2"], Point::SendRequest);
        if let Some(came) = interrupted {
            return self.end(&begun, came, false);
        }
        let mut came = self.serve();
        // A bridge follows a forward, and its client does not see it.
        while self.way == Way::Bridged && came == Came::Forward {
            came = self.serve();
        }
        if self.way != Way::Asynchronous {
            return self.end(&begun, came, false);
        }
        // The caller goes on; an interceptor may prevent that.
        match self.end(&begun, Came::Sent, false) {
            Came::Sent => {}
            other => return other,
        }
        let (begun, interrupted) = self.begin(&["c1", "c2"], Point::SendPoll);
        self.end(&begun, interrupted.unwrap_or(came), false)
    }

    fn serve(&mut self) -> Came {
        let (begun, interrupted) = self.begin(&["s1", "s2"], Point::ReceiveContexts);
        if let Some(came) = interrupted {
            return self.end(&begun, came, true);
        }
        for name in &begun {
            if let Some(came) = self.turn(name, Point::ReceiveRequest, None) {
                return self.end(&begun, came, true);
            }
        }
        let came = match self.ask {
            Ask::Deposit => Came::Results,
            Ask::Refused => Came::User,
            Ask::Fail => Came::System(Kind::BadParam, 7, Completed::Yes),
            Ask::Panic => Came::System(Kind::Unknown, SERVANT_PANICKED, Completed::Maybe),
        };
        self.end(&begun, came, true)
    }

    /// Runs the starting points, in order. Returns the interceptors whose starting point succeeded,
    /// and the outcome with which an interceptor replaced the call, if one did.
    fn begin(&mut self, all: &[&'static str], point: Point) -> (Vec<&'static str>, Option<Came>) {
        let mut begun = Vec::new();
        for name in all {
            if let Some(came) = self.turn(name, point, None) {
                return (begun, Some(came));
            }
            begun.push(*name);
        }
        (begun, None)
    }

    /// Runs the ending points of the given interceptors, in the reverse order. Returns the final
    /// outcome.
    fn end(&mut self, begun: &[&'static str], mut came: Came, is_server: bool) -> Came {
        for name in begun.iter().rev() {
            let (point, status) = match (came, is_server) {
                (Came::Results, false) => (Point::ReceiveReply, Status::Successful),
                (Came::Results, true) => (Point::SendReply, Status::Successful),
                (Came::User, false) => (Point::ReceiveException, Status::UserException),
                (Came::User, true) => (Point::SendException, Status::UserException),
                (Came::System(..), false) => (Point::ReceiveException, Status::SystemException),
                (Came::System(..), true) => (Point::SendException, Status::SystemException),
                (Came::Forward, false) => (Point::ReceiveOther, Status::LocationForward),
                (Came::Forward, true) => (Point::SendOther, Status::LocationForward),
                (Came::Sent, false) => (Point::ReceiveOther, Status::Successful),
                (Came::Sent, true) => (Point::SendOther, Status::Successful),
            };
            if let Some(other) = self.turn(name, point, Some((status, came))) {
                came = other;
            }
        }
        came
    }

    /// Runs one interceptor at one point, given the request's outcome so far. Returns the outcome
    /// with which the interceptor replaces it, if it does.
    fn turn(
        &mut self,
        name: &'static str,
        point: Point,
        before: Option<(Status, Came)>,
    ) -> Option<Came> {
        self.called
            .push((name, point, before.map(|(status, _)| status)));
        let (who, at, act) = self.plan?;
        if (who, at) != (name, point) {
            return None;
        }
        self.plan = None;
        let completed = match before {
            None => Completed::No,
            Some((_, Came::Results | Came::User)) => Completed::Yes,
            Some((_, Came::System(_, _, completed))) => completed,
            Some((_, Came::Forward)) => Completed::No,
            Some((_, Came::Sent)) => Completed::Maybe,
        };
        Some(match act {
            Act::Raise => Came::System(Kind::NoPermission, RAISED, completed),
            Act::Panic => Came::System(Kind::Unknown, INTERCEPTOR_PANICKED, completed),
            Act::Forward => Came::Forward,
        })
    }
}
