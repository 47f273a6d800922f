//! Errors of schedules at run time.

use punctual::poa::{AdapterInactive, CreatePoaError, PoaError};
use punctual::rt::SegmentError;
use punctual::{InitError, SystemException};
use punctual_exec::SpawnError;
use punctual_idl::diagnostic::Diagnostic;
use punctual_scheduling::Time;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Error: the schedule has no activity of a name (RTCosScheduling::UnknownName).
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schedule of host `{host}` has no activity `{name}`{}", near(.similar.as_deref()))]
pub struct UnknownName {
    /// Name that was given.
    pub name: String,
    /// Host of the schedule.
    pub host: String,
    /// Most similar name that the schedule has, if one is similar.
    pub similar: Option<String>,
}

fn near(similar: Option<&str>) -> String {
    match similar {
        Some(name) => format!("; did you mean `{name}`?"),
        None => ": add it to the model, or look whether it runs on another host".to_owned(),
    }
}

/// Reason for which this machine cannot execute a schedule.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The plan uses more processors than the process may run on.
    #[error(
        "the plan places work on processor {wanted} of host `{host}`, and this process may run on {available} \
         (`taskset -p`, `nproc`): change `processors` of the host in the model, or the affinity of the process"
    )]
    Processors {
        /// Name of the host.
        host: String,
        /// Largest number of a processor in the plan, counted from 0.
        wanted: usize,
        /// Number of processors that the process may use.
        available: usize,
    },
    /// Several priorities of the plan have one native priority.
    #[error(
        "priorities {one} and {other} of processor {processor} have the same native priority on this machine: \
         plan with `lanes`, at most one for each native priority"
    )]
    Priorities {
        /// Number of the processor.
        processor: usize,
        /// CORBA priority.
        one: i16,
        /// Lower CORBA priority.
        other: i16,
    },
    /// A priority has no native priority.
    #[error("priority {0} has no native priority by the mapping of the RTORB")]
    NoPriority(i16),
    /// The operating system does not report the processors.
    #[error("cannot read the processors of this process: {0}")]
    Unknown(#[from] io::Error),
}

/// Reason for which the time that the platform takes is not measured.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// The measurement has no length.
    #[error("a measurement of 0s measures nothing: give a time above zero")]
    NoTime,
    /// A window is empty or too long.
    #[error("a window of {0} is not measured: give one of up to 500ms")]
    Window(Time),
    /// The shortest gap is too short.
    #[error(
        "gaps of {0} are not told from the measurement itself: give a threshold of 1us at least"
    )]
    Threshold(Time),
    /// The process may not run on a processor.
    #[error("this process may not run on processor {wanted}, but on {allowed:?}")]
    Processor {
        /// Number of the processor.
        wanted: usize,
        /// Numbers of the processors on which the process may run.
        allowed: Vec<usize>,
    },
    /// The measuring thread ended before its first cycle.
    #[error(
        "the measuring thread ended before it had measured; its message stands on standard error"
    )]
    Ended,
    /// The operating system refused the processor or the priority.
    #[error("the measuring thread has no processor or priority: {0}")]
    Refused(#[from] io::Error),
    /// The thread did not start.
    #[error(transparent)]
    Thread(#[from] SpawnError),
}

/// Reason for which a schedule is not kept.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The file of the model cannot be read.
    #[error("{}: {error}", file.display())]
    Unreadable {
        /// Path of the file.
        file: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
    /// The file of the model is longer than [`LONGEST_FILE`](punctual_scheduling::model::LONGEST_FILE).
    #[error("{}: a model of {size} bytes is not read: files of models have {limit} bytes at most", file.display())]
    TooLong {
        /// Path of the file.
        file: PathBuf,
        /// Size of the file in bytes, as far as it was read where the operating system does not tell.
        size: u64,
        /// Maximum size in bytes.
        limit: u64,
    },
    /// The model has faults.
    #[error("{}", lines(.0))]
    Faults(Vec<Diagnostic>),
    /// There is no strategy of this name.
    #[error("there is no strategy `{0}`: `punctual schedule check --help` lists them")]
    Strategy(String),
    /// The model has no host of this name, or several where none was named.
    #[error("{}", which_host(host, known))]
    Host {
        /// Name that was given; empty for the only host.
        host: String,
        /// Names of the hosts.
        known: Vec<String>,
    },
    /// The plan does not prove that all deadlines are met.
    #[error(
        "the plan is not proved: {} may miss {}; see `punctual schedule check`, or start with \
         `Unproved::Admit` and admit activities while the system runs",
        late.join(", "),
        if late.len() == 1 { "its deadline" } else { "their deadlines" }
    )]
    NotProved {
        /// Names of the operations.
        late: Vec<String>,
    },
    /// Threads do not execute the operation as planned.
    #[error(
        "operation `{operation}` is not executed as planned: {why}; change the model or the strategy, or start \
         with `Unproved::Admit`"
    )]
    NotExecuted {
        /// Name of the operation.
        operation: String,
        /// Difference between the plan and its execution.
        why: &'static str,
    },
    /// The activity's jobs are requests.
    #[error(
        "activity `{0}` waits in a queue: call its object one-way, as a thread of `start_periodic` may at each release"
    )]
    Queued(String),
    /// The preparation of a periodic thread panicked.
    #[error(
        "the preparation of the thread of `{0}` panicked; its message stands on standard error"
    )]
    NotPrepared(String),
    /// Admission control of lanes that several levels share.
    #[error(
        "activities that share lanes are not admitted while the system runs: leave `lanes` out"
    )]
    Packed,
    /// Streams of one operation are on several processors, where an object has threads on one.
    #[error(
        "operation `{operation}` is placed on processors {one} and {other}: pin it with `processor`"
    )]
    Scattered {
        /// Name of the operation.
        operation: String,
        /// Number of a processor.
        one: usize,
        /// Number of another processor.
        other: usize,
    },
    /// The operations of an adapter need threads that differ in more than their priority.
    #[error("operations `{one}` and `{other}` need an adapter each: {why}")]
    Apart {
        /// Name of an operation.
        one: String,
        /// Name of another operation.
        other: String,
        /// Difference between them.
        why: &'static str,
    },
    /// An adapter without operations.
    #[error("an adapter serves one operation of the plan at least")]
    NoOperations,
    /// The activity is released by calls, not by a clock.
    #[error(
        "`{0}` does not release itself: its callers do, and a periodic thread needs a `period`"
    )]
    NotASource(String),
    /// The strategy left the operation out.
    #[error("operation `{0}` is left out by the strategy, and is not to run")]
    LeftOut(String),
    /// A rehearsal has no length.
    #[error("a rehearsal of 0s executes nothing: give a time above zero")]
    NoTime,
    /// Unknown name.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// The machine cannot execute the schedule.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The object adapter was not created.
    #[error(transparent)]
    Adapter(#[from] CreatePoaError),
    /// The object was not activated.
    #[error(transparent)]
    Object(#[from] PoaError),
    /// The adapter's manager was not activated.
    #[error(transparent)]
    Manager(#[from] AdapterInactive),
    /// The ORB raised a system exception.
    #[error(transparent)]
    System(#[from] SystemException),
    /// The scheduling segment did not begin.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The thread did not start.
    #[error(transparent)]
    Thread(#[from] SpawnError),
    /// The ORB was not extended.
    #[error(transparent)]
    Init(#[from] InitError),
}

fn lines(faults: &[Diagnostic]) -> String {
    let lines: Vec<_> = faults.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

macro_rules! shown_as_displayed {
    ($($error:ty),*) => {$(
        /// Shows the error as `Display` does, for a `main` that returns it.
        impl fmt::Debug for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}
shown_as_displayed!(UnknownName, MachineError, NoiseError, ScheduleError);

/// Says which hosts there are.
fn which_host(host: &str, known: &[String]) -> String {
    let known = known.join(", ");
    match host {
        "" => format!("the model has several hosts, {known}, and none of them was chosen"),
        _ => format!("the model has no host `{host}`; it has {known}"),
    }
}
