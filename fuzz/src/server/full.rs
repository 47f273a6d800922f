//! Server with all features of an ORB: interceptors, priorities, callbacks on its clients'
//! connections.

use super::raw::{ByHand, Raw};
use super::{PROTOCOLS, Server, with_objects_and};
use crate::generated::all_types::Every;
use crate::wire::Slices;
use punctual::interceptor::{
    InterceptorError, OrbInitInfo, OrbInitializer, ServerRequestInfo, ServerRequestInterceptor,
    SlotId,
};
use punctual::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
use punctual::policy::Bidirectional;
use punctual::rt::{
    DynamicScheduling, Mapping, PriorityMapping, PriorityModelPolicy, PriorityTransform,
    Propagated, RtConfig, RtOrb,
};
use punctual::stub::{ServerCall, Unmarshal};
use punctual::{
    Any, Interface, ListenEndpoint, ObjectRef, Orb, RootPoa, SystemException,
    SystemExceptionKind as Kind,
};
use punctual_orb::{AboveHighest, NativePolicy, Priority};
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};

/// Id of the service context that selects an interception point and the action there, by an octet
/// each.
pub(super) const TELLS: u32 = 0x4655_5a01;
/// Number of actions that a request can select: raise, forward, panic, or add a context to the
/// reply.
pub(super) const DEEDS: u8 = 4;

/// Highest priority that clients may ask for, and highest priority that exists.
const HIGHEST: i16 = 100;
const EXISTING: i16 = 1000;

/// Server with all features of the ORB in use.
pub(super) struct Full {
    pub(super) server: Server,
    /// Object served at the priority that its clients propagate.
    decided: Every,
}

/// Returns an object served at the priority that its clients propagate.
pub(crate) fn decided() -> &'static Every {
    &get().decided
}

pub(super) fn get() -> &'static Full {
    static FULL: OnceLock<Full> = OnceLock::new();
    FULL.get_or_init(|| {
        let rt = flat_priorities();
        let builder = Orb::builder().link(Arc::new(Slices)).configure(|config| {
            config.client_protocols = vec![PROTOCOLS[0].to_owned()];
            config.limits.message = 1 << 16;
            config.limits.nesting = 24;
            config.fragment_size = 1024;
            config.bidirectional = Bidirectional::Both;
            config.budgets.pending_replies_per_connection = 4;
        });
        let mut builder = rt
            .extend(builder.initializer(watches()))
            .expect("no policy type is taken");
        for protocol in PROTOCOLS {
            builder = builder.listen(ListenEndpoint::new(protocol, "full"));
        }
        Full::of(builder.build().expect("the configuration is sound"))
    })
}

impl Full {
    pub(super) fn of(orb: Orb) -> Self {
        let server = with_objects_and(orb, &[("b", calls)]);
        let [decided, _] = with_priorities(&server.orb);
        Self { server, decided }
    }
}

/// Calls the object that a request's argument refers to. If it is an object of this ORB, the call
/// stays within the process; otherwise it fails.
fn calls(call: &mut ServerCall<'_>) {
    let object = ObjectRef::unmarshal(call.arguments());
    if let Ok(object) = object
        && let Err(error) = Every::from_object(object).ping()
    {
        assert!(!error.to_string().is_empty());
    }
}

/// Returns two objects: one with client-propagated and one with server-declared priorities.
pub(crate) fn with_priorities(orb: &Orb) -> [Every; 2] {
    let root = orb.root_poa().expect("there is a root");
    let models = [
        ("q", PriorityModelPolicy::client_propagated(priority(5))),
        ("d", PriorityModelPolicy::server_declared(priority(7))),
    ];
    let create = |name, model| {
        let policies = [
            PoaPolicy::Lifespan(LifespanPolicy::Persistent),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
            PoaPolicy::of(model),
        ];
        root.create_poa(name, Some(root.manager()), &policies)
    };
    // A priority that the machine has not.
    let none = PriorityModelPolicy::server_declared(priority(EXISTING + 1));
    assert!(create("none", none).is_err());
    models.map(|(name, model)| {
        let poa = create(name, model).expect("the policies fit");
        poa.activate_with_id(&"r".into(), ByHand(Raw))
            .expect("nothing is active yet")
    })
}

fn priority(number: i16) -> Priority {
    Priority::new(number).expect("it is not negative")
}

/// Returns Real-time CORBA settings that leave the native priorities of threads unchanged.
pub(crate) fn flat_priorities() -> Arc<RtOrb> {
    priorities(None, Some(DynamicScheduling::default()))
}

/// Returns settings that leave native priorities unchanged, with a transform that changes CORBA
/// priorities at the server.
pub(crate) fn priorities_that_change() -> Arc<RtOrb> {
    priorities(Some(Arc::new(Changes)), Some(DynamicScheduling::default()))
}

/// Transform that adds one to a priority, and refuses one that would become [`HIGHEST`].
#[derive(Debug)]
struct Changes;

impl PriorityTransform for Changes {
    fn inbound(&self, priority: Priority) -> Option<Priority> {
        Priority::new(priority.get() + 1)
            .ok()
            .filter(|changed| changed.get() != HIGHEST)
    }
}

pub(super) fn priorities(
    transform: Option<Arc<dyn PriorityTransform>>,
    dynamic_scheduling: Option<DynamicScheduling>,
) -> Arc<RtOrb> {
    let rt = RtOrb::new(RtConfig {
        policy: NativePolicy::Other,
        mapping: Mapping::Custom(Arc::new(Flat)),
        propagated: Propagated {
            highest: priority(HIGHEST),
            above: AboveHighest::Refuse,
        },
        transform,
        dynamic_scheduling,
        ..RtConfig::default()
    });
    rt.expect("nothing is asked of the machine")
}

/// Mapping of all valid CORBA priorities to native priority 0.
#[derive(Debug)]
struct Flat;

impl PriorityMapping for Flat {
    fn to_native(&self, priority: Priority) -> Option<i32> {
        (priority.get() <= EXISTING).then_some(0)
    }

    fn to_corba(&self, _: i32) -> Option<Priority> {
        Some(priority(0))
    }
}

/// Returns interceptors that do what the service contexts of requests say.
pub(crate) fn watches() -> Arc<dyn OrbInitializer> {
    Arc::new(Watches::default())
}

/// Interceptor that reads every item at each interception point, and does what a request's service
/// context says.
#[derive(Default)]
struct Watches(OnceLock<SlotId>);

impl OrbInitializer for Watches {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        let slot = *self.0.get_or_init(|| info.allocate_slot_id());
        for _ in 0..2 {
            info.add_server_request_interceptor(Arc::new(Watch(slot)))?;
        }
        Ok(())
    }
}

struct Watch(SlotId);

impl Watch {
    fn at(&self, point: u8, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        let told = info.get_request_service_context(TELLS);
        let _ = info.set_slot(self.0, Any::default());
        let _ = info.get_slot(self.0);
        look(info);
        match told {
            Ok([wanted, what, ..]) if *wanted == point => deed(*what, info),
            _ => Ok(()),
        }
    }

    /// Does what a request's service context says, at an interception point that allows no forward.
    fn raised(&self, point: u8, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        self.at(point, info).map_err(|error| match error {
            InterceptorError::System(exception) => exception,
            InterceptorError::ForwardRequest(_) => Kind::Transient.because("no forward from here"),
        })
    }
}

impl ServerRequestInterceptor for Watch {
    fn receive_request_service_contexts(
        &self,
        info: &mut ServerRequestInfo<'_>,
    ) -> Result<(), InterceptorError> {
        self.at(0, info)
    }

    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        self.at(1, info)
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        self.raised(2, info)
    }

    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        self.at(3, info)
    }

    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        self.at(4, info)
    }
}

fn deed(what: u8, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
    match what % DEEDS {
        0 => Err(Kind::NoPermission.because("as the request says").into()),
        1 => Err(InterceptorError::forward(&get().server.raw)),
        // `resume_unwind` calls no panic hook: libFuzzer's would end the process.
        2 => resume_unwind(Box::new("as the request says")),
        _ => Ok(info.add_reply_service_context(TELLS, b"told", what == DEEDS - 1)?),
    }
}

/// Reads every item of the request; items that are unavailable at this interception point must be
/// errors with a text.
fn look(info: &ServerRequestInfo<'_>) {
    fn check_answer<T>(asked: Result<T, SystemException>) {
        assert!(asked.is_ok() || asked.is_err_and(|error| !error.to_string().is_empty()));
    }
    assert!(!format!("{info:?} {:?}", info.sync_scope()).is_empty());
    check_answer(info.arguments());
    check_answer(info.exceptions());
    check_answer(info.contexts());
    check_answer(info.operation_context());
    check_answer(info.result());
    check_answer(info.reply_status());
    check_answer(info.forward_reference());
    check_answer(info.get_reply_service_context(TELLS));
    check_answer(info.sending_exception());
    check_answer(info.sending_exception_id());
    check_answer(info.object_id());
    check_answer(info.adapter_name());
    check_answer(info.target_most_derived_interface());
    check_answer(info.target_is_a("IDL:other:1.0"));
    check_answer(info.get_server_policy(TELLS));
}
