//! Dynamic servants and deferred dynamic requests, as interceptors see them (CORBA 3.3 part 1,
//! §16.3.8).

use super::closures::{AtClient, AtServer};
use super::fixture::{Near, Pair};
use super::generated::intercepted::{Account, AccountDepositError, Refused};
use super::support::watchdog;
use punctual::description::{
    ExceptionDescription, OperationDescription, ParameterDescription, ParameterMode,
};
use punctual::dynamic::{
    DynamicImplementation, InvokeError, Request, ServerRequest, dynamic_servant,
};
use punctual::interceptor::{ClientRequestInfo, ServerRequestInfo};
use punctual::poa::{DispatchError, Dispatched};
use punctual::{Any, Interface, Orb, SystemExceptionKind as Kind, TypeCode, Typed, minor};
use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

type Heard = Arc<Mutex<Vec<String>>>;

/// Servant of the interface `Account`, without generated code.
#[derive(Default)]
struct Vault {
    describes: bool,
    /// True if another thread answers.
    answers_later: bool,
    /// True if the servant ignores errors in reading the arguments.
    is_stubborn: bool,
}

fn deposit() -> OperationDescription {
    OperationDescription {
        name: "deposit".to_owned(),
        result: TypeCode::LONG,
        parameters: vec![ParameterDescription {
            name: "amount".to_owned(),
            type_code: TypeCode::LONG,
            mode: ParameterMode::In,
        }],
        exceptions: vec![ExceptionDescription {
            name: "Refused".to_owned(),
            id: "IDL:intercepted/Refused:1.0".to_owned(),
            type_code: Refused::type_code(),
        }],
        ..OperationDescription::default()
    }
}

impl DynamicImplementation for Vault {
    fn primary_interface(&self) -> Cow<'_, str> {
        Account::REPOSITORY_ID.into()
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        match request.operation() {
            "deposit" => {
                let arguments = match self.describes {
                    true => request.arguments_of(&deposit()),
                    false => request.arguments(&[TypeCode::LONG]),
                };
                let amount = match arguments {
                    Err(_) if self.is_stubborn => 7,
                    arguments => arguments?[0].extract::<i32>().unwrap(),
                };
                if self.answers_later {
                    let (response, deferred) = request.answer_later()?;
                    std::thread::spawn(move || match amount {
                        0.. => response.reply(vec![Any::new(&(2 * amount)).unwrap()]),
                        _ => {
                            let why = "negative".to_owned();
                            let refused = Any::new(&Refused { why }).unwrap();
                            response.raise(InvokeError::User(refused))
                        }
                    });
                    return Ok(deferred);
                }
                if amount < 0 {
                    let why = "negative".to_owned();
                    return request.raise(&Any::new(&Refused { why })?);
                }
                request.reply(&[Any::new(&(2 * amount))?])
            }
            // Answered without reading the arguments, of which there are none.
            "slot" => request.reply(&[Any::new(&5)?]),
            _ => Err(request.bad_operation()),
        }
    }
}

/// Makes a server with the interceptor `at_server` and an account object with a dynamic servant.
fn account<F>(vault: Vault, at_server: F) -> (Pair, Account)
where
    F: Fn(&str, &mut ServerRequestInfo<'_>) -> Result<(), punctual::interceptor::InterceptorError>
        + Send
        + Sync
        + 'static,
{
    let at_server = AtServer(
        move |point: &'static str, info: &mut ServerRequestInfo<'_>| at_server(point, info),
    );
    let server = Orb::builder().server_interceptor(Arc::new(at_server));
    let pair = Pair::new(Near::ByWire, server, Orb::builder());
    let id = pair.poa.activate_object(dynamic_servant(vault)).unwrap();
    let object = pair
        .poa
        .create_object_with_id(&id, Account::REPOSITORY_ID)
        .unwrap();
    let account = Account::from_object(pair.as_client(&object));
    (pair, account)
}

fn assert_unknown<T>(asked: Result<T, punctual::SystemException>) {
    let unknown = asked.err().unwrap();
    let said = (unknown.kind(), unknown.minor());
    assert_eq!(said, (Kind::NoResources, minor::omg(1)));
}

#[test]
fn interceptors_see_what_a_servant_has_described_when_it_has_read_the_arguments() {
    let _watchdog = watchdog(LIMIT);
    for answers_later in [false, true] {
        interceptors_see_what_is_described(answers_later);
    }
}

fn interceptors_see_what_is_described(answers_later: bool) {
    let heard = Heard::default();
    let tell = heard.clone();
    let vault = Vault {
        describes: true,
        answers_later,
        ..Vault::default()
    };
    let (pair, account) = account(vault, move |point, info| {
        let say = |text: String| tell.lock().unwrap().push(text);
        let first = |info: &ServerRequestInfo<'_>| -> i32 {
            info.arguments().unwrap()[0].argument.extract().unwrap()
        };
        match point {
            "receive_request" => {
                let exceptions = info.exceptions()?.len();
                assert!(info.contexts()?.is_empty());
                say(format!("deposit {}, {exceptions} exceptions", first(info)));
            }
            "send_reply" => {
                let result: i32 = info.result()?.extract().unwrap();
                say(format!("{} gives {result}", first(info)));
            }
            "send_exception" => {
                let refused: Refused = info.sending_exception()?.extract().unwrap();
                say(format!("refused, as {}", refused.why));
            }
            _ => {}
        }
        Ok(())
    });
    assert_eq!(account.deposit(4).unwrap(), 8);
    let refused = account.deposit(-4).unwrap_err();
    assert!(
        matches!(refused, AccountDepositError::Refused(_)),
        "{refused}"
    );
    let wanted = [
        "deposit 4, 1 exceptions",
        "4 gives 8",
        "deposit -4, 1 exceptions",
        "refused, as negative",
    ];
    assert_eq!(*heard.lock().unwrap(), wanted);
    pair.end();
}

#[test]
fn of_a_servant_that_names_types_alone_interceptors_see_the_arguments_alone() {
    let _watchdog = watchdog(LIMIT);
    let heard = Heard::default();
    let tell = heard.clone();
    let vault = Vault::default();
    let (pair, account) = account(vault, move |point, info| {
        if point == "receive_request" || point == "send_reply" {
            let arguments = info.arguments()?;
            let amount: i32 = arguments[0].argument.extract().unwrap();
            tell.lock().unwrap().push(format!("{point} {amount}"));
            assert_unknown(info.exceptions());
            assert_unknown(info.contexts());
            assert_unknown(info.operation_context());
        }
        if point == "send_reply" {
            assert_unknown(info.result());
        }
        Ok(())
    });
    assert_eq!(account.deposit(4).unwrap(), 8);
    assert_eq!(
        *heard.lock().unwrap(),
        ["receive_request 4", "send_reply 4"]
    );
    pair.end();
}

#[test]
fn a_request_is_seen_once_also_where_its_servant_does_not_read_the_arguments() {
    let _watchdog = watchdog(LIMIT);
    let heard = Heard::default();
    let tell = heard.clone();
    let vault = Vault {
        describes: true,
        ..Vault::default()
    };
    let (pair, account) = account(vault, move |point, info| {
        if point == "receive_request" {
            assert_unknown(info.arguments());
        }
        let said = format!("{} {point}", info.operation());
        tell.lock().unwrap().push(said);
        Ok(())
    });
    assert_eq!(account.slot().unwrap(), 5);
    assert_eq!(account.fail().unwrap_err().kind(), Kind::BadOperation);
    assert!(account.as_object().is_a(Account::REPOSITORY_ID).unwrap());
    let points = |operation: &str, end: &str| {
        ["receive_request_service_contexts", "receive_request", end]
            .map(|point| format!("{operation} {point}"))
    };
    let wanted = [
        points("slot", "send_reply"),
        points("fail", "send_exception"),
    ]
    .concat();
    let heard = heard.lock().unwrap();
    // The ORB answers the operations of every object, for any servant.
    assert_eq!(heard[..6], wanted);
    pair.end();
}

#[test]
fn what_an_interceptor_raises_as_the_arguments_are_read_is_the_answer_whatever_the_servant_does() {
    let _watchdog = watchdog(LIMIT);
    for (describes, is_stubborn) in [(true, false), (true, true), (false, false), (false, true)] {
        let vault = Vault {
            describes,
            is_stubborn,
            ..Vault::default()
        };
        let (pair, account) = account(vault, |point, _| match point {
            "receive_request" => Err(Kind::NoPermission.because("not this one").into()),
            _ => Ok(()),
        });
        match account.deposit(4).unwrap_err() {
            AccountDepositError::System(refused) => assert_eq!(refused.kind(), Kind::NoPermission),
            other => panic!("{other}"),
        }
        assert_eq!(account.slot().unwrap_err().kind(), Kind::NoPermission);
        assert_eq!(account.fail().unwrap_err().kind(), Kind::NoPermission);
        pair.end();
    }
}

#[test]
fn a_deferred_dynamic_request_tells_arguments_and_results() {
    let _watchdog = watchdog(LIMIT);
    let heard = Heard::default();
    let tell = heard.clone();
    let client = AtClient(move |point, info: &mut ClientRequestInfo<'_>| {
        let say = |text: String| tell.lock().unwrap().push(text);
        match point {
            "send_request" => {
                let amount: i32 = info.arguments()?[0].argument.extract().unwrap();
                say(format!(
                    "deposit {amount}, {} exceptions",
                    info.exceptions()?.len()
                ));
            }
            "receive_reply" => {
                let result: i32 = info.result()?.extract().unwrap();
                say(format!("gives {result}"));
            }
            _ => {}
        }
        Ok(())
    });
    let client = Orb::builder().client_interceptor(Arc::new(client));
    let pair = Pair::new(Near::ByWire, Orb::builder(), client);
    let mut request = Request::new(&pair.account(), "deposit");
    request
        .add_in("amount", Any::new(&5).unwrap())
        .set_return_type(&TypeCode::LONG)
        .add_exception(&Refused::type_code());
    request.send_deferred().unwrap();
    request.get_response().unwrap();
    assert_eq!(request.return_value().extract::<i32>().unwrap(), 5);
    let wanted = ["deposit 5, 1 exceptions", "gives 5"];
    assert_eq!(*heard.lock().unwrap(), wanted);
    pair.end();
}
