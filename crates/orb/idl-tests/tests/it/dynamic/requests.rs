//! Dynamic requests, built argument by argument or from the interface's description.

use crate::dynamic::generated::near::Refused;
use crate::dynamic::servant::{Home, Register};
use crate::support::watchdog;
use punctual::description::{OperationDescription, ParameterDescription, ParameterMode};
use punctual::dynamic::{InvokeError, Request};
use punctual::policy::Collocation;
use punctual::{
    Any, Context, ObjectRef, SystemException, SystemExceptionKind as Kind, TypeCode, Typed, minor,
};
use std::time::Duration;

fn long(value: i32) -> Any {
    Any::new(&value).unwrap()
}

fn octets() -> TypeCode {
    TypeCode::sequence(&TypeCode::OCTET, 0)
}

fn system(error: InvokeError) -> SystemException {
    match error {
        InvokeError::System(exception) => exception,
        InvokeError::User(exception) => panic!("a user exception: {exception:?}"),
    }
}

#[test]
fn a_request_is_put_together_and_made_again_and_again() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in [Collocation::None, Collocation::ThruPoa] {
        let home = Home::new(way);
        let mut request = Request::new(&home.register, "add");
        request
            .add_in("by", long(2))
            .set_return_type(&TypeCode::LONG);
        for sum in [2, 4, 6] {
            request.invoke().unwrap();
            assert_eq!(request.return_value().extract::<i32>(), Ok(sum));
        }
        request.set_argument(0, long(10)).unwrap();
        request.invoke().unwrap();
        assert_eq!(request.return_value().extract::<i32>(), Ok(16));
        assert_eq!(request.argument(0).unwrap().extract::<i32>(), Ok(10));
    }
}

#[test]
fn what_comes_back_replaces_what_went_out() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::None);
    let mut request = Request::new(&home.register, "several");
    request
        .add_inout("data", Any::new(&vec![1u8, 2]).unwrap())
        .add_out("first", &TypeCode::STRING)
        .add_inout("how", long(0))
        .set_return_type(&octets());
    request.invoke().unwrap();
    let text: String = request.argument(1).unwrap().extract().unwrap();
    assert_eq!(text, "first");
    let data = |request: &Request| request.argument(0).unwrap().extract::<Vec<u8>>();
    assert_eq!(data(&request), Ok(vec![1, 2, 7]));
    assert_eq!(request.argument(2).unwrap().extract::<i32>(), Ok(99));
    assert_eq!(request.return_value().extract::<Vec<u8>>(), Ok(vec![1, 2]));
    // An exception leaves all values unchanged.
    request.add_exception(&Refused::type_code());
    assert!(matches!(request.invoke(), Err(InvokeError::User(_))));
    assert_eq!(data(&request), Ok(vec![1, 2, 7]));
}

#[test]
fn exceptions_of_the_list_are_values_and_others_unknown() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::None);
    let mut request = Request::new(&home.register, "add");
    request
        .add_in("by", long(-5))
        .set_return_type(&TypeCode::LONG);
    let unlisted = system(request.invoke().unwrap_err());
    assert_eq!(unlisted.kind(), Kind::Unknown);
    assert_eq!(unlisted.minor(), minor::UNLISTED_USER_EXCEPTION);
    request.add_exception(&Refused::type_code());
    match request.invoke().unwrap_err() {
        InvokeError::User(exception) => {
            let refused: Refused = exception.extract().unwrap();
            assert_eq!((refused.code, &*refused.why), (-5, "as asked for"));
        }
        InvokeError::System(exception) => panic!("{exception}"),
    }
    let mut request = Request::new(&home.register, "fail");
    request.add_in("hard", Any::new(&false).unwrap());
    assert_eq!(
        system(request.invoke().unwrap_err()).kind(),
        Kind::NoPermission
    );
    let mut request = Request::new(&home.register, "nonsense");
    assert_eq!(
        system(request.invoke().unwrap_err()).kind(),
        Kind::BadOperation
    );
}

#[test]
fn attributes_references_contexts_and_one_ways_are_requests_too() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::None);
    let mut set = Request::new(&home.register, "_set_label");
    set.add_in("value", Any::new("äöü").unwrap());
    set.invoke().unwrap();
    let mut get = Request::new(&home.register, "_get_label");
    get.set_return_type(&TypeCode::STRING);
    get.invoke().unwrap();
    assert_eq!(get.return_value().extract::<String>().unwrap(), "äöü");

    let object: &ObjectRef = punctual::Interface::as_object(&home.register);
    let mut same = Request::new(object, "same");
    same.add_in("other", object.to_any().unwrap())
        .set_return_type(&Register::type_code());
    same.invoke().unwrap();
    let returned = ObjectRef::extracted(same.return_value()).unwrap().unwrap();
    assert!(returned.is_equivalent(object));
    let typed: Option<Register> = same.return_value().extract().unwrap();
    assert_eq!(typed.as_ref(), Some(&home.register));

    let mut asked = Request::new(object, "asked");
    let mut context = Context::new();
    context.set("user.name", "ada");
    context.set("other", "stays");
    asked
        .set_context(&["user.*", "exact"], context)
        .set_return_type(&TypeCode::STRING);
    asked.invoke().unwrap();
    let heard: String = asked.return_value().extract().unwrap();
    assert_eq!(heard, "user.name=ada");

    let mut bump = Request::new(object, "bump");
    bump.add_in("by", long(3));
    bump.send_oneway().unwrap();
    // A call that follows on the same connection is answered after it.
    while home.register.count().unwrap() != 3 {}
}

#[test]
fn a_request_of_a_description_says_what_is_wrong_with_an_argument() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::None);
    let operation = OperationDescription {
        name: "add".to_owned(),
        result: TypeCode::LONG,
        parameters: vec![ParameterDescription {
            name: "by".to_owned(),
            type_code: TypeCode::LONG,
            mode: ParameterMode::In,
        }],
        ..OperationDescription::default()
    };
    let mut request = Request::of(&home.register, &operation);
    let refused = system(request.invoke().unwrap_err());
    assert_eq!(refused.kind(), Kind::BadParam);
    assert!(
        refused.to_string().contains("`by` has no value"),
        "{refused}"
    );
    let refused = request
        .set_argument(0, Any::new("two").unwrap())
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("`by` is of type long, not string"),
        "{refused}"
    );
    let refused = request.set_argument(1, long(2)).unwrap_err();
    assert!(
        refused.to_string().contains("`add` has no argument 1"),
        "{refused}"
    );
    request.set_argument(0, long(2)).unwrap();
    request.invoke().unwrap();
    *request.argument_mut(0).unwrap() = Any::new("two").unwrap();
    assert_eq!(system(request.invoke().unwrap_err()).kind(), Kind::BadParam);
    let mut out = Request::new(&home.register, "bump");
    out.add_out("by", &TypeCode::LONG);
    assert_eq!(out.send_oneway().unwrap_err().kind(), Kind::BadParam);
}
