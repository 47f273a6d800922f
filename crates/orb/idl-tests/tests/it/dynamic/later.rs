//! Servants that know their interface at run time only, and answer later.

use crate::dynamic::generated::near::{Counter, CounterAddError, Refused};
use crate::dynamic::servant::Home;
use crate::support::watchdog;

use punctual::asynchronous::AnswerError;
use punctual::dynamic::{DynamicImplementation, InvokeError, Request, ServerRequest};
use punctual::dynamic::{MultipleRequests, dynamic_servant};
use punctual::poa::{DispatchError, Dispatched};
use punctual::policy::Collocation;
use punctual::{
    Any, Interface, ListenEndpoint, ObjectRef, Orb, Response, RootPoa, SystemExceptionKind as Kind,
    TypeCode, Typed, minor,
};
use std::borrow::Cow;
use std::io::Write;
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

type Waiting = Vec<(i32, Response<Vec<Any>, InvokeError>)>;

/// Servant of `Counter` whose requests are answered by the tests. Clones share it.
#[derive(Clone, Default)]
struct Desk(Arc<Mutex<Waiting>>);

impl DynamicImplementation for Desk {
    fn primary_interface(&self) -> Cow<'_, str> {
        Counter::REPOSITORY_ID.into()
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        let arguments = request.arguments(&[TypeCode::LONG])?;
        let by = arguments[0].extract().unwrap();
        let (response, deferred) = request.answer_later()?;
        self.0.lock().unwrap().push((by, response));
        Ok(deferred)
    }
}

impl Desk {
    /// Waits until so many requests have come, and takes them.
    fn take(&self, count: usize) -> Waiting {
        while self.0.lock().unwrap().len() < count {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Makes a counter whose requests come to the desk.
fn counter(home: &Home, desk: &Desk) -> Counter {
    let id = home.poa.activate_object(dynamic_servant(desk.clone()));
    let object = home.poa.create_object_with_id(&id.unwrap(), "").unwrap();
    Counter::from_object(object)
}

fn adds(counter: &Counter, by: i32) -> Request {
    let mut request = Request::new(counter, "add");
    request
        .add_in("by", Any::new(&by).unwrap())
        .set_return_type(&TypeCode::LONG)
        .add_exception(&Refused::type_code());
    request
}

#[test]
fn a_thousand_requests_wait_and_are_answered_in_any_order() {
    let _watchdog = watchdog(LIMIT);
    let (home, desk) = (Home::new(Collocation::None), Desk::default());
    let counter = counter(&home, &desk);
    let requests = (0..1_000).map(|by| adds(&counter, by)).collect();
    let mut sent = home.orb.send_multiple_requests_deferred(requests).unwrap();
    for (by, response) in desk.take(1_000).into_iter().rev() {
        assert!(response.is_awaited());
        response.reply(vec![Any::new(&(by * 2)).unwrap()]).unwrap();
    }
    for _ in 0..1_000 {
        let response = sent.get_next_response().unwrap();
        response.outcome.unwrap();
        let doubled = response.request.return_value().extract::<i32>().unwrap();
        assert_eq!(doubled, 2 * i32::try_from(response.index).unwrap());
    }
}

#[test]
fn an_answer_is_a_user_or_a_system_exception_too() {
    let _watchdog = watchdog(LIMIT);
    for way in [Collocation::None, Collocation::ThruPoa] {
        let (home, desk) = (Home::new(way), Desk::default());
        let counter = counter(&home, &desk);
        let answered = |answer: fn(Response<Vec<Any>, InvokeError>)| {
            let (counter, desk) = (counter.clone(), desk.clone());
            let calls = std::thread::spawn(move || counter.add(1));
            answer(desk.take(1).remove(0).1);
            calls.join().unwrap()
        };
        let refused = answered(|response| {
            let why = "later".to_owned();
            let refused = Any::new(&Refused { code: 3, why }).unwrap();
            response.raise(InvokeError::User(refused)).unwrap();
        });
        let Err(CounterAddError::Refused(refused)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((refused.code, &*refused.why), (3, "later"));
        let system = |answered: Result<i32, CounterAddError>| match answered {
            Err(CounterAddError::System(exception)) => exception,
            other => panic!("{other:?}"),
        };
        let failed = answered(|response| {
            response.fail(Kind::NoResources.because("full")).unwrap();
        });
        assert_eq!(system(failed).kind(), Kind::NoResources);
        let dropped = system(answered(drop));
        let not_answered = (Kind::NoResponse, minor::NOT_ANSWERED);
        assert_eq!((dropped.kind(), dropped.minor()), not_answered);
        // A value that is not an exception is reported, not raised.
        let odd = system(answered(|response| {
            let text = Any::new("no exception").unwrap();
            let _ = response.raise(InvokeError::User(text));
        }));
        assert_eq!(odd.kind(), Kind::BadParam);
    }
}

#[test]
fn one_way_requests_and_those_of_clients_that_are_gone_await_no_answer() {
    let _watchdog = watchdog(LIMIT);
    let (home, desk) = (Home::new(Collocation::None), Desk::default());
    let counter = counter(&home, &desk);
    counter.bump(4).unwrap();
    let (by, response) = desk.take(1).remove(0);
    assert_eq!((by, response.is_awaited()), (4, false));
    response.reply(Vec::new()).unwrap();
    let client = Orb::builder().build().unwrap();
    let text = home.orb.object_to_string(counter.as_object()).unwrap();
    let seen = Counter::from_object(client.string_to_object(&text).unwrap());
    let mut waits = adds(&seen, 5);
    waits.send_deferred().unwrap();
    let (_, response) = desk.take(1).remove(0);
    assert!(response.is_awaited());
    client.shutdown(false).unwrap();
    drop((waits, client));
    while response.is_awaited() {
        std::thread::sleep(Duration::from_millis(1));
    }
    response.reply(vec![Any::new(&5).unwrap()]).unwrap_err();
}

/// Returns a GIOP 1.2 request with an argument of the IDL type `long`.
fn request(object_key: &[u8], operation: &str, argument: i32) -> Vec<u8> {
    let mut body = Vec::new();
    let number = |body: &mut Vec<u8>, number: usize| {
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend_from_slice(&u32::try_from(number).unwrap().to_ne_bytes());
    };
    number(&mut body, 1);
    // The client waits for the reply; the target is an object key.
    body.extend_from_slice(&[3, 0, 0, 0, 0, 0, 0, 0]);
    number(&mut body, object_key.len());
    body.extend_from_slice(object_key);
    number(&mut body, operation.len() + 1);
    body.extend_from_slice(operation.as_bytes());
    body.push(0);
    number(&mut body, 0);
    // The GIOP header has 12 octets, and the arguments begin at a multiple of 8.
    body.resize((body.len() + 12).next_multiple_of(8) - 12, 0);
    body.extend_from_slice(&argument.to_ne_bytes());
    let mut message = b"GIOP\x01\x02".to_vec();
    message.extend_from_slice(&[u8::from(cfg!(target_endian = "little")), 0]);
    message.extend_from_slice(&u32::try_from(body.len()).unwrap().to_ne_bytes());
    message.extend_from_slice(&body);
    message
}

#[test]
fn an_answer_that_its_client_does_not_accept_in_time_is_told() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::default();
    let server = Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0));
    let server = server.configure(|config| {
        config.timeouts.reply = Some(Duration::from_millis(100));
    });
    let server = server.build().unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let id = poa.activate_object(dynamic_servant(desk.clone())).unwrap();
    let object: ObjectRef = poa.id_to_reference(&id).unwrap();
    let key = object.object_key().unwrap();
    let mut client = TcpStream::connect(&server.endpoints()[0].place).unwrap();
    client.write_all(&request(&key, "add", 7)).unwrap();
    let (by, response) = desk.take(1).remove(0);
    assert_eq!(by, 7);
    // More than the kernel takes for a client that reads nothing.
    let long = Any::new(&vec![0_u8; 48 << 20]).unwrap();
    assert_eq!(response.reply(vec![long]), Err(AnswerError::NobodyWaits));
    drop(client);
    server.shutdown(true).unwrap();
}
