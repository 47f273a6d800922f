//! References and skeletons of interfaces with multiple inheritance whose bases share a common
//! base.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::any::{AnyError, TypeCodeError};
use punctual::dyn_any::DynAnyError;
use punctual::dynamic::InvokeError;
use punctual::poa::{
    AdapterInactive, CreatePoaError, Current, DispatchError, FindPoaError, IorTableError,
    ManagerError, ManagerExists, NoContext, OperationDemultiplexing, PoaError, PoaPolicy,
};
use punctual::policy::Collocation;
use punctual::value::CdrError;
use punctual::{
    CompletionStatus, FixedError, Interface, ListenEndpoint, ObjectId, OperationError, Orb, Poa,
    RootPoa, SystemException, SystemExceptionKind as Kind,
};
use punctual_idl_tests::families::family::{
    Bottom, BottomServant, Described, DescribedServant, Left, LeftServant, Refused, Right,
    RightServant, Root, RootOfRootError, RootServant,
};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use support::watchdog;

#[derive(Default)]
struct Thing(AtomicI32);

impl RootServant for Thing {
    fn state(&self) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::Relaxed))
    }

    fn set_state(&self, value: i32) -> Result<(), SystemException> {
        self.0.store(value, Ordering::Relaxed);
        Ok(())
    }

    fn of_root(&self, n: i32) -> Result<i32, RootOfRootError> {
        match n {
            0 => Err(Refused {
                why: "nothing".to_owned(),
            }
            .into()),
            n if n < 0 => Err(SystemException::from(Kind::Transient).into()),
            n => Ok(n + 1),
        }
    }
}

impl LeftServant for Thing {
    fn of_left(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n + 2)
    }
}

impl RightServant for Thing {
    fn of_right(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n + 3)
    }
}

impl DescribedServant for Thing {
    fn description(&self) -> Result<String, SystemException> {
        Ok("a thing".to_owned())
    }
}

impl BottomServant for Thing {
    fn of_bottom(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n + 4)
    }
}

fn poa(way: Collocation, how: OperationDemultiplexing) -> Poa {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.collocation = way)
        .build()
        .unwrap();
    let root = orb.root_poa().unwrap();
    root.manager().activate().unwrap();
    let policies = [PoaPolicy::OperationDemultiplexing(how)];
    root.create_poa("family", Some(root.manager()), &policies)
        .unwrap()
}

#[test]
fn every_operation_of_every_base_is_found_in_whatever_way() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in [Collocation::None, Collocation::ThruPoa] {
        for how in [
            OperationDemultiplexing::Compiled,
            OperationDemultiplexing::Linear,
            OperationDemultiplexing::DynamicHash,
        ] {
            let poa = poa(way, how);
            let bottom: Bottom = poa.activate(Thing::default()).unwrap();
            assert_eq!(bottom.of_bottom(1).unwrap(), 5);
            assert_eq!(bottom.of_left(1).unwrap(), 3);
            assert_eq!(bottom.of_right(1).unwrap(), 4);
            assert_eq!(bottom.of_root(1).unwrap(), 2);
            bottom.set_state(7).unwrap();
            assert_eq!(bottom.state().unwrap(), 7);
            assert_eq!(bottom.description().unwrap(), "a thing");
            let unknown = bottom.as_object().is_a("IDL:family/Nobody:1.0").unwrap();
            assert!(!unknown);
            for id in Bottom::REPOSITORY_IDS {
                assert!(bottom.as_object().is_a(id).unwrap(), "{id}");
            }
            poa.orb().shutdown(true).unwrap();
        }
    }
}

#[test]
fn a_reference_stands_for_each_of_its_bases() {
    let poa = poa(Collocation::None, OperationDemultiplexing::Compiled);
    let bottom: Bottom = poa.activate(Thing::default()).unwrap();
    // The first base by reference, and its own base.
    let left: &Left = &bottom;
    let root: &Root = &bottom;
    assert_eq!((left.of_left(0).unwrap(), root.of_root(2).unwrap()), (2, 3));
    // All bases as references of their own.
    assert_eq!(Left::from(bottom.clone()).of_left(0).unwrap(), 2);
    assert_eq!(Right::from(bottom.clone()).of_right(0).unwrap(), 3);
    assert_eq!(Root::from(bottom.clone()).of_root(2).unwrap(), 3);
    let described = Described::from(bottom.clone());
    assert_eq!(described.description().unwrap(), "a thing");
    assert_eq!(Bottom::REPOSITORY_IDS[0], "IDL:family/Bottom:1.0");
    let mut ids = Bottom::REPOSITORY_IDS.to_vec();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 5, "each once");
    poa.orb().shutdown(true).unwrap();
}

/// Conversions from the errors of the API that `?` needs in a servant and in a servant manager.
trait AnyOfTheApi:
    From<SystemException>
    + From<Kind>
    + From<CdrError>
    + From<AnyError>
    + From<TypeCodeError>
    + From<FixedError>
    + From<PoaError>
    + From<CreatePoaError>
    + From<FindPoaError>
    + From<ManagerError>
    + From<ManagerExists>
    + From<AdapterInactive>
    + From<NoContext>
    + From<IorTableError>
    + From<InvokeError>
    + From<DynAnyError>
{
}

impl AnyOfTheApi for RootOfRootError {}
impl AnyOfTheApi for DispatchError {}

#[test]
fn errors_of_the_api_are_exceptions_by_a_question_mark() {
    fn id_of_no_upcall<E: AnyOfTheApi>() -> Result<ObjectId, E> {
        Ok(Current.object_id()?)
    }
    let error = id_of_no_upcall::<RootOfRootError>().unwrap_err();
    assert_eq!(seen(&error).0, Some(Kind::BadInvOrder));
    let error = id_of_no_upcall::<DispatchError>().unwrap_err();
    assert!(
        matches!(&error, DispatchError::System(exception) if exception.kind() == Kind::BadInvOrder)
    );
}

/// Returns the kind of system exception, the transience and the completion status of an error, read
/// by code that is generic over the errors of all operations.
fn seen<E: OperationError>(error: &E) -> (Option<Kind>, bool, CompletionStatus) {
    let kind = error.system().map(SystemException::kind);
    (kind, error.is_transient(), error.completed())
}

#[test]
fn errors_of_all_operations_are_looked_at_alike() {
    let poa = poa(Collocation::None, OperationDemultiplexing::Compiled);
    let bottom: Bottom = poa.activate(Thing::default()).unwrap();
    let refused = bottom.of_root(0).unwrap_err();
    assert_eq!(seen(&refused), (None, false, CompletionStatus::Yes));
    assert!(matches!(&refused, RootOfRootError::Refused(Refused { why }) if why == "nothing"));
    let (kind, is_transient, _) = seen(&bottom.of_root(-1).unwrap_err());
    assert_eq!((kind, is_transient), (Some(Kind::Transient), true));
    // A call that may have been done must not be repeated, even if the exception calls the failure
    // temporary.
    for (completed, can_be_repeated) in [
        (CompletionStatus::No, true),
        (CompletionStatus::Maybe, false),
        (CompletionStatus::Yes, false),
    ] {
        let exception = SystemException::new(Kind::Transient, 0, completed);
        assert_eq!(exception.is_transient(), can_be_repeated, "{completed:?}");
        let error = RootOfRootError::from(exception);
        assert_eq!(error.is_transient(), can_be_repeated, "{completed:?}");
    }
    poa.orb().shutdown(true).unwrap();
    let over = bottom.of_left(1).unwrap_err();
    assert_eq!(seen(&over).0, Some(over.kind()));
}
