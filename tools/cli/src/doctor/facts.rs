//! What a plan needs to know of this machine.

use super::machine::Machine;
use super::policies::{self, Grants};
use super::processors;
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
    }
}
