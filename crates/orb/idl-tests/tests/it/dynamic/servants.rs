//! Servants that know their interface at run time only, called through stubs.

use crate::dynamic::generated::near::{Counter, CounterAddError, Refused};
use crate::dynamic::servant::Home;
use crate::support::watchdog;

use punctual::dynamic::{DynamicImplementation, ServerRequest, dynamic_servant};
use punctual::poa::{Current, DispatchError, Dispatched};
use punctual::policy::Collocation;
use punctual::{Any, Interface, ObjectId, SystemExceptionKind as Kind, TypeCode};
use std::borrow::Cow;
use std::sync::Mutex;
use std::time::Duration;

/// Servant of the interface `Counter`, written without generated code.
#[derive(Default)]
struct DynamicCounter(Mutex<i32>);

impl DynamicImplementation for DynamicCounter {
    fn primary_interface(&self) -> Cow<'_, str> {
        match Current.object_id().unwrap().as_bytes() {
            b"other" => "IDL:near/Register:1.0".into(),
            _ => Counter::REPOSITORY_ID.into(),
        }
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        match request.operation() {
            "add" => {
                let arguments = request.arguments(&[TypeCode::LONG])?;
                let by: i32 = arguments[0].extract().unwrap();
                if by < 0 {
                    let why = "dynamically".to_owned();
                    return request.raise(&Any::new(&Refused { code: by, why })?);
                }
                *self.0.lock().unwrap() += by;
                let sum = *self.0.lock().unwrap();
                request.reply(&[Any::new(&sum)?])
            }
            "bump" => {
                let arguments = request.arguments(&[TypeCode::LONG])?;
                *self.0.lock().unwrap() += arguments[0].extract::<i32>().unwrap();
                request.reply(&[])
            }
            "_get_count" => request.reply(&[Any::new(&*self.0.lock().unwrap())?]),
            "_get_label" => request.raise(&Any::new("no exception")?),
            _ => Err(request.bad_operation()),
        }
    }
}

#[test]
fn stubs_call_a_dynamic_servant_like_any_other() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::ThruPoa);
    let servant = dynamic_servant(DynamicCounter::default());
    let id = home.poa.activate_object(servant).unwrap();
    let object = home
        .poa
        .create_object_with_id(&id, Counter::REPOSITORY_ID)
        .unwrap();
    let counter = Counter::narrow(object).unwrap();
    assert_eq!(counter.add(3).unwrap(), 3);
    counter.bump(4).unwrap();
    while counter.count().unwrap() != 7 {}
    match counter.add(-1).unwrap_err() {
        CounterAddError::Refused(refused) => assert_eq!(refused.why, "dynamically"),
        CounterAddError::System(exception) => panic!("{exception}"),
    }
    // A value that is not an exception is reported, not raised.
    assert_eq!(counter.label().unwrap_err().kind(), Kind::BadParam);
    assert_eq!(
        counter.set_label("x").unwrap_err().kind(),
        Kind::BadOperation
    );
}

/// Misbehaving servant: it keeps the [`Dispatched`] token of one answered request, and returns it
/// for the next request without answering that.
#[derive(Default)]
struct Silent(Mutex<Option<Dispatched>>);

impl DynamicImplementation for Silent {
    fn primary_interface(&self) -> Cow<'_, str> {
        Counter::REPOSITORY_ID.into()
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        if let Some(proof) = self.0.lock().unwrap().take() {
            return Ok(proof);
        }
        *self.0.lock().unwrap() = Some(request.as_call().reply(|_| Ok(()))?);
        request.reply(&[Any::new(&1)?])
    }
}

#[test]
fn a_caller_whom_nobody_answers_is_told() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::None);
    let servant = dynamic_servant(Silent::default());
    let id = home.poa.activate_object(servant).unwrap();
    let object = home.poa.create_object_with_id(&id, "").unwrap();
    let counter = Counter::from_object(object);
    assert_eq!(counter.count().unwrap(), 1);
    assert_eq!(counter.count().unwrap_err().kind(), Kind::Internal);
    assert_eq!(counter.count().unwrap(), 1);
}

#[test]
fn each_object_of_a_dynamic_servant_may_be_of_another_interface() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::None);
    let poa = home
        .poa
        .create_poa(
            "dynamic",
            Some(home.poa.manager()),
            &[
                punctual::poa::PoaPolicy::IdAssignment(punctual::poa::IdAssignmentPolicy::User),
                punctual::poa::PoaPolicy::IdUniqueness(punctual::poa::IdUniquenessPolicy::Multiple),
                punctual::poa::PoaPolicy::RequestProcessing(
                    punctual::poa::RequestProcessingPolicy::DefaultServant,
                ),
            ],
        )
        .unwrap();
    poa.set_servant(dynamic_servant(DynamicCounter::default()))
        .unwrap();
    let object = |name: &str| {
        let id = ObjectId::from(name);
        poa.create_object_with_id(&id, "").unwrap()
    };
    let register = "IDL:near/Register:1.0";
    for (name, is_register) in [("one", false), ("other", true)] {
        let object = object(name);
        assert_eq!(object.is_a(register).unwrap(), is_register);
        assert_eq!(object.is_a(Counter::REPOSITORY_ID).unwrap(), !is_register);
        assert!(!object.non_existent().unwrap());
    }
}
