//! Requests that are built at run time, whose responses go to handlers (`Request::sendc`).

use super::Pair;
use super::generated::asynchronous::{Clerk, Refused};
use super::handler_objects::{Told, third_party};
use super::support::watchdog;
use punctual::description::{OperationDescription, ParameterDescription, ParameterMode};
use punctual::dynamic::{InvokeError, Request};
use punctual::{Any, Interface, Orb, SystemExceptionKind as Kind, TypeCode, Typed};
use std::sync::mpsc;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

fn adds(clerk: &Clerk, a: i32, b: i32) -> Request {
    let mut request = Request::new(clerk, "add");
    request
        .add_in("a", Any::new(&a).unwrap())
        .add_in("b", Any::new(&b).unwrap())
        .set_return_type(&TypeCode::LONG);
    request
}

fn copies(clerk: &Clerk, number: i32) -> Request {
    let mut request = Request::new(clerk, "copies");
    request
        .add_in("text", Any::new("ab").unwrap())
        .add_inout("number", Any::new(&number).unwrap())
        .add_out("many", &TypeCode::BOOLEAN)
        .set_return_type(&TypeCode::STRING)
        .add_exception(&Refused::type_code());
    request
}

#[test]
fn a_closure_is_given_the_request_with_its_results_once() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::over_tcp();
    let (say, heard) = mpsc::channel();
    let handler = || {
        let say = say.clone();
        move |request: Request, outcome: Result<(), InvokeError>| {
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            say.send((request, outcome, name)).unwrap();
        }
    };
    adds(&pair.clerk, 1, 2).sendc_with(handler()).unwrap();
    let (request, outcome, thread) = heard.recv().unwrap();
    outcome.unwrap();
    assert_eq!(request.return_value().extract::<i32>().unwrap(), 3);
    assert!(thread.starts_with("punctual-replies"), "{thread}");
    copies(&pair.clerk, 2).sendc_with(handler()).unwrap();
    let (request, outcome, _) = heard.recv().unwrap();
    outcome.unwrap();
    assert_eq!(request.return_value().extract::<String>().unwrap(), "abab");
    assert!(request.argument(2).unwrap().extract::<bool>().unwrap());
    copies(&pair.clerk, 0).sendc_with(handler()).unwrap();
    let (_, outcome, _) = heard.recv().unwrap();
    assert!(matches!(outcome, Err(InvokeError::User(_))), "{outcome:?}");
    // A request without a value is not sent, and no handler is called.
    let add = OperationDescription {
        name: "add".to_owned(),
        parameters: vec![ParameterDescription {
            name: "a".to_owned(),
            type_code: TypeCode::LONG,
            mode: ParameterMode::In,
        }],
        ..OperationDescription::default()
    };
    let unsent = Request::of(&pair.clerk, &add).sendc_with(handler());
    assert_eq!(unsent.unwrap_err().kind(), Kind::BadParam);
    // Each handler is called once.
    pair.end();
    drop(say);
    assert!(heard.recv().is_err());
}

#[test]
fn a_handler_object_of_another_orb_takes_the_response_of_a_dynamic_request() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::over_tcp();
    let (third, handler, heard) = third_party();
    let handler = pair.client.string_to_object(&handler).unwrap();
    let told = || heard.recv().unwrap().0;

    adds(&pair.clerk, 1, 2).sendc(&handler).unwrap();
    assert_eq!(told(), Told::Sum(3));
    copies(&pair.clerk, 2).sendc(&handler).unwrap();
    assert_eq!(told(), Told::Copies("abab".to_owned(), 0, true));
    copies(&pair.clerk, 0).sendc(&handler).unwrap();
    let refused = told();
    assert!(matches!(refused, Told::Refused(_)), "{refused:?}");
    let mut rate = Request::new(&pair.clerk, "_set_rate");
    rate.add_in("rate", Any::new(&9).unwrap());
    rate.sendc(&handler).unwrap();
    assert_eq!(told(), Told::RateSet);
    let mut rate = Request::new(&pair.clerk, "_get_rate");
    rate.set_return_type(&TypeCode::LONG);
    rate.sendc(&handler).unwrap();
    assert_eq!(told(), Told::Rate(9));
    third.shutdown(true).unwrap();
    pair.end();
}

#[test]
fn the_end_of_an_orb_tells_the_handlers_of_dynamic_requests() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::over_tcp();
    let (say, heard) = mpsc::channel();
    let mut waits = Request::new(&pair.clerk, "wait_at");
    waits
        .add_in("gate", Any::new("gate").unwrap())
        .set_return_type(&TypeCode::LONG);
    waits
        .sendc_with(move |_, outcome| say.send(outcome).unwrap())
        .unwrap();
    let text = pair.client.object_to_string(&pair.clerk).unwrap();
    pair.client.shutdown(false).unwrap();
    let Err(InvokeError::System(failed)) = heard.recv().unwrap() else {
        panic!("it has results");
    };
    assert_eq!(failed.kind(), Kind::CommFailure);
    assert!(heard.recv().is_err());
    let other = Orb::builder().build().unwrap();
    let clerk = Clerk::from_object(other.string_to_object(&text).unwrap());
    clerk.open("gate").unwrap();
    other.shutdown(true).unwrap();
    pair.server.shutdown(true).unwrap();
}
