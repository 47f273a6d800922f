//! RTCosScheduling::ServerScheduler.

use crate::error::ScheduleError;
use crate::machine;
use crate::schedule::{Activity, Dispatching, Schedule};
use crate::urgency::{PlannedUrgency, ScheduledOperation};
use parking_lot::Mutex;
use punctual::poa::{ObjectPolicy, PoaPolicy};
use punctual::policy::Collocation;
use punctual::rt::{
    BufferLimits, PoolThreads, Priority, PriorityModelPolicy, RequestBuffering, RtOrb, RtPoa,
    ThreadpoolId, ThreadpoolOptions, ThreadpoolPolicy,
};
use punctual::{
    Implements, Interface, ObjectId, ObjectRef, Orb, OrbBuilder, Poa, PoaManager, Policy,
    SetOverride, SystemExceptionKind as Kind,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Scheduler of a server's adapters and objects, by the names of operations (RTCosScheduling::ServerScheduler;
/// Real-time CORBA 1.2, §6.3).
#[derive(Clone, Debug)]
pub struct ServerScheduler {
    rt: Arc<RtOrb>,
    orb: Orb,
    schedule: Arc<Schedule>,
    /// Pools of the queues, one for each processor and priority.
    queues: Arc<Mutex<BTreeMap<(usize, Priority), ThreadpoolId>>>,
}

/// Adapter that serves operations of a plan: its threads have their priorities, or reservations, and run on
/// their processor.
#[derive(Clone, Debug)]
pub struct ScheduledPoa {
    poa: Poa,
    operations: Vec<Arc<Activity>>,
}

impl Schedule {
    /// Adds the RTORB and what the schedule needs to an ORB that is being built.
    ///
    /// # Errors
    /// [`ScheduleError::Machine`] for a machine that cannot execute the schedule; [`ScheduleError::Init`].
    pub fn extend(
        self: &Arc<Self>,
        rt: &Arc<RtOrb>,
        builder: OrbBuilder,
    ) -> Result<OrbBuilder, ScheduleError> {
        machine::check(self, rt)?;
        let builder = rt.extend(builder)?.policy_type::<ScheduledOperation>()?;
        Ok(builder.urgency(Arc::new(PlannedUrgency)))
    }
}

impl ServerScheduler {
    /// Makes the scheduler of a server that serves these operations, of an ORB that [`Schedule::extend`] was
    /// called for. Call it when the program starts: a name that the schedule does not have ends the start.
    ///
    /// # Errors
    /// [`ScheduleError::UnknownName`].
    pub fn new(
        rt: &Arc<RtOrb>,
        orb: &Orb,
        schedule: &Arc<Schedule>,
        operations: &[&str],
    ) -> Result<Self, ScheduleError> {
        for name in operations {
            schedule.activity(name)?;
        }
        Ok(Self {
            rt: rt.clone(),
            orb: orb.clone(),
            schedule: schedule.clone(),
            queues: Arc::default(),
        })
    }

    /// Creates an adapter for objects with these operations, and a thread pool for it: a lane for each of their
    /// priorities, on their processor (RTCosScheduling::ServerScheduler::create_POA). `policies` are those that
    /// have nothing to do with scheduling.
    ///
    /// # Errors
    /// [`ScheduleError::UnknownName`]; [`ScheduleError::Apart`] for operations that cannot share threads;
    /// [`ScheduleError::System`] for threads that the machine does not grant; [`ScheduleError::Adapter`].
    pub fn create_poa(
        &self,
        parent: &Poa,
        name: &str,
        manager: Option<&PoaManager>,
        policies: &[PoaPolicy],
        operations: &[&str],
    ) -> Result<ScheduledPoa, ScheduleError> {
        let named = operations.iter().map(|name| self.schedule.activity(name));
        let operations = named.collect::<Result<Vec<_>, _>>()?;
        check_together(&operations)?;
        let most_urgent = operations.iter().max_by_key(|one| one.priority());
        let most_urgent = most_urgent.ok_or(ScheduleError::NoOperations)?;
        let mut queues = self.queues.lock();
        let place = (most_urgent.processor(), most_urgent.priority());
        let queue = most_urgent.is_queued().then_some(place);
        let shared = queue.and_then(|queue| queues.get(&queue).copied());
        let pool = match shared {
            Some(pool) => pool,
            None => self.pool(&operations)?,
        };
        let model = match most_urgent.dispatching() {
            Dispatching::Caller => PriorityModelPolicy::client_propagated(most_urgent.priority()),
            _ => PriorityModelPolicy::server_declared(most_urgent.priority()),
        };
        let mut policies = policies.to_vec();
        policies.push(PoaPolicy::of(model));
        policies.push(PoaPolicy::of(ThreadpoolPolicy(pool)));
        policies.push(PoaPolicy::of(ScheduledOperation(most_urgent.clone())));
        match parent.create_poa(name, manager, &policies) {
            Ok(poa) => {
                if let Some(queue) = queue {
                    queues.insert(queue, pool);
                }
                Ok(ScheduledPoa { poa, operations })
            }
            Err(error) => {
                if shared.is_none() {
                    // It was made above.
                    let _ = self.rt.destroy_threadpool(&self.orb, pool);
                }
                Err(error.into())
            }
        }
    }

    fn pool(&self, operations: &[Arc<Activity>]) -> Result<ThreadpoolId, ScheduleError> {
        // A request that waits is planned for; one that is refused would be lost.
        let mut options = ThreadpoolOptions {
            buffering: RequestBuffering::Unbounded,
            ..ThreadpoolOptions::default()
        };
        let mut priorities = BTreeSet::new();
        let mut threads = 1;
        let mut reservation = None;
        for one in operations {
            priorities.extend(one.callers());
            match one.dispatching() {
                Dispatching::Reservation(reserved) => reservation = Some(reserved),
                Dispatching::DeadlineQueue | Dispatching::LaxityQueue => {
                    options.buffering = RequestBuffering::Bounded(BufferLimits::default());
                }
                Dispatching::Priority | Dispatching::Caller => threads = threads.max(one.threads()),
            }
            priorities.insert(one.priority());
        }
        if reservation.is_none() {
            options.processors = Some(machine::processor(
                &self.schedule,
                operations[0].processor(),
            )?);
        }
        let lane = |priority: Priority| PoolThreads {
            priority,
            static_threads: threads,
            dynamic_threads: 0,
            reservation,
        };
        let lanes: Vec<_> = priorities.into_iter().map(lane).collect();
        Ok(self
            .rt
            .create_threadpool_with_lanes(&self.orb, &lanes, &options)?)
    }
}

impl ScheduledPoa {
    /// Returns the adapter.
    #[must_use]
    pub fn poa(&self) -> &Poa {
        &self.poa
    }

    /// Activates an object whose requests are jobs of an operation, and returns its reference, whose type is
    /// inferred (RTCosScheduling::ServerScheduler::schedule_object). Calls by the reference from within the
    /// process go through the lane, too (`Collocation::None`), but for operations that run in the threads of
    /// their callers.
    ///
    /// # Errors
    /// [`ScheduleError::UnknownName`] for an operation that the adapter was not created for;
    /// [`ScheduleError::Object`].
    pub fn schedule_object<I, S>(&self, servant: S, operation: &str) -> Result<I, ScheduleError>
    where
        I: Implements<S>,
    {
        let activity = self.operation(operation)?;
        let servant = I::servant(servant);
        let id = match activity.dispatching() {
            Dispatching::Priority => {
                let priority = activity.priority();
                self.poa.activate_object_with_priority(servant, priority)?
            }
            Dispatching::DeadlineQueue | Dispatching::LaxityQueue => {
                let own = self.own_policy(activity)?;
                self.poa.activate_object_under(servant, &own)?
            }
            Dispatching::Caller | Dispatching::Reservation(_) => {
                self.poa.activate_object(servant)?
            }
        };
        let object = self.poa.id_to_reference(&id)?;
        Ok(I::from_object(in_lane(activity, object)?))
    }

    /// Creates a reference to an object of this id whose requests are jobs of an operation. Whatever activates
    /// the object later, such as a servant manager, need not know the operation.
    ///
    /// # Errors
    /// As [`ScheduledPoa::schedule_object`].
    pub fn schedule_reference<I: Interface>(
        &self,
        id: &ObjectId,
        operation: &str,
    ) -> Result<I, ScheduleError> {
        let activity = self.operation(operation)?;
        Ok(match activity.dispatching() {
            Dispatching::Priority => {
                let priority = activity.priority();
                self.poa
                    .create_reference_with_id_and_priority(id, priority)?
            }
            Dispatching::DeadlineQueue | Dispatching::LaxityQueue => {
                let own = self.own_policy(activity)?;
                self.poa.create_reference_with_id_under(id, &own)?
            }
            Dispatching::Caller | Dispatching::Reservation(_) => {
                self.poa.create_reference_with_id(id)?
            }
        })
    }

    /// Returns the policy of an object whose requests are jobs of this activity.
    fn own_policy(&self, activity: &Arc<Activity>) -> Result<ObjectPolicy, ScheduleError> {
        let policy = Policy::of(ScheduledOperation(activity.clone()));
        let policy = self.poa.object_policy(policy);
        Ok(policy.map_err(|invalid| Kind::InvPolicy.because(invalid.why))?)
    }

    fn operation(&self, name: &str) -> Result<&Arc<Activity>, ScheduleError> {
        let mut operations = self.operations.iter();
        let found = operations.find(|one| one.name() == name);
        found.ok_or_else(|| {
            ScheduleError::UnknownName(crate::UnknownName {
                name: name.to_owned(),
                host: format!("this one, in adapter `{}`", self.poa.name()),
                similar: None,
            })
        })
    }
}

/// Returns a reference whose calls are executed by the activity's threads, also from within the process.
fn in_lane(activity: &Activity, object: ObjectRef) -> Result<ObjectRef, ScheduleError> {
    match activity.dispatching() {
        Dispatching::Caller => Ok(object),
        _ => {
            let through_lane = Policy::Collocation(Collocation::None);
            Ok(object.set_policy_overrides(&[through_lane], SetOverride::Add)?)
        }
    }
}

/// Checks that threads of one pool can serve these operations.
fn check_together(operations: &[Arc<Activity>]) -> Result<(), ScheduleError> {
    let Some((first, others)) = operations.split_first() else {
        return Err(ScheduleError::NoOperations);
    };
    for other in others {
        let kinds = (first.dispatching(), other.dispatching());
        let why = match kinds {
            _ if first.processor() != other.processor() => "they run on different processors",
            (Dispatching::Reservation(_), _) | (_, Dispatching::Reservation(_)) => {
                "each has a reservation of its own"
            }
            (one, its) if one != its => "they are dispatched in different orders",
            (Dispatching::DeadlineQueue | Dispatching::LaxityQueue, _)
                if first.priority() != other.priority() =>
            {
                "each level has a queue of its own"
            }
            _ => continue,
        };
        return Err(ScheduleError::Apart {
            one: first.name().to_owned(),
            other: other.name().to_owned(),
            why,
        });
    }
    Ok(())
}
