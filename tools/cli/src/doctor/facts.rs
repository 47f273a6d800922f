//! What a plan needs to know of this machine.

use super::kernel::has_fair_server;
use super::machine::Machine;
use super::policies::{self, Grants};
use super::processors;
use punctual_scheduling::Time;
use punctual_scheduling::analysis::admission::KernelShare;
use punctual_sys::scheduling::{self, Policy};

/// Facts of this machine and of the rights of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Number of processors that this process may run on; `None` if the kernel does not say.
    pub(crate) processors: Option<usize>,
    /// Number of native priorities of `SCHED_FIFO`.
    pub(crate) priorities: usize,
    /// `true` if threads get the lowest and the highest of them.
    pub(crate) grants_priorities: bool,
    /// `true` if threads get reservations (`SCHED_DEADLINE`).
    pub(crate) grants_reservations: bool,
    /// `true` if the processors are virtual; `None` if the kernel does not say.
    pub(crate) is_virtual: Option<bool>,
    /// Limit of real-time threads; `None` if there is none, or the kernel does not say.
    pub(crate) throttling: Option<Throttling>,
}

/// Limit of the time of real-time threads on each processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Throttling {
    /// Time in each period.
    pub(crate) share: KernelShare,
    /// `true` if threads of `SCHED_FIFO` stop at it; else it bounds reservations (`SCHED_DEADLINE`) alone.
    pub(crate) stops_fifo: bool,
}

/// Returns the facts of this machine; changes nothing.
pub(crate) fn facts() -> Facts {
    of(&Machine::this(), &policies::ask_kernel)
}

fn of(machine: &Machine, grants: Grants<'_>) -> Facts {
    let priorities = scheduling::native_priorities(Policy::Fifo);
    Facts {
        processors: punctual_sys::processor::allowed()
            .ok()
            .map(|allowed| allowed.len()),
        priorities: priorities.map_or(0, |range| range.count()),
        grants_priorities: policies::is_enough(grants),
        grants_reservations: policies::grants_reservations(grants),
        is_virtual: processors::is_virtual(machine),
        throttling: throttling(machine),
    }
}

fn throttling(machine: &Machine) -> Option<Throttling> {
    let runtime: i64 = machine
        .number("/proc/sys/kernel/sched_rt_runtime_us")
        .ok()?;
    let period: u64 = machine.number("/proc/sys/kernel/sched_rt_period_us").ok()?;
    // A negative runtime is no limit.
    let runtime = u64::try_from(runtime).ok().filter(|&time| time < period)?;
    Some(Throttling {
        share: KernelShare {
            runtime: Time::from_micros(runtime),
            period: Time::from_micros(period),
        },
        stops_fifo: !has_fair_server(machine),
    })
}

#[cfg(test)]
mod tests {
    use super::super::machine::tests::SimulatedMachine;
    use super::*;

    #[test]
    fn throttling_is_known_unless_it_is_off() {
        let throttling = |runtime, release| {
            let made_up = SimulatedMachine::of(&[
                (
                    "/boot/config-6.12.1",
                    "# CONFIG_RT_GROUP_SCHED is not set\n",
                ),
                ("/proc/sys/kernel/sched_rt_runtime_us", runtime),
                ("/proc/sys/kernel/sched_rt_period_us", "1000000\n"),
                ("/proc/sys/kernel/osrelease", release),
            ]);
            throttling(&made_up.machine)
        };
        let found = throttling("950000\n", "6.1.0").unwrap();
        assert_eq!(
            (found.share, found.stops_fifo),
            (KernelShare::default(), true)
        );
        assert!(!throttling("950000\n", "6.12.1").unwrap().stops_fifo);
        for none in ["-1\n", "1000000\n", "much\n"] {
            assert_eq!(throttling(none, "6.1.0"), None, "{none}");
        }
    }
}
