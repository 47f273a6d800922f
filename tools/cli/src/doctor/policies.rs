//! Scheduling policies, each tested.

use super::finding::{Finding, Topic};
use super::machine::Machine;
use super::rights::{self, Capability};
use punctual_sys::scheduling::{self, Reservation, Scheduling};
use std::io;
use std::time::Duration;

const GROUP: &str = "scheduling policies";

const FIFO_LOWEST: Topic = Topic {
    group: GROUP,
    name: "SCHED_FIFO 1",
    why: "The lowest real-time priority: ahead of every ordinary thread.",
};

const FIFO_HIGHEST: Topic = Topic {
    group: GROUP,
    name: "SCHED_FIFO 99",
    why: "The native priority of the highest CORBA priority, without which an `RtOrb` does not start unless configured otherwise.",
};

const ROUND_ROBIN: Topic = Topic {
    group: GROUP,
    name: "SCHED_RR 1",
    why: "As SCHED_FIFO, for threads that take turns: `NativePolicy::RoundRobin` of an `RtOrb`.",
};

const DEADLINE: Topic = Topic {
    group: GROUP,
    name: "SCHED_DEADLINE",
    why: "Reserves processor time in each period, ahead of all other policies; an `RtOrb` does not need it.",
};

/// Smallest reservation that the kernel accepts by default, so that it is admitted beside existing
/// ones.
const RESERVATION: Reservation = Reservation {
    runtime: Duration::from_micros(10),
    deadline: Duration::from_millis(100),
    period: Duration::from_millis(100),
};

/// Function that asks the kernel whether a thread may have a scheduling policy.
pub(super) type Grants<'a> = &'a dyn Fn(Scheduling) -> io::Result<()>;

/// Returns `true` if a Real-time ORB with default settings starts.
pub(super) fn is_enough(grants: Grants<'_>) -> bool {
    let fifo = |priority| grants(Scheduling::Fifo { priority }).is_ok();
    fifo(1) && fifo(99)
}

/// Returns `true` if threads get reservations.
pub(super) fn grants_reservations(grants: Grants<'_>) -> bool {
    grants(Scheduling::Deadline(RESERVATION)).is_ok()
}

pub(super) fn findings(machine: &Machine, grants: Grants<'_>) -> Vec<Finding> {
    let topics = [
        (FIFO_LOWEST, Scheduling::Fifo { priority: 1 }),
        (FIFO_HIGHEST, Scheduling::Fifo { priority: 99 }),
        (ROUND_ROBIN, Scheduling::RoundRobin { priority: 1 }),
        (DEADLINE, Scheduling::Deadline(RESERVATION)),
    ];
    let finding = |(topic, wanted): (Topic, Scheduling)| match grants(wanted) {
        Ok(()) => topic.ok("granted"),
        Err(error) => refused(machine, topic, wanted, &error),
    };
    topics.into_iter().map(finding).collect()
}

fn refused(machine: &Machine, topic: Topic, wanted: Scheduling, error: &io::Error) -> Finding {
    let value = format!("refused: {error}");
    let has_right = rights::holds(machine, Capability::SysNice).unwrap_or(false);
    let is_permission = error.kind() == io::ErrorKind::PermissionDenied;
    if let Scheduling::Deadline(_) = wanted {
        let found = topic.warning(value);
        return match (is_permission, has_right) {
            (true, false) => found.mend(rights::SETCAP),
            (true, true) => found.mend(
                "let the process run on every processor of its cpuset (no `taskset`): such threads need that",
            ),
            (false, _) => found.mend(
                "sudo sysctl kernel.sched_rt_runtime_us=950000, and fewer reservations of other programs",
            ),
        };
    }
    let found = topic.missing(value);
    match (is_permission, has_right) {
        (true, false) => found
            .mend(rights::SETCAP)
            .mend("LimitRTPRIO=99 (systemd unit)"),
        (true, true) => {
            found.mend("see `real-time control group`, else the seccomp profile of the container")
        }
        (false, _) => found,
    }
}

/// Asks the kernel, on a thread that is started only for this.
pub(super) fn ask_kernel(wanted: Scheduling) -> io::Result<()> {
    // Bare thread: it takes on a policy and ends.
    let tried = std::thread::Builder::new()
        .name("punctual-doctor".to_owned())
        .spawn(move || scheduling::set_own(wanted))?;
    tried
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the testing thread has panicked")))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict::{Missing, Ok as Good, Warning};
    use super::super::machine::tests::SimulatedMachine;
    use super::*;

    #[test]
    fn a_limit_below_the_highest_priority_is_not_enough() {
        let grants = |wanted: Scheduling| match wanted {
            Scheduling::Deadline(_) => Err(io::ErrorKind::PermissionDenied.into()),
            wanted if wanted.priority() > 50 => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Ok(()),
        };
        let nothing = SimulatedMachine::of(&[]);
        let found = findings(&nothing.machine, &grants);
        let verdicts: Vec<_> = found.iter().map(|one| one.verdict).collect();
        assert_eq!(verdicts, [Good, Missing, Good, Warning]);
        assert_eq!(found[1].mend[0], rights::SETCAP);
        assert!(!is_enough(&grants));
        assert!(is_enough(&|_| Ok(())));
    }

    #[test]
    fn who_has_the_right_and_is_refused_is_sent_to_the_control_group() {
        let privileged =
            SimulatedMachine::of(&[("/proc/self/status", "CapEff:\t000001ffffffffff\n")]);
        let grants = |_| Err(io::ErrorKind::PermissionDenied.into());
        let found = findings(&privileged.machine, &grants);
        assert!(found[0].mend[0].contains("control group"), "{found:?}");
    }

    #[test]
    fn trying_leaves_the_calling_thread_as_it_was() {
        let before = scheduling::own().unwrap();
        findings(&Machine::this(), &ask_kernel);
        assert_eq!(scheduling::own().unwrap(), before);
    }
}
