//! Client with all features of an ORB: interceptors, priorities, scheduling segments, end times.

use crate::generated::all_types::Every;
use crate::server::{decided, flat_priorities};
use crate::wire::Slices;
use punctual::interceptor::{
    ClientRequestInfo, ClientRequestInterceptor, InterceptorError, OrbInitInfo, OrbInitializer,
    SlotId,
};
use punctual::policy::{CollocationScope, PriorityRange, QueueOrder};
use punctual::rt::{Priority, RtOrb, SchedulingParameter};
use punctual::{Interface, Orb, Policy, SetOverride, SystemException, SystemExceptionKind as Kind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

/// Service context of a reply that tells the client's interceptor what to do.
const TELLS: u32 = 0x4655_5a01;
/// Time limit that no step of this target reaches.
const LONG: Duration = Duration::from_secs(3600);

/// Client with all features of the ORB in use.
pub(super) struct Full {
    pub(super) every: Every,
    rt: Arc<RtOrb>,
}

pub(super) fn get() -> &'static Full {
    static FULL: OnceLock<Full> = OnceLock::new();
    FULL.get_or_init(|| {
        let rt = flat_priorities();
        let builder = Orb::builder()
            .link(Arc::new(Slices))
            .configure(|config| {
                config.client_protocols = vec![crate::wire::NAME.to_owned()];
                config.collocation_scope = CollocationScope::Orb;
                config.limits.message = 1 << 16;
                config.limits.nesting = 24;
            })
            .initializer(Arc::new(Watches::default()));
        let builder = rt.extend(builder).expect("no policy type is taken");
        let orb = builder.build().expect("the configuration is sound");
        let decided = decided();
        let text = decided.as_object().orb().object_to_string(decided);
        let object = text.and_then(|text| orb.string_to_object(&text));
        let policies = [
            Policy::ReplyEndTime(SystemTime::now() + LONG),
            Policy::QueueOrder(QueueOrder::PRIORITY),
            Policy::RequestPriority(PriorityRange { min: 1, max: 7 }),
        ];
        let object = object.expect("it is a reference");
        let object = object.set_policy_overrides(&policies, SetOverride::Add);
        Full {
            every: Every::from_object(object.expect("they can be obeyed")),
            rt,
        }
    })
}

impl Full {
    /// Runs the closure `does` within a scheduling segment of Real-time CORBA.
    pub(super) fn in_segment<R>(&self, does: impl FnOnce() -> R) -> R {
        let parameter = SchedulingParameter::FixedPriority(Priority::MIN);
        let current = self.rt.scheduling();
        let begun = current.begin_scheduling_segment("s", Some(parameter), None);
        begun.expect("it asks nothing of the machine");
        let done = does();
        current
            .end_scheduling_segment("s")
            .expect("it was begun here");
        done
    }
}

/// Interceptor that reads every item at each interception point, and does what a reply's service
/// context says.
#[derive(Default)]
struct Watches(OnceLock<SlotId>);

impl OrbInitializer for Watches {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        let slot = *self.0.get_or_init(|| info.allocate_slot_id());
        for _ in 0..2 {
            info.add_client_request_interceptor(Arc::new(Watch(slot)))?;
        }
        Ok(())
    }
}

struct Watch(SlotId);

impl Watch {
    /// Rejects a reply whose service context asks for that.
    fn at(&self, info: &ClientRequestInfo<'_>) -> Result<(), SystemException> {
        let _ = info.get_slot(self.0);
        look(info);
        match info.get_reply_service_context(TELLS) {
            Ok([0, ..]) => Err(Kind::NoPermission.because("as the reply says")),
            _ => Ok(()),
        }
    }
}

impl ClientRequestInterceptor for Watch {
    fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        look(info);
        Ok(info.add_request_service_context(TELLS, b"\x04\x03", true)?)
    }

    fn receive_reply(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), SystemException> {
        self.at(info)
    }

    fn receive_exception(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        Ok(self.at(info)?)
    }

    fn receive_other(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), InterceptorError> {
        Ok(self.at(info)?)
    }
}

/// Reads every item of the request; items that are unavailable at this interception point must be
/// errors with a text.
fn look(info: &ClientRequestInfo<'_>) {
    fn check_answer<T>(asked: Result<T, SystemException>) {
        assert!(asked.is_ok() || asked.is_err_and(|error| !error.to_string().is_empty()));
    }
    assert!(!format!("{info:?} {:?}", info.target_ior()).is_empty());
    check_answer(info.arguments());
    check_answer(info.exceptions());
    check_answer(info.contexts());
    check_answer(info.operation_context());
    check_answer(info.result());
    check_answer(info.reply_status());
    check_answer(info.forward_reference());
    check_answer(info.get_reply_service_context(TELLS));
    check_answer(info.received_exception());
    check_answer(info.received_exception_id());
    check_answer(info.effective_profile());
    check_answer(info.get_effective_component(1));
    check_answer(info.get_request_policy(TELLS));
}
