//! Upcalls at the priorities that the priority models of their adapters require (Real-time CORBA
//! 1.2, §5.7).

use crate::context;
use crate::distributable::InSegment;
use crate::orb::{RtOrb, without_native};
use crate::priority_model::PriorityModelPolicy;
use crate::thread::{self, SavedState};
use punctual_cdr::CdrError;
use punctual_giop::ServiceContexts;
use punctual_ior::PriorityModel;
use punctual_orb::{
    AdapterPolicies, AroundUpcall, AroundUpcalls, CompletionStatus, InvalidPolicy, ObeyedWord,
    Policy, PolicyType, Priority, ServerCall, SystemException, SystemExceptionKind as Kind,
    Urgency, minor, timeline,
};
use std::sync::Arc;

/// Hook that makes the upcalls of POAs with a priority model run at the priorities that the model
/// requires.
#[derive(Debug)]
pub(crate) struct ByPriorityModel(pub(crate) Arc<RtOrb>);

impl AroundUpcalls for ByPriorityModel {
    fn of(
        &self,
        policies: &AdapterPolicies,
    ) -> Result<Option<Arc<dyn AroundUpcall>>, InvalidPolicy> {
        let model = self.model(policies)?;
        let Some(dynamic) = self.0.dynamic() else {
            return Ok(model);
        };
        let policy = policies.value::<PriorityModelPolicy>();
        Ok(Some(Arc::new(InSegment {
            rt: self.0.clone(),
            dynamic: dynamic.clone(),
            model,
            clients_decide: policy.is_none_or(|one| one.model == PriorityModel::ClientPropagated),
        })))
    }
}

impl ByPriorityModel {
    /// Returns the actions around upcalls that the adapter's priority model requires, if it has
    /// one.
    fn model(
        &self,
        policies: &AdapterPolicies,
    ) -> Result<Option<Arc<dyn AroundUpcall>>, InvalidPolicy> {
        let Some(policy) = policies.value::<PriorityModelPolicy>() else {
            return Ok(None);
        };
        let (rt, policy) = (self.0.clone(), *policy);
        if rt
            .priority_mapping()
            .to_native(policy.server_priority)
            .is_none()
        {
            let is_it = |one: &Policy| one.policy_type() == PriorityModelPolicy::NUMBER;
            return Err(InvalidPolicy {
                index: policies.iter().position(is_it).unwrap_or_default(),
                why: without_native(policy.server_priority),
            });
        }
        let obeys_as_carried =
            policy.model == PriorityModel::ClientPropagated && rt.transform().is_none();
        Ok(Some(Arc::new(AtPriority {
            obeys_as_carried,
            rt,
            policy,
        })))
    }
}

/// Action that runs an upcall at the priority that the model requires, and then restores the
/// thread's own priority.
#[derive(Debug)]
struct AtPriority {
    /// True if an upcall's priority depends only on the priority that the request carries.
    obeys_as_carried: bool,
    rt: Arc<RtOrb>,
    policy: PriorityModelPolicy,
}

impl AroundUpcall for AtPriority {
    fn enter(&self, call: Option<&mut ServerCall<'_>>) -> Result<u64, SystemException> {
        self.entered(call).map(SavedState::number)
    }

    fn obeyed_word(&self) -> Option<ObeyedWord> {
        self.obeys_as_carried.then(|| context::obeyed(&self.rt))
    }

    fn urgency(&self, contexts: ServiceContexts<'_>) -> Urgency {
        let carried = match self.policy.model {
            PriorityModel::ServerDeclared => None,
            PriorityModel::ClientPropagated => context::carried(&contexts),
        };
        // An invalid priority is reported when the request is served.
        let wanted = carried.and_then(|data| Priority::new(context::decoded(data).ok()?).ok());
        let wanted = wanted.map(|wanted| wanted.min(self.rt.propagated().highest));
        Urgency::of_priority(Some(wanted.unwrap_or(self.policy.server_priority)))
    }

    fn leave(&self, entered: u64) {
        self.rt.run_again_at(SavedState::from_number(entered));
    }
}

impl AtPriority {
    fn entered(
        &self,
        mut call: Option<&mut ServerCall<'_>>,
    ) -> Result<SavedState, SystemException> {
        let priority = match (self.policy.model, call.as_deref_mut()) {
            (PriorityModel::ServerDeclared, _) => self.policy.server_priority,
            (PriorityModel::ClientPropagated, Some(call)) => self.propagated(call)?,
            // The calling thread is the client's.
            (PriorityModel::ClientPropagated, None) => match self.rt.current().the_priority() {
                Ok(own) => own,
                Err(_) => {
                    return thread::now().map_err(|error| unknown(&error));
                }
            },
        };
        let priority = match self.rt.transform() {
            Some(transform) => transform
                .inbound(priority)
                .ok_or_else(|| not_transformed(priority))?,
            None => priority,
        };
        let before = self.rt.run_at(priority)?;
        let mut is_carried = false;
        if let Some(call) = call {
            call.count_at(priority);
            let carried = context::carried(&call.contexts());
            is_carried = carried == Some(&context::encoded(priority)[..]);
        }
        if timeline::is_recording() {
            timeline::runs_at(priority);
        }
        // Data in another form, or a capped or changed priority, have to be decoded each time.
        if self.obeys_as_carried && thread::is_at(before.native()) && is_carried {
            context::note_obeyed(&self.rt, priority);
        }
        Ok(before)
    }

    /// Returns the priority that a request carries, limited to what clients may propagate. The
    /// reply carries it, too, as TAO's replies do.
    #[inline]
    fn propagated(&self, call: &mut ServerCall<'_>) -> Result<Priority, SystemException> {
        let Some(data) = context::carried(&call.contexts()) else {
            return Ok(self.policy.server_priority);
        };
        let number = context::decoded(data).map_err(|error| unreadable(&error))?;
        let wanted = Priority::new(number).map_err(|_| no_native_priority(number))?;
        let priority = self.rt.propagated().allowed(wanted)?;
        context::answer(call, priority);
        Ok(priority)
    }
}

#[cold]
fn unreadable(error: &CdrError) -> SystemException {
    SystemException::new(Kind::Marshal, 0, CompletionStatus::No)
        .with_detail(format!("the service context RTCorbaPriority: {error}"))
}

/// Returns DATA_CONVERSION 2 for a number that is no CORBA priority, as for a priority without a
/// native one.
#[cold]
fn no_native_priority(number: i16) -> SystemException {
    SystemException::new(Kind::DataConversion, minor::omg(2), CompletionStatus::No).with_detail(
        format!("a request carries {number}, which is not a CORBA priority"),
    )
}

#[cold]
fn not_transformed(priority: Priority) -> SystemException {
    SystemException::new(Kind::DataConversion, minor::omg(2), CompletionStatus::No).with_detail(
        format!("the priority transform has no result for CORBA priority {priority}"),
    )
}

#[cold]
fn unknown(error: &std::io::Error) -> SystemException {
    SystemException::new(Kind::Internal, 0, CompletionStatus::No).with_detail(format!(
        "cannot read the scheduling of the calling thread: {error}"
    ))
}
