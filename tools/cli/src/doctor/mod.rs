//! `punctual doctor`: rights and settings of this machine for a real-time program, with hints for
//! missing ones.
//!
//! Each group of findings is a module. They read files of a [`Machine`], which tests simulate, and
//! ask the kernel for scheduling policies; nothing is changed. A value that cannot be read is
//! reported as unknown, with the reason, and is never a failure.

mod clocks;
mod facts;
mod finding;
mod groups;
mod kernel;
mod machine;
mod memory;
mod network;
mod policies;
mod processors;
mod report;
mod rights;
mod text;

pub(crate) use facts::{Facts, Throttling, facts};
use machine::Machine;
use policies::Grants;
use punctual_sys::discipline::Discipline;
use report::Report;
use std::io;
use std::process::ExitCode;

/// Options of `punctual doctor`.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Changes nothing. The exit status is 0 if a Real-time ORB with default settings starts here, which \
                       takes SCHED_FIFO at every priority, and 1 if not.\n\n\
                       docs/real-time.md, \"What the machine grants\", says more.\n"
)]
pub(crate) struct Options {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let report = examine(&Machine::this(), &policies::ask_kernel, Discipline::now());
    if options.json {
        match serde_json::to_string_pretty(&report) {
            Ok(text) => anstream::println!("{text}"),
            Err(error) => return crate::fail(error, None),
        }
    } else {
        text::print(&report);
    }
    match report.granted {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn examine(machine: &Machine, grants: Grants<'_>, time_of_day: io::Result<Discipline>) -> Report {
    let findings = [
        rights::findings(machine),
        policies::findings(machine, grants),
        groups::findings(machine),
        kernel::findings(machine),
        processors::findings(machine),
        network::findings(machine),
        clocks::findings(machine, time_of_day),
        memory::findings(machine),
    ];
    Report {
        granted: policies::is_enough(grants),
        findings: findings.into_iter().flatten().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::finding::Verdict;
    use super::machine::tests::SimulatedMachine;
    use super::*;
    use std::path::Path;

    /// Paths of all files that are read.
    const FILES: [&str; 33] = [
        "/boot/config-garbage",
        "/dev/cpu_dma_latency",
        "/proc/14/stat",
        "/proc/cpuinfo",
        "/proc/irq/38/effective_affinity_list",
        "/proc/self/cgroup",
        "/proc/self/limits",
        "/proc/self/status",
        "/proc/self/timerslack_ns",
        "/proc/swaps",
        "/proc/sys/kernel/osrelease",
        "/proc/sys/kernel/sched_rt_period_us",
        "/proc/sys/kernel/sched_rt_runtime_us",
        "/proc/sys/kernel/version",
        "/sys/class/net/eth0/device/msi_irqs/38",
        "/sys/class/net/eth0/threaded",
        "/sys/devices/system/clocksource/clocksource0/available_clocksource",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "/sys/devices/system/cpu/cpu0/cpuidle/state0/disable",
        "/sys/devices/system/cpu/cpu0/cpuidle/state0/latency",
        "/sys/devices/system/cpu/cpu0/cpuidle/state0/name",
        "/sys/devices/system/cpu/isolated",
        "/sys/devices/system/cpu/nohz_full",
        "/sys/devices/system/cpu/online",
        "/sys/fs/cgroup/cpu.max",
        "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
        "/sys/fs/cgroup/cpu/cpu.rt_runtime_us",
        "/sys/kernel/debug/sched/fair_server/cpu0/period",
        "/sys/kernel/debug/sched/fair_server/cpu0/runtime",
        "/sys/kernel/debug/sched/preempt",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/realtime",
    ];

    fn refuse(_: punctual_sys::scheduling::Scheduling) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn refused() -> io::Result<Discipline> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    #[test]
    fn a_machine_that_tells_nothing_is_unknown_and_each_time_with_a_reason() {
        let report = examine(&Machine::under(Path::new("/not/there")), &refuse, refused());
        assert!(!report.granted);
        for one in &report.findings {
            assert!(!one.value.is_empty() && !one.why.is_empty(), "{one:?}");
            let is_tried = one.group == "scheduling policies";
            assert_eq!(one.verdict == Verdict::Unknown, !is_tried, "{one:?}");
        }
    }

    #[test]
    fn garbage_in_any_file_is_never_a_panic() {
        let long = "9".repeat(5000);
        let texts = [
            "",
            "\n",
            "garbage",
            "-1",
            "18446744073709551616",
            "0-",
            ",",
            ")(",
            "(",
            ":::",
            "\u{0}\u{1b}[2J",
            "1:cpu:/",
            "CapEff:\nCpus_allowed_list:",
            "Filename\n a",
            "[",
            "Max realtime priority",
            &long,
        ];
        for text in texts {
            let made_up = SimulatedMachine::of(&FILES.map(|file| (file, text)));
            let report = examine(&made_up.machine, &refuse, refused());
            let said = serde_json::to_string(&report).unwrap();
            assert!(!said.contains("\\u001b"), "{said}");
        }
    }

    #[test]
    fn what_json_says_is_what_the_exit_status_says() {
        let report = examine(&Machine::this(), &|_| Ok(()), Discipline::now());
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["granted"], true);
        let names: std::collections::BTreeSet<_> =
            report.findings.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), report.findings.len());
    }
}
