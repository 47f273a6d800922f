//! Capabilities and limits of the process.

use super::finding::{Finding, Topic};
use super::machine::{Machine, Unknown};

const GROUP: &str = "rights";

const SYS_NICE: Topic = Topic {
    group: GROUP,
    name: "CAP_SYS_NICE",
    why: "With it a process may run threads at any real-time priority, and reserve time by SCHED_DEADLINE.",
};

const RTPRIO: Topic = Topic {
    group: GROUP,
    name: "RLIMIT_RTPRIO",
    why: "Without CAP_SYS_NICE, it is the highest real-time priority that threads may have.",
};

const IPC_LOCK: Topic = Topic {
    group: GROUP,
    name: "CAP_IPC_LOCK",
    why: "With it a process may lock all its memory, so that no thread waits for a page from a disk.",
};

const MEMLOCK: Topic = Topic {
    group: GROUP,
    name: "RLIMIT_MEMLOCK",
    why: "Without CAP_IPC_LOCK, a process whose memory is locked can have no more than this.",
};

/// Command that gives a program both capabilities.
pub(super) const SETCAP: &str = "sudo setcap cap_sys_nice,cap_ipc_lock+ep PROGRAM";

/// Highest native priority.
const HIGHEST: u64 = 99;

pub(super) fn findings(machine: &Machine) -> Vec<Finding> {
    vec![
        SYS_NICE.or_unknown(sys_nice(machine)),
        RTPRIO.or_unknown(rtprio(machine)),
        IPC_LOCK.or_unknown(ipc_lock(machine)),
        MEMLOCK.or_unknown(memlock(machine)),
    ]
}

/// Capability, with its number in `CapEff` (`capabilities(7)`).
#[derive(Clone, Copy, Debug)]
pub(super) enum Capability {
    IpcLock = 14,
    SysNice = 23,
}

/// Returns `true` if a capability is in the effective set.
pub(super) fn holds(machine: &Machine, capability: Capability) -> Result<bool, Unknown> {
    let file = "/proc/self/status";
    let set = machine.line(file, "CapEff:")?;
    match u64::from_str_radix(&set, 16) {
        Ok(set) => Ok(set >> capability as u32 & 1 == 1),
        Err(_) => Err(Unknown::NotUnderstood(file.to_owned(), set)),
    }
}

fn sys_nice(machine: &Machine) -> Result<Finding, Unknown> {
    if holds(machine, Capability::SysNice)? {
        return Ok(SYS_NICE.ok("effective"));
    }
    Ok(match limit(machine, "Max realtime priority") {
        Ok(limit) if limit >= HIGHEST => SYS_NICE.ok("not held; RLIMIT_RTPRIO is enough"),
        _ => SYS_NICE
            .missing("not held")
            .mend(SETCAP)
            .mend("--cap-add SYS_NICE (docker, podman)"),
    })
}

fn rtprio(machine: &Machine) -> Result<Finding, Unknown> {
    let limit = limit(machine, "Max realtime priority")?;
    if limit >= HIGHEST {
        return Ok(RTPRIO.ok(shown(limit)));
    }
    if let Ok(true) = holds(machine, Capability::SysNice) {
        return Ok(RTPRIO.ok(format!("{limit}; not needed with CAP_SYS_NICE")));
    }
    let found = match limit {
        0 => RTPRIO.missing("0"),
        limit => RTPRIO.warning(limit.to_string()),
    };
    Ok(found
        .mend(limits_file("rtprio 99"))
        .mend("LimitRTPRIO=99 (systemd unit)")
        .mend("--ulimit rtprio=99 (docker, podman)"))
}

fn ipc_lock(machine: &Machine) -> Result<Finding, Unknown> {
    if holds(machine, Capability::IpcLock)? {
        return Ok(IPC_LOCK.ok("effective"));
    }
    Ok(match limit(machine, "Max locked memory") {
        Ok(u64::MAX) => IPC_LOCK.ok("not held; RLIMIT_MEMLOCK is enough"),
        _ => IPC_LOCK
            .warning("not held")
            .mend(SETCAP)
            .mend("--cap-add IPC_LOCK (docker, podman)"),
    })
}

fn memlock(machine: &Machine) -> Result<Finding, Unknown> {
    let limit = limit(machine, "Max locked memory")?;
    if limit == u64::MAX {
        return Ok(MEMLOCK.ok(shown(limit)));
    }
    let value = format!("{} KiB", limit >> 10);
    if let Ok(true) = holds(machine, Capability::IpcLock) {
        return Ok(MEMLOCK.ok(format!("{value}; not needed with CAP_IPC_LOCK")));
    }
    let found = match limit {
        0 => MEMLOCK.missing(value),
        _ => MEMLOCK.warning(value),
    };
    Ok(found
        .mend(limits_file("memlock unlimited"))
        .mend("LimitMEMLOCK=infinity (systemd unit)")
        .mend("--ulimit memlock=-1 (docker, podman)"))
}

fn limits_file(limit: &str) -> String {
    format!(
        "echo '@GROUP - {limit}' | sudo tee -a /etc/security/limits.d/realtime.conf # log in again"
    )
}

/// Returns a soft limit; `u64::MAX` if unlimited.
fn limit(machine: &Machine, name: &str) -> Result<u64, Unknown> {
    let file = "/proc/self/limits";
    let line = machine.line(file, name)?;
    match line.split_whitespace().next() {
        Some("unlimited") => Ok(u64::MAX),
        Some(soft) => soft
            .parse()
            .map_err(|_| Unknown::NotUnderstood(file.to_owned(), line)),
        None => Err(Unknown::NotUnderstood(file.to_owned(), line)),
    }
}

fn shown(limit: u64) -> String {
    match limit {
        u64::MAX => "unlimited".to_owned(),
        limit => limit.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::super::machine::tests::SimulatedMachine;
    use super::*;

    fn verdicts(capabilities: &str, rtprio: &str, memlock: &str) -> Vec<Verdict> {
        let status = format!("Name:\tx\nCapEff:\t{capabilities}\n");
        let limits = format!(
            "Limit  Soft Limit  Hard Limit  Units\n\
             Max locked memory         {memlock}  {memlock}  bytes\n\
             Max realtime priority     {rtprio}   {rtprio}\n"
        );
        let files = [
            ("/proc/self/status", &*status),
            ("/proc/self/limits", &*limits),
        ];
        let made_up = SimulatedMachine::of(&files);
        let found = findings(&made_up.machine);
        assert!(
            found
                .iter()
                .all(|one| (one.verdict == Verdict::Ok) == one.mend.is_empty())
        );
        found.iter().map(|one| one.verdict).collect()
    }

    #[test]
    fn a_capability_stands_in_for_its_limit_and_a_limit_for_its_capability() {
        use Verdict::{Missing, Ok, Warning};
        let none = "0000000000000000";
        assert_eq!(verdicts("0000000000804000", "0", "0"), [Ok; 4]);
        assert_eq!(verdicts(none, "99", "unlimited"), [Ok; 4]);
        assert_eq!(
            verdicts(none, "0", "8388608"),
            [Missing, Missing, Warning, Warning]
        );
        assert_eq!(
            verdicts(none, "50", "0"),
            [Missing, Warning, Warning, Missing]
        );
    }
}
