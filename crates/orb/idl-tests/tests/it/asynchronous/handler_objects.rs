//! Reply handlers that are objects: servants without a POA, objects of the client's own, objects of
//! another ORB (CORBA 3.3 part 1, §17.8).

use super::generated::asynchronous::{
    AmiClerkHandler, AmiClerkHandlerServant, AmiSeniorHandler, AmiSeniorHandlerServant, Clerk,
    ClerkCopiesError, Senior, SeniorServant,
};
use super::support::watchdog;
use super::{Behind, Pair, collocated};
use punctual::messaging::{ExceptionHolder, ReplyHandler, ReplyHandlerServant};
use punctual::policy::Collocation;
use punctual::{
    Interface, ListenEndpoint, Orb, RootPoa, SystemException, SystemExceptionKind as Kind,
};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// Call that a reply handler received, with its arguments.
#[derive(Debug, PartialEq)]
pub(super) enum Told {
    Sum(i32),
    Copies(String, i32, bool),
    Refused(String),
    Rate(i32),
    RateSet,
    Failed(&'static str, Kind),
}

/// Reply handler that reports the calls received to the test.
pub(super) struct Handler {
    say: mpsc::Sender<(Told, String)>,
}

impl Handler {
    pub(super) fn new() -> (Self, mpsc::Receiver<(Told, String)>) {
        let (say, heard) = mpsc::channel();
        (Self { say }, heard)
    }

    fn say(&self, told: Told) -> Result<(), SystemException> {
        let name = thread::current().name().unwrap_or_default().to_owned();
        self.say.send((told, name)).unwrap();
        Ok(())
    }

    fn failed(
        &self,
        what: &'static str,
        holder: Option<&ExceptionHolder>,
    ) -> Result<(), SystemException> {
        let exception: SystemException = holder.unwrap().exception();
        self.say(Told::Failed(what, exception.kind()))
    }
}

impl ReplyHandlerServant for Handler {}

impl AmiClerkHandlerServant for Handler {
    fn get_rate(&self, ami_return_val: i32) -> Result<(), SystemException> {
        self.say(Told::Rate(ami_return_val))
    }

    fn get_rate_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.failed("get_rate", holder)
    }

    fn set_rate(&self) -> Result<(), SystemException> {
        self.say(Told::RateSet)
    }

    fn set_rate_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.failed("set_rate", holder)
    }

    fn add(&self, ami_return_val: i32) -> Result<(), SystemException> {
        self.say(Told::Sum(ami_return_val))
    }

    fn add_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.failed("add", holder)
    }

    fn copies(&self, ami_return_val: &str, number: i32, many: bool) -> Result<(), SystemException> {
        self.say(Told::Copies(ami_return_val.to_owned(), number, many))
    }

    fn copies_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        let holder = holder.unwrap();
        match holder.raise::<ClerkCopiesError>() {
            Err(ClerkCopiesError::Refused(refused)) => {
                assert!(!holder.is_system_exception());
                self.say(Told::Refused(refused.why))
            }
            Err(ClerkCopiesError::System(exception)) => {
                self.say(Told::Failed("copies", exception.kind()))
            }
        }
    }

    fn back(&self, _: &[u8]) -> Result<(), SystemException> {
        Ok(())
    }

    fn back_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.failed("back", holder)
    }

    fn wait_at(&self, ami_return_val: i32) -> Result<(), SystemException> {
        self.say(Told::Sum(ami_return_val))?;
        // The exception is not delivered, and nothing ends.
        Err(Kind::NoPermission.because("on purpose"))
    }

    fn wait_at_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.failed("wait_at", holder)
    }

    fn open(&self) -> Result<(), SystemException> {
        panic!("a handler, on purpose")
    }

    fn open_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.failed("open", holder)
    }

    fn self_or_nil(&self, ami_return_val: Option<&Clerk>) -> Result<(), SystemException> {
        let sum = ami_return_val.map_or(Ok(0), |clerk| clerk.add(40, 2))?;
        self.say(Told::Sum(sum))
    }

    fn self_or_nil_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.failed("self_or_nil", holder)
    }

    fn stumble(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn stumble_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        assert!(holder.unwrap().is_system_exception());
        self.failed("stumble", holder)
    }
}

impl AmiSeniorHandlerServant for Handler {
    fn sendc_add(&self, ami_return_val: i32) -> Result<(), SystemException> {
        self.say(Told::Sum(ami_return_val))
    }

    fn sendc_add_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.failed("sendc_add", holder)
    }

    fn deputy(&self, _: Option<&Clerk>) -> Result<(), SystemException> {
        Ok(())
    }

    fn deputy_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.failed("deputy", holder)
    }
}

/// Makes a call of each kind, and checks the outcome.
macro_rules! every_reply_arrives {
    ($clerk:expr, $handler:expr, $heard:expr) => {{
        let (clerk, heard) = ($clerk, $heard);
        clerk.sendc_add($handler, 1, 2);
        clerk.sendc_copies($handler, "ab", &2);
        clerk.sendc_copies($handler, "ab", &0);
        clerk.sendc_set_rate($handler, 7);
        clerk.sendc_stumble($handler);
        clerk.sendc_self_or_nil($handler, Some(clerk));
        let mut told: Vec<Told> = heard.iter().take(6).map(|(told, _)| told).collect();
        clerk.sendc_get_rate($handler);
        told.push(heard.recv().unwrap().0);
        for expected in [
            Told::Sum(3),
            Told::Copies("abab".to_owned(), 0, true),
            Told::Refused("no copies of ab".to_owned()),
            Told::RateSet,
            Told::Failed("stumble", Kind::Unknown),
            Told::Sum(42),
            Told::Rate(7),
        ] {
            assert!(
                told.contains(&expected),
                "{expected:?} is not among {told:?}"
            );
        }
    }};
}

#[test]
fn a_servant_without_a_poa_takes_every_reply() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let (handler, heard) = Handler::new();
    let handler = Arc::new(handler);
    every_reply_arrives!(&pair.clerk, handler.clone(), &heard);
    let handler: Arc<dyn AmiClerkHandlerServant> = handler;
    pair.clerk.sendc_add(handler, 5, 5);
    let (told, thread) = heard.recv().unwrap();
    assert_eq!(told, Told::Sum(10));
    assert!(thread.starts_with("punctual-replie"), "{thread}");
    pair.end();
}

#[test]
fn an_object_of_the_clients_own_takes_every_reply() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for way in [Collocation::ThruPoa, Collocation::Direct, Collocation::None] {
        let (orb, clerk) = collocated(way);
        let (handler, heard) = Handler::new();
        let handler: AmiClerkHandler = orb.root_poa().unwrap().activate(handler).unwrap();
        every_reply_arrives!(&clerk, &handler, &heard);
        orb.shutdown(true).unwrap();
    }
}

/// Makes an ORB whose only object is a reply handler; returns the ORB, the handler's stringified
/// reference, and the calls that the handler receives.
pub(super) fn third_party() -> (Orb, String, mpsc::Receiver<(Told, String)>) {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    let (handler, heard) = Handler::new();
    let handler: AmiClerkHandler = poa.activate(handler).unwrap();
    poa.manager().activate().unwrap();
    let text = orb.object_to_string(&handler).unwrap();
    (orb, text, heard)
}

#[test]
fn an_object_of_another_orb_takes_every_reply() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let (third, handler, heard) = third_party();
    let handler = pair.client.string_to_object(&handler).unwrap();
    let handler = AmiClerkHandler::narrow(handler).unwrap();
    assert!(
        handler
            .as_object()
            .is_a(ReplyHandler::REPOSITORY_ID)
            .unwrap()
    );
    every_reply_arrives!(&pair.clerk, &handler, &heard);
    pair.end();
    third.shutdown(true).unwrap();
}

#[test]
fn handlers_that_raise_panic_or_are_gone_end_nothing_else() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let (third, gone, _) = third_party();
    third.shutdown(true).unwrap();
    let gone = AmiClerkHandler::from_object(pair.client.string_to_object(&gone).unwrap());
    pair.clerk.sendc_add(&gone, 1, 1);
    let (handler, heard) = Handler::new();
    let handler = Arc::new(handler);
    // The first handler panics, the second raises.
    pair.clerk.sendc_open(handler.clone(), "gate");
    pair.clerk.sendc_wait_at(handler.clone(), "gate");
    assert_eq!(heard.recv().unwrap().0, Told::Sum(4));
    pair.clerk.sendc_add(handler, 1, 1);
    assert_eq!(heard.recv().unwrap().0, Told::Sum(2));
    pair.end();
}

/// Servant of an interface derived from `Clerk`; it passes inherited operations to the clerk that
/// it contains.
struct Elder(Arc<Behind>);

mod elder {
    //! Operations inherited from `Clerk`, passed to the contained clerk.
    use super::*;
    use crate::asynchronous::generated::asynchronous::ClerkServant;

    impl ClerkServant for Elder {
        fn rate(&self) -> Result<i32, SystemException> {
            self.0.rate()
        }
        fn set_rate(&self, value: i32) -> Result<(), SystemException> {
            self.0.set_rate(value)
        }
        fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
            self.0.add(a, b)
        }
        fn copies(&self, text: &str, number: &mut i32) -> Result<(String, bool), ClerkCopiesError> {
            self.0.copies(text, number)
        }
        fn back(&self, data: &[u8]) -> Result<Vec<u8>, SystemException> {
            self.0.back(data)
        }
        fn wait_at(&self, gate: &str) -> Result<i32, SystemException> {
            self.0.wait_at(gate)
        }
        fn open(&self, gate: &str) -> Result<(), SystemException> {
            self.0.open(gate)
        }
        fn self_or_nil(&self, other: Option<&Clerk>) -> Result<Option<Clerk>, SystemException> {
            self.0.self_or_nil(other)
        }
        fn stumble(&self) -> Result<(), SystemException> {
            self.0.stumble()
        }
        fn note(&self, text: &str) -> Result<(), SystemException> {
            self.0.note(text)
        }
    }
}

impl SeniorServant for Elder {
    fn sendc_add(&self, number: i32) -> Result<i32, SystemException> {
        Ok(-number)
    }

    fn deputy(&self) -> Result<Option<Clerk>, SystemException> {
        Ok(None)
    }
}

#[test]
fn a_derived_handler_takes_replies_to_what_is_inherited() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let (orb, _) = collocated(Collocation::None);
    let poa = orb.root_poa().unwrap();
    let senior: Senior = poa.activate(Elder(Arc::default())).unwrap();
    let (handler, heard) = Handler::new();
    let handler: AmiSeniorHandler = poa.activate(handler).unwrap();
    // The interface itself has an operation of this name.
    senior.sendc_sendc_add(&handler, 12);
    assert_eq!(heard.recv().unwrap().0, Told::Sum(-12));
    let base: &AmiClerkHandler = &handler;
    every_reply_arrives!(&*senior, base, &heard);
    let root = ReplyHandler::from(handler);
    assert!(
        root.as_object()
            .is_a(AmiSeniorHandler::REPOSITORY_ID)
            .unwrap()
    );
    orb.shutdown(true).unwrap();
}
