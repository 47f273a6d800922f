//! Control groups: real-time budgets and quotas of processor time.

use super::finding::{Finding, Topic};
use super::machine::{Machine, Unknown};
use punctual_sys::quota::{self, Version};

const GROUP: &str = "control groups";

const REAL_TIME: Topic = Topic {
    group: GROUP,
    name: "real-time control group",
    why: "Where the kernel has CONFIG_RT_GROUP_SCHED, a control group without a budget of its own runs no real-time thread, whatever its rights.",
};

const QUOTA: Topic = Topic {
    group: GROUP,
    name: "CPU quota",
    why: "Ordinary threads of the group, such as those that log, stop when its quota is used up, and threads that wait for them are late.",
};

pub(super) fn findings(machine: &Machine) -> Vec<Finding> {
    vec![
        REAL_TIME.or_unknown(real_time(machine)),
        QUOTA.or_unknown(processor_quota(machine)),
    ]
}

fn real_time(machine: &Machine) -> Result<Finding, Unknown> {
    let own = quota::groups_under(machine.root(), "cpu")
        .map_err(|error| Unknown::of("/proc/self/cgroup", error))?;
    let own = own.iter().filter(|(_, version)| *version == Version::One);
    // In a container the process's own group may be invisible, and an enclosing one visible.
    let mut seen = own.map(|(group, _)| group).filter(|group| group.exists());
    let Some(group) = seen.next() else {
        return by_kernel_configuration(machine);
    };
    let file = machine.name(&group.join("cpu.rt_runtime_us"));
    Ok(match machine.number::<i64>(&file) {
        Err(Unknown::Missing(_)) => REAL_TIME.ok("the kernel has none"),
        Err(unknown) => return Err(unknown),
        Ok(0) => REAL_TIME
            .missing(format!("0 in {file}"))
            .mend(format!(
                "echo 100000 | sudo tee {file} # first those of the groups that hold it"
            ))
            .mend(BOOT),
        Ok(-1) => REAL_TIME.ok("unlimited"),
        Ok(runtime) => REAL_TIME.ok(format!("{} ms in a period", runtime / 1000)),
    })
}

const BOOT: &str = "kernel parameter rt_group_sched=0 (since Linux 6.16)";

/// Control groups of version 2 have no such file: the kernel's build configuration decides.
fn by_kernel_configuration(machine: &Machine) -> Result<Finding, Unknown> {
    match is_built_in(machine) {
        Err(unknown) => {
            let reason = format!("no cpu.rt_runtime_us in sight, and {unknown}");
            return Ok(REAL_TIME.unknown(reason));
        }
        Ok(false) => return Ok(REAL_TIME.ok("the kernel has none")),
        Ok(true) => {}
    }
    let group = machine.line("/proc/self/cgroup", "0::")?;
    // Only the root group has no type. A container may see its own group as the root.
    let has_type = machine
        .path(&format!("/sys/fs/cgroup{group}/cgroup.type"))
        .exists();
    if group == "/" && !has_type {
        return Ok(REAL_TIME.ok("the process is in the root group"));
    }
    Ok(REAL_TIME
        .warning("the kernel has CONFIG_RT_GROUP_SCHED, and the process is not in the root group")
        .mend("echo PID | sudo tee /sys/fs/cgroup/cgroup.procs")
        .mend(BOOT))
}

/// Returns `true` if the kernel has real-time control groups: by a file of version 1, or by its
/// build configuration.
pub(super) fn is_built_in(machine: &Machine) -> Result<bool, Unknown> {
    let root = machine.path("/sys/fs/cgroup/cpu");
    if root.join("cpu.shares").exists() {
        return Ok(root.join("cpu.rt_runtime_us").exists());
    }
    let release = machine.text("/proc/sys/kernel/osrelease")?;
    let options = machine.text(&format!("/boot/config-{release}"))?;
    Ok(options
        .lines()
        .any(|line| line == "CONFIG_RT_GROUP_SCHED=y"))
}

fn processor_quota(machine: &Machine) -> Result<Finding, Unknown> {
    let quota = quota::processors_under(machine.root())
        .map_err(|error| Unknown::of("/proc/self/cgroup", error))?;
    Ok(match quota {
        None => QUOTA.ok("none"),
        Some(processors) => QUOTA
            .warning(format!("{processors:.2} processors"))
            .mend("CPUQuota= (systemd unit: leave it empty)")
            .mend("without --cpus and --cpu-quota (docker, podman)"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::super::machine::tests::SimulatedMachine;
    use super::*;

    const GROUPS: (&str, &str) = ("/proc/self/cgroup", "3:cpu,cpuacct:/app\n0::/app\n");
    const RELEASE: (&str, &str) = ("/proc/sys/kernel/osrelease", "6.1.0-18\n");

    #[test]
    fn a_group_of_version_1_without_a_budget_is_named_with_the_file_that_gives_one() {
        let budget = "/sys/fs/cgroup/cpu/app/cpu.rt_runtime_us";
        let made_up = SimulatedMachine::of(&[GROUPS, (budget, "0\n")]);
        let found = real_time(&made_up.machine).unwrap();
        assert_eq!(found.verdict, Verdict::Missing);
        assert_eq!(found.value, format!("0 in {budget}"));
        assert!(found.mend[0].contains(budget), "{found:?}");
        made_up.write(&[(budget, "950000\n")]);
        assert_eq!(
            real_time(&made_up.machine).unwrap().value,
            "950 ms in a period"
        );
        made_up.write(&[(budget, "plenty")]);
        assert!(real_time(&made_up.machine).is_err());
    }

    #[test]
    fn a_group_out_of_sight_has_the_budget_of_the_one_that_holds_it() {
        let made_up =
            SimulatedMachine::of(&[GROUPS, ("/sys/fs/cgroup/cpu/cpu.rt_runtime_us", "-1\n")]);
        assert_eq!(real_time(&made_up.machine).unwrap().value, "unlimited");
    }

    #[test]
    fn groups_of_version_2_depend_on_what_the_kernel_was_built_with() {
        let made_up = SimulatedMachine::of(&[("/proc/self/cgroup", "0::/app\n"), RELEASE]);
        let verdict = |options: &str| {
            made_up.write(&[("/boot/config-6.1.0-18", options)]);
            real_time(&made_up.machine).unwrap().verdict
        };
        let found = real_time(&made_up.machine).unwrap();
        assert_eq!(found.verdict, Verdict::Unknown, "{found:?}");
        assert_eq!(verdict("# CONFIG_RT_GROUP_SCHED is not set\n"), Verdict::Ok);
        assert_eq!(verdict("CONFIG_RT_GROUP_SCHED=y\n"), Verdict::Warning);
        made_up.write(&[("/proc/self/cgroup", "0::/\n")]);
        assert_eq!(verdict("CONFIG_RT_GROUP_SCHED=y\n"), Verdict::Ok);
        made_up.write(&[("/sys/fs/cgroup/cgroup.type", "domain\n")]);
        assert_eq!(verdict("CONFIG_RT_GROUP_SCHED=y\n"), Verdict::Warning);
    }

    #[test]
    fn a_quota_is_in_processors() {
        let quota = "/sys/fs/cgroup/app/cpu.max";
        let made_up = SimulatedMachine::of(&[
            ("/proc/self/cgroup", "0::/app\n"),
            (quota, "50000 100000\n"),
        ]);
        let found = processor_quota(&made_up.machine).unwrap();
        assert_eq!(
            (found.verdict, &*found.value),
            (Verdict::Warning, "0.50 processors")
        );
        made_up.write(&[(quota, "max 100000\n")]);
        assert_eq!(
            processor_quota(&made_up.machine).unwrap().verdict,
            Verdict::Ok
        );
        assert!(processor_quota(&SimulatedMachine::of(&[]).machine).is_err());
    }
}
