//! Ways of making a call, and the result that its caller gets.

use super::fixture::{Near, Pair, moved};
use super::generated::intercepted::{Account, AccountDepositError, Refused};
use super::recorder::{Planned, Recorder, Records};
use punctual::bridge::{Bridge, BridgeOptions};
use punctual::dynamic::{InvokeError, Request};
use punctual::{
    Any, CompletionStatus, Interface, ListenEndpoint, ObjectRef, Orb, SystemException,
    SystemExceptionKind as Kind, TypeCode, Typed,
};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Call by a stub, sent as a GIOP request.
    Wire,
    /// The same by a reference whose last call has succeeded, on the fast path.
    WireAgain,
    /// Call by a stub on an object of the process, without a request.
    Local,
    /// Asynchronous request, whose reply is awaited afterwards.
    Asynchronous,
    /// Request built at run time (DII).
    Dynamic,
    /// Request passed on by a bridge.
    Bridged,
}

/// Operation for the test to call, named by its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Operation that returns normally.
    Deposit,
    /// Operation that raises a user exception.
    Refused,
    /// Operation that raises a system exception.
    Fail,
    /// Operation that panics.
    Panic,
}

/// Result of a call, as the caller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Got {
    Results,
    Refused,
    System(Kind, u32, CompletionStatus),
}

impl From<&SystemException> for Got {
    fn from(exception: &SystemException) -> Self {
        Self::System(exception.kind(), exception.minor(), exception.completed())
    }
}

/// Client and server with recording interceptors: `c1` and `c2` at the client, `s1` and `s2` at the
/// server.
pub(crate) struct Recorded {
    pub(crate) way: Way,
    pub(crate) pair: Pair,
    pub(crate) records: Arc<Records>,
    bridge: Option<(Orb, Bridge)>,
}

impl Recorded {
    pub(crate) fn new(way: Way) -> Self {
        let records = Arc::new(Records::default());
        let recorder = |name| Arc::new(Recorder(name, records.clone()));
        let server = Orb::builder()
            .server_interceptor(recorder("s1"))
            .server_interceptor(recorder("s2"));
        let client = Orb::builder()
            .client_interceptor(recorder("c1"))
            .client_interceptor(recorder("c2"));
        let near = match way {
            Way::Local => Near::WithinProcess,
            _ => Near::ByWire,
        };
        let pair = Pair::new(near, server, client);
        let bridge = (way == Way::Bridged).then(|| {
            let orb = Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0));
            let orb = orb
                .configure(|config| {
                    config.collocation_scope = punctual::policy::CollocationScope::Orb
                })
                .build()
                .unwrap();
            let target = moved(pair.account.as_object(), &orb);
            let bridge = Bridge::new(&orb, &target, &BridgeOptions::default()).unwrap();
            (orb, bridge)
        });
        Self {
            way,
            pair,
            records,
            bridge,
        }
    }

    /// Returns the reference by which the caller reaches the server's object: a reference of the
    /// client's ORB, through the bridge if there is one.
    pub(crate) fn reference(&self, of: &Account) -> ObjectRef {
        match &self.bridge {
            None => self.pair.as_client(of.as_object()),
            Some((_, bridge)) => {
                let key = of.as_object().object_key().unwrap();
                let through = bridge.reference_to(of.as_object().type_id(), &key);
                self.pair.as_client(&through.unwrap())
            }
        }
    }

    pub(crate) fn call(&self, ask: Ask, planned: Planned) -> Got {
        let object = self.reference(&self.pair.account);
        if self.way == Way::WireAgain {
            let account = Account::from_object(object.clone());
            assert_eq!(now(&account, Ask::Deposit), Got::Results);
            self.records.take("");
        }
        self.records.plan(planned);
        match self.way {
            Way::Dynamic => dynamically(&object, ask),
            Way::Asynchronous => later(&Account::from_object(object), ask),
            Way::Wire | Way::WireAgain | Way::Local | Way::Bridged => {
                now(&Account::from_object(object), ask)
            }
        }
    }

    pub(crate) fn end(self) {
        if let Some((orb, _)) = self.bridge {
            orb.shutdown(true).unwrap();
        }
        self.pair.end();
    }
}

fn of_deposit(result: Result<i32, AccountDepositError>) -> Got {
    match result {
        Ok(_) => Got::Results,
        Err(AccountDepositError::Refused(_)) => Got::Refused,
        Err(AccountDepositError::System(exception)) => Got::from(&exception),
    }
}

fn of_nothing(result: Result<(), SystemException>) -> Got {
    result.map_or_else(|exception| Got::from(&exception), |()| Got::Results)
}

pub(crate) fn now(account: &Account, ask: Ask) -> Got {
    match ask {
        Ask::Deposit => of_deposit(account.deposit(1)),
        Ask::Refused => of_deposit(account.deposit(-1)),
        Ask::Fail => of_nothing(account.fail()),
        Ask::Panic => of_nothing(account.panic()),
    }
}

pub(crate) fn later(account: &Account, ask: Ask) -> Got {
    match ask {
        Ask::Deposit => of_deposit(account.sendp_deposit(1).wait()),
        Ask::Refused => of_deposit(account.sendp_deposit(-1).wait()),
        Ask::Fail => of_nothing(account.sendp_fail().wait()),
        Ask::Panic => of_nothing(account.sendp_panic().wait()),
    }
}

fn dynamically(object: &ObjectRef, ask: Ask) -> Got {
    let mut request = match ask {
        Ask::Deposit | Ask::Refused => {
            let amount = if ask == Ask::Deposit { 1 } else { -1 };
            let mut request = Request::new(object, "deposit");
            request.add_in("amount", Any::new(&amount).unwrap());
            request.set_return_type(&TypeCode::LONG);
            request.add_exception(&Refused::type_code());
            request
        }
        Ask::Fail => Request::new(object, "fail"),
        Ask::Panic => Request::new(object, "panic"),
    };
    match request.invoke() {
        Ok(()) => Got::Results,
        Err(InvokeError::User(_)) => Got::Refused,
        Err(InvokeError::System(exception)) => Got::from(&exception),
    }
}
