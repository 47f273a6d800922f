//! A server that has all that an ORB may be given: interceptors, priorities, callbacks by its clients' connections.

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

/// A service context that says at which point something is to be done, and what: an octet each.
pub(super) const TELLS: u32 = 0x4655_5a01;
/// How many points there are.
pub(super) const POINTS: u8 = 5;
/// What may be done there: raise, forward, panic, or say something in the reply.
pub(super) const DEEDS: u8 = 4;

/// The highest priority that clients may ask for, and the highest that there is.
const HIGHEST: i16 = 100;
const EXISTING: i16 = 1000;

/// See the module.
pub(super) struct Full {
    pub(super) server: Server,
    /// An object whose clients say at which priority they are served.
    decided: Every,
    /// And one where the server says it.
    pub(super) declared: Every,
}

/// An object whose clients say at which priority they are served.
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
        let [decided, declared] = with_priorities(&server.orb);
        Self {
            server,
            decided,
            declared,
        }
    }
}

/// Calls what a request refers to: within the process, where that is an object of this ORB's, or nobody.
fn calls(call: &mut ServerCall<'_>) {
    let object = ObjectRef::unmarshal(call.arguments());
    if let Ok(object) = object
        && let Err(error) = Every::from_object(object).ping()
    {
        assert!(!error.to_string().is_empty());
    }
}

/// Objects of which the client, or the server, says at which priority they are served.
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
    // One that the machine has not.
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

/// Real-time CORBA of which nothing reaches the machine: threads stay as they are.
pub(crate) fn flat_priorities() -> Arc<RtOrb> {
    priorities(None, Some(DynamicScheduling::default()))
}

/// The same, whose priorities are others at the server.
pub(crate) fn priorities_that_change() -> Arc<RtOrb> {
    priorities(Some(Arc::new(Changes)), Some(DynamicScheduling::default()))
}

/// Adds one, and takes none of them.
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

/// All priorities are one to the machine, up to those that there are not.
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

/// Interceptors that do what requests say.
pub(crate) fn watches() -> Arc<dyn OrbInitializer> {
    Arc::new(Watches::default())
}

/// Looks at all there is at each point, and does what a request says.
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

    /// Where nothing can be forwarded.
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
        // No hook of anybody's sees it: libFuzzer's ends the process.
        2 => resume_unwind(Box::new("as the request says")),
        _ => Ok(info.add_reply_service_context(TELLS, b"told", what == DEEDS - 1)?),
    }
}

/// What may not be asked at this point is an error with a text.
fn look(info: &ServerRequestInfo<'_>) {
    fn is_told<T>(asked: Result<T, SystemException>) {
        assert!(asked.is_ok() || asked.is_err_and(|error| !error.to_string().is_empty()));
    }
    assert!(!format!("{info:?} {:?}", info.sync_scope()).is_empty());
    is_told(info.arguments());
    is_told(info.exceptions());
    is_told(info.contexts());
    is_told(info.operation_context());
    is_told(info.result());
    is_told(info.reply_status());
    is_told(info.forward_reference());
    is_told(info.get_reply_service_context(TELLS));
    is_told(info.sending_exception());
    is_told(info.sending_exception_id());
    is_told(info.object_id());
    is_told(info.adapter_name());
    is_told(info.target_most_derived_interface());
    is_told(info.target_is_a("IDL:other:1.0"));
    is_told(info.get_server_policy(TELLS));
}
