//! RTCosScheduling::ClientScheduler.

use crate::error::{ScheduleError, UnknownName};
use crate::machine;
use crate::schedule::{Activity, Schedule};
use punctual::rt::{Priority, RtOrb, SchedulingParameter};
use std::sync::Arc;

/// Scheduler of a client's threads, by the names of activities (RTCosScheduling::ClientScheduler; Real-time
/// CORBA 1.2, §6.2).
#[derive(Clone, Debug)]
pub struct ClientScheduler {
    pub(crate) rt: Arc<RtOrb>,
    pub(crate) schedule: Arc<Schedule>,
}

impl ClientScheduler {
    /// Makes the scheduler of a program that executes these activities. Call it when the program starts: a name
    /// that the schedule does not have, or a machine that cannot execute it, ends the start.
    ///
    /// # Errors
    /// [`ScheduleError::UnknownName`], [`ScheduleError::Machine`].
    pub fn new(
        rt: &Arc<RtOrb>,
        schedule: &Arc<Schedule>,
        activities: &[&str],
    ) -> Result<Self, ScheduleError> {
        for name in activities {
            schedule.activity(name)?;
        }
        machine::check(schedule, rt)?;
        Ok(Self {
            rt: rt.clone(),
            schedule: schedule.clone(),
        })
    }

    /// Returns the schedule.
    #[must_use]
    pub fn schedule(&self) -> &Arc<Schedule> {
        &self.schedule
    }

    /// Schedules the calling thread as an activity from now on: at its priority, which the thread's calls carry,
    /// and on its processor; or with its reservation, as a scheduling segment of the activity's name
    /// (RTCosScheduling::ClientScheduler::schedule_activity).
    ///
    /// # Errors
    /// [`ScheduleError::UnknownName`]; [`ScheduleError::Queued`]; [`ScheduleError::System`] for a priority that the operating system
    /// refuses; [`ScheduleError::Segment`] for a reservation that it does not admit, and NO_IMPLEMENT without
    /// dynamic scheduling ([`Schedule::rt_config`]).
    pub fn schedule_activity(&self, name: &str) -> Result<(), ScheduleError> {
        let activity = self.schedule.activity(name)?;
        self.schedule_as(&activity)
    }

    pub(crate) fn schedule_as(&self, activity: &Activity) -> Result<(), ScheduleError> {
        if activity.is_queued() {
            return Err(ScheduleError::Queued(activity.name().to_owned()));
        }
        let reserved = activity.scheduling_parameter().reservation();
        if reserved.is_some() {
            let parameter = Some(activity.scheduling_parameter());
            let current = self.rt.scheduling();
            return Ok(current.begin_scheduling_segment(activity.name(), parameter, None)?);
        }
        self.schedule_at(activity, activity.priority())
    }

    /// Schedules the calling thread at this priority, on an activity's processor.
    pub(crate) fn schedule_at(
        &self,
        activity: &Activity,
        priority: Priority,
    ) -> Result<(), ScheduleError> {
        let processor = machine::processor(&self.schedule, activity.processor())?;
        processor.pin_own().map_err(crate::MachineError::from)?;
        self.rt.current().set_the_priority(priority)?;
        Ok(())
    }

    /// Begins a segment of a distributable thread that executes an activity: it has the activity's name and
    /// scheduling parameter (RTScheduling::Current::begin_scheduling_segment).
    ///
    /// # Errors
    /// [`ScheduleError::UnknownName`], [`ScheduleError::Segment`].
    pub fn begin_segment(&self, name: &str) -> Result<(), ScheduleError> {
        let parameter = self.scheduling_parameter(name)?;
        let current = self.rt.scheduling();
        Ok(current.begin_scheduling_segment(name, Some(parameter), None)?)
    }

    /// Returns the scheduling parameter of an activity.
    ///
    /// # Errors
    /// [`UnknownName`].
    pub fn scheduling_parameter(&self, name: &str) -> Result<SchedulingParameter, UnknownName> {
        Ok(self.schedule.activity(name)?.scheduling_parameter())
    }
}
