//! The kernel's scheduling, and its own threads.

use super::finding::{Finding, Topic};
use super::groups;
use super::machine::{Machine, Unknown};
use std::collections::BTreeSet;

const GROUP: &str = "kernel";

const PREEMPTION: Topic = Topic {
    group: GROUP,
    name: "preemption",
    why: "A real-time thread waits until the kernel releases the processor: on PREEMPT_RT for tens of microseconds, without preemption for milliseconds.",
};

const THROTTLING: Topic = Topic {
    group: GROUP,
    name: "real-time throttling",
    why: "Real-time threads that have used up this much of a period stand still until the next one.",
};

const FAIR_SERVER: Topic = Topic {
    group: GROUP,
    name: "fair server",
    why: "Since Linux 6.12, waiting ordinary threads get this share of each processor, ahead of SCHED_FIFO and SCHED_RR.",
};

const SOFTIRQ: Topic = Topic {
    group: GROUP,
    name: "ksoftirqd",
    why: "Under load, ksoftirqd delivers packets, those of loopback too: real-time threads that keep its processor busy delay TCP and UDP, but not `uiop` and `shmiop`.",
};

/// Folder of the scheduler's settings in debugfs.
const SCHEDULER: &str = "/sys/kernel/debug/sched";

const DEBUGFS: &str = "sudo mount -t debugfs none /sys/kernel/debug; sudo punctual doctor";

pub(super) fn findings(machine: &Machine) -> Vec<Finding> {
    vec![
        PREEMPTION.or_unknown(preemption(machine)),
        THROTTLING.or_unknown(throttling(machine)),
        fair_server(machine),
        SOFTIRQ.or_unknown(softirq(machine)),
    ]
}

fn preemption(machine: &Machine) -> Result<Finding, Unknown> {
    let version = machine.text("/proc/sys/kernel/version")?;
    let built = version
        .split_whitespace()
        .find(|word| word.starts_with("PREEMPT"));
    let says_real_time = matches!(machine.number("/sys/kernel/realtime"), Ok(1));
    if says_real_time || built == Some("PREEMPT_RT") {
        return Ok(PREEMPTION.ok("PREEMPT_RT"));
    }
    match built {
        Some("PREEMPT_DYNAMIC") => dynamic(machine),
        // Full, or lazy, which differs for ordinary threads only.
        Some(built) => Ok(PREEMPTION.ok(built)),
        None => Ok(PREEMPTION
            .warning("none, or voluntary")
            .mend("a kernel with PREEMPT_RT, or at least CONFIG_PREEMPT")),
    }
}

/// Examines the preemption mode of a kernel that selects it at boot. The file has the selected mode
/// in parentheses, as in `none voluntary (full)`.
fn dynamic(machine: &Machine) -> Result<Finding, Unknown> {
    let file = format!("{SCHEDULER}/preempt");
    let modes = match machine.text(&file) {
        Ok(modes) => modes,
        Err(unknown) => {
            let reason = format!("PREEMPT_DYNAMIC, and its mode cannot be read: {unknown}");
            return Ok(PREEMPTION.unknown(reason).mend(DEBUGFS));
        }
    };
    let chosen = modes
        .split_whitespace()
        .find_map(|word| word.strip_prefix('(')?.strip_suffix(')'));
    Ok(match chosen {
        Some(mode @ ("full" | "lazy")) => PREEMPTION.ok(format!("PREEMPT_DYNAMIC, {mode}")),
        Some(mode @ ("none" | "voluntary")) => PREEMPTION
            .warning(format!("PREEMPT_DYNAMIC, {mode}"))
            .mend(format!("echo full | sudo tee {file}"))
            .mend("kernel parameter preempt=full"),
        _ => return Err(Unknown::NotUnderstood(file, modes)),
    })
}

/// Returns `true` if the fair server has taken the place of real-time throttling: since Linux 6.12, except in
/// kernels with real-time control groups.
pub(super) fn has_fair_server(machine: &Machine) -> bool {
    matches!(machine.has_linux((6, 12)), Ok(true))
        && matches!(groups::is_built_in(machine), Ok(false))
}

fn throttling(machine: &Machine) -> Result<Finding, Unknown> {
    let runtime: i64 = machine.number("/proc/sys/kernel/sched_rt_runtime_us")?;
    let period: i64 = machine.number("/proc/sys/kernel/sched_rt_period_us")?;
    let value = format!("{} of {} ms", runtime / 1000, period / 1000);
    let is_by_fair_server = has_fair_server(machine);
    Ok(match runtime {
        0 => THROTTLING
            .missing(value)
            .mend("sudo sysctl kernel.sched_rt_runtime_us=950000"),
        ..0 => THROTTLING.ok("off"),
        _ if runtime >= period => THROTTLING.ok(format!("off: {value}")),
        _ if is_by_fair_server => {
            THROTTLING.ok(format!("{value}, which bounds SCHED_DEADLINE alone since Linux 6.12"))
        }
        _ => THROTTLING
            .warning(value)
            .mend("sudo sysctl kernel.sched_rt_runtime_us=-1 # a real-time thread that never blocks then stops its processor"),
    })
}

fn fair_server(machine: &Machine) -> Finding {
    let folder = format!("{SCHEDULER}/fair_server");
    let processors = match machine.names(&folder) {
        Ok(processors) => processors,
        Err(Unknown::Missing(_)) if machine.path(SCHEDULER).exists() => {
            return FAIR_SERVER.ok("the kernel has none");
        }
        Err(unknown) => return FAIR_SERVER.unknown(unknown).mend(DEBUGFS),
    };
    let share = |processor: &String| {
        let nanoseconds = |file| machine.number::<u64>(&format!("{folder}/{processor}/{file}"));
        Ok((nanoseconds("runtime")?, nanoseconds("period")?))
    };
    let shares: Result<BTreeSet<(u64, u64)>, Unknown> = processors.iter().map(share).collect();
    let shares = match shares {
        Ok(shares) => shares,
        Err(unknown) => return FAIR_SERVER.unknown(unknown).mend(DEBUGFS),
    };
    // In ascending order: the last is the largest.
    match shares.last() {
        None => FAIR_SERVER.unknown(format!("{folder} names no processor")),
        Some((0, _)) => FAIR_SERVER.ok("off"),
        Some((runtime, period)) => FAIR_SERVER
            .warning(format!("{} of {} ms", runtime / 1_000_000, period / 1_000_000))
            .mend(format!(
                "for file in {folder}/cpu*/runtime; do echo 0 | sudo tee $file; done # a real-time thread that never blocks then stops its processor"
            )),
    }
}

fn softirq(machine: &Machine) -> Result<Finding, Unknown> {
    let processes = machine.names("/proc")?;
    let processes = processes
        .iter()
        .filter(|name| name.bytes().all(|one| one.is_ascii_digit()));
    let mut policies = BTreeSet::new();
    for process in processes {
        // A process that has ended meanwhile is not a kernel thread.
        let Ok(stat) = machine.text(&format!("/proc/{process}/stat")) else {
            continue;
        };
        match Thread::of(&stat) {
            Some(thread) if thread.is_softirq() => policies.insert(thread.scheduling()),
            _ => false,
        };
    }
    if policies.is_empty() {
        return Ok(SOFTIRQ.unknown("no such thread in /proc, as in a container"));
    }
    let is_urgent = policies.iter().all(|one| one.0);
    let shown: Vec<String> = policies.into_iter().map(|one| one.1).collect();
    let shown = shown.join(", ");
    Ok(match is_urgent {
        true => SOFTIRQ.ok(shown),
        false => SOFTIRQ
            .warning(shown)
            .mend("for pid in $(pgrep ^ksoftirqd/); do sudo chrt --fifo --pid 50 $pid; done # above the threads that use TCP")
            .mend("endpoints of `uiop` or `shmiop` for peers on this host"),
    })
}

/// Data of a kernel thread in `/proc/PID/stat` (`proc_pid_stat(5)`).
struct Thread<'t> {
    name: &'t str,
    parent: &'t str,
    priority: &'t str,
    policy: &'t str,
}

impl<'t> Thread<'t> {
    /// Parses the line. The name is in parentheses, and may contain any.
    fn of(stat: &'t str) -> Option<Self> {
        let (before, rest) = stat.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        // From the third field on.
        let mut fields = rest.split_whitespace();
        Some(Self {
            name,
            parent: fields.nth(1)?,
            priority: fields.nth(35)?,
            policy: fields.next()?,
        })
    }

    /// Returns `true` for softirq threads. Kernel threads are children of `kthreadd`; a program may
    /// have any name.
    fn is_softirq(&self) -> bool {
        self.name.starts_with("ksoftirqd/") && self.parent == "2"
    }

    /// Returns `true` if the policy is real-time, and the policy's name.
    fn scheduling(&self) -> (bool, String) {
        match self.policy {
            "0" => (false, "SCHED_OTHER".to_owned()),
            "1" => (true, format!("SCHED_FIFO {}", self.priority)),
            "2" => (true, format!("SCHED_RR {}", self.priority)),
            policy => (false, format!("policy {policy}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::super::machine::tests::SimulatedMachine;
    use super::*;

    const VERSION: &str = "/proc/sys/kernel/version";
    const PREEMPT: &str = "/sys/kernel/debug/sched/preempt";

    #[test]
    fn preemption_is_told_by_the_kernels_version_and_what_was_chosen_at_boot() {
        let preemption = |files: &[(&str, &str)]| {
            let found = findings(&SimulatedMachine::of(files).machine).remove(0);
            (found.verdict, found.value)
        };
        let real_time = (Verdict::Ok, "PREEMPT_RT".to_owned());
        assert_eq!(
            preemption(&[(VERSION, "#1 SMP PREEMPT_RT Debian 6.1\n")]),
            real_time
        );
        let said = [
            (VERSION, "#1 SMP PREEMPT\n"),
            ("/sys/kernel/realtime", "1\n"),
        ];
        assert_eq!(preemption(&said), real_time);
        assert_eq!(preemption(&[(VERSION, "#1 SMP PREEMPT\n")]).0, Verdict::Ok);
        assert_eq!(preemption(&[(VERSION, "#1 SMP x\n")]).0, Verdict::Warning);
        assert_eq!(preemption(&[]).0, Verdict::Unknown);

        let dynamic = (VERSION, "#1 SMP PREEMPT_DYNAMIC x\n");
        let chosen = |modes| preemption(&[dynamic, (PREEMPT, modes)]).0;
        assert_eq!(chosen("none voluntary (full) lazy\n"), Verdict::Ok);
        assert_eq!(chosen("none (voluntary) full\n"), Verdict::Warning);
        assert_eq!(chosen("none voluntary full\n"), Verdict::Unknown);
        let (verdict, reason) = preemption(&[dynamic]);
        assert_eq!(verdict, Verdict::Unknown);
        assert!(
            reason.contains("/sys/kernel/debug/sched/preempt"),
            "{reason}"
        );
    }

    #[test]
    fn throttling_is_warned_of_unless_it_is_off_or_the_fair_server_has_taken_its_place() {
        let throttling = |runtime, release| {
            let made_up = SimulatedMachine::of(&[
                (
                    "/boot/config-6.12.1",
                    "# CONFIG_RT_GROUP_SCHED is not set\n",
                ),
                ("/boot/config-6.12.2", "CONFIG_RT_GROUP_SCHED=y\n"),
                ("/proc/sys/kernel/sched_rt_runtime_us", runtime),
                ("/proc/sys/kernel/sched_rt_period_us", "1000000\n"),
                ("/proc/sys/kernel/osrelease", release),
            ]);
            THROTTLING.or_unknown(super::throttling(&made_up.machine))
        };
        let found = throttling("950000\n", "6.1.0");
        assert_eq!(
            (found.verdict, &*found.value),
            (Verdict::Warning, "950 of 1000 ms")
        );
        assert_eq!(throttling("950000\n", "6.12.1").verdict, Verdict::Ok);
        assert_eq!(throttling("950000\n", "6.12.2").verdict, Verdict::Warning);
        assert_eq!(throttling("950000\n", "6.12.3").verdict, Verdict::Warning);
        assert_eq!(throttling("950000\n", "?").verdict, Verdict::Warning);
        assert_eq!(throttling("1000000\n", "6.1.0").verdict, Verdict::Ok);
        assert_eq!(throttling("-1\n", "6.1.0").verdict, Verdict::Ok);
        assert_eq!(throttling("0\n", "6.1.0").verdict, Verdict::Missing);
        assert_eq!(throttling("much\n", "6.1.0").verdict, Verdict::Unknown);
    }

    #[test]
    fn the_fair_server_is_read_of_each_processor_and_not_guessed_without_debugfs() {
        let made_up = SimulatedMachine::of(&[("/sys/kernel/debug/.keep", "")]);
        let found = fair_server(&made_up.machine);
        assert_eq!(found.verdict, Verdict::Unknown);
        assert!(found.mend[0].contains("debugfs"), "{found:?}");
        made_up.write(&[(PREEMPT, "(full)")]);
        assert_eq!(fair_server(&made_up.machine).value, "the kernel has none");
        let at = |processor, file| format!("{SCHEDULER}/fair_server/{processor}/{file}");
        for (processor, runtime) in [("cpu0", "0"), ("cpu1", "50000000")] {
            let period = (&*at(processor, "period"), "1000000000\n");
            made_up.write(&[(&at(processor, "runtime"), runtime), period]);
        }
        assert_eq!(fair_server(&made_up.machine).value, "50 of 1000 ms");
        made_up.write(&[(&at("cpu1", "runtime"), "0\n")]);
        assert_eq!(fair_server(&made_up.machine).verdict, Verdict::Ok);
        made_up.write(&[(&at("cpu1", "runtime"), "x\n")]);
        assert_eq!(fair_server(&made_up.machine).verdict, Verdict::Unknown);
    }

    #[test]
    fn ksoftirqd_is_found_among_the_kernels_threads_and_nowhere_else() {
        let stat = |name: &str, parent: u32, priority: u32, policy: u32| {
            let between = "0 ".repeat(35);
            format!("14 ({name}) S {parent} {between}{priority} {policy} 0 0 0\n")
        };
        let made_up = SimulatedMachine::of(&[
            ("/proc/7/stat", &stat("ksoftirqd/9", 1, 0, 0)),
            ("/proc/8/stat", "8 (short) S"),
            ("/proc/9/stat", "\u{0}garbage"),
            ("/proc/self/stat", ""),
        ]);
        let softirq = || softirq(&made_up.machine).unwrap();
        assert_eq!(softirq().verdict, Verdict::Unknown);
        made_up.write(&[("/proc/14/stat", &stat("ksoftirqd/0", 2, 50, 1))]);
        let found = softirq();
        assert_eq!(
            (found.verdict, &*found.value),
            (Verdict::Ok, "SCHED_FIFO 50")
        );
        made_up.write(&[("/proc/22/stat", &stat("ksoftirqd/1", 2, 0, 0))]);
        let found = softirq();
        assert_eq!(found.verdict, Verdict::Warning);
        assert_eq!(found.value, "SCHED_OTHER, SCHED_FIFO 50");
    }
}
