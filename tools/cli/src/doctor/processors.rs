//! Processors: their number, isolation, frequency, and wake-up latency.

use super::finding::{Finding, Topic};
use super::machine::{Machine, Unknown};
use punctual_sys::{access, processor};
use std::collections::BTreeSet;

const GROUP: &str = "processors";

const PROCESSORS: Topic = Topic {
    group: GROUP,
    name: "processors",
    why: "On a single processor, interrupts and all other programs take turns with real-time threads.",
};

const ISOLATED: Topic = Topic {
    group: GROUP,
    name: "isolated processors",
    why: "No ordinary thread is moved to an isolated processor; real-time threads are pinned there.",
};

const TICKLESS: Topic = Topic {
    group: GROUP,
    name: "processors without a tick",
    why: "On processors with a tick, the timer interrupts even a thread that runs alone 100 to 1,000 times a second, for microseconds.",
};

const GOVERNOR: Topic = Topic {
    group: GROUP,
    name: "frequency governor",
    why: "All governors but `performance` slow down processors that are mostly idle, and a call then starts on a slow one.",
};

const IDLE: Topic = Topic {
    group: GROUP,
    name: "idle states",
    why: "A processor in its deepest idle state needs this time to wake up before a thread runs.",
};

const LATENCY: Topic = Topic {
    group: GROUP,
    name: "/dev/cpu_dma_latency",
    why: "A program that holds it open, with a 0 of 4 bytes written, keeps processors out of deep idle states.",
};

const VIRTUAL: Topic = Topic {
    group: GROUP,
    name: "virtual machine",
    why: "A hypervisor may take any processor away for an unlimited time, whatever the priority of its thread.",
};

const FOLDER: &str = "/sys/devices/system/cpu";

/// Maximum acceptable wake-up latency of a processor, in microseconds.
const MAX_EXIT_LATENCY: u64 = 20;

pub(super) fn findings(machine: &Machine) -> Vec<Finding> {
    vec![
        PROCESSORS.or_unknown(processors(machine)),
        ISOLATED.or_unknown(isolated(machine)),
        TICKLESS.or_unknown(tickless(machine)),
        GOVERNOR.or_unknown(governor(machine)),
        IDLE.or_unknown(idle(machine)),
        latency(machine),
        VIRTUAL.or_unknown(examine_virtual(machine)),
    ]
}

fn processors(machine: &Machine) -> Result<Finding, Unknown> {
    let status = "/proc/self/status";
    let allowed = machine.line(status, "Cpus_allowed_list:")?;
    let count = processor::count(&allowed)
        .ok_or_else(|| Unknown::NotUnderstood(status.to_owned(), allowed.clone()))?;
    let value = match machine.text(&format!("{FOLDER}/online")) {
        Ok(online) if processor::count(&online).is_some() => {
            format!("{allowed} of {online}")
        }
        _ => allowed,
    };
    Ok(match count {
        1 => PROCESSORS
            .warning(value)
            .mend("taskset, AllowedCPUs= (systemd unit) or --cpuset-cpus (docker, podman) with more than one"),
        _ => PROCESSORS.ok(value),
    })
}

fn isolated(machine: &Machine) -> Result<Finding, Unknown> {
    let list = listed(machine, "isolated")?;
    Ok(match list.as_deref() {
        Some(list) => ISOLATED.ok(list),
        None => ISOLATED
            .warning("none")
            .mend("kernel parameters isolcpus=LIST nohz_full=LIST rcu_nocbs=LIST")
            .mend("echo isolated | sudo tee /sys/fs/cgroup/NAME/cpuset.cpus.partition"),
    })
}

fn tickless(machine: &Machine) -> Result<Finding, Unknown> {
    let list = match listed(machine, "nohz_full") {
        Err(Unknown::Missing(_)) if machine.path(FOLDER).exists() => {
            return Ok(match isolated_somewhere(machine) {
                true => TICKLESS
                    .warning("none: the kernel has no CONFIG_NO_HZ_FULL")
                    .mend("a kernel with CONFIG_NO_HZ_FULL"),
                false => TICKLESS.ok("none: the kernel has no CONFIG_NO_HZ_FULL"),
            });
        }
        list => list?,
    };
    Ok(match list.as_deref() {
        Some(list) => TICKLESS.ok(list),
        None if isolated_somewhere(machine) => TICKLESS
            .warning("none")
            .mend("kernel parameter nohz_full=LIST"),
        None => TICKLESS.ok("none"),
    })
}

/// Returns `true` if there are isolated processors: without them, the tick does not matter.
fn isolated_somewhere(machine: &Machine) -> bool {
    matches!(listed(machine, "isolated"), Ok(Some(_)))
}

/// Returns the processors that a file lists; `None` if it lists none.
fn listed(machine: &Machine, name: &str) -> Result<Option<String>, Unknown> {
    let file = format!("{FOLDER}/{name}");
    let list = machine.text(&file)?;
    match processor::count(&list) {
        Some(_) => Ok(Some(list)),
        None if list.is_empty() || list == "(null)" => Ok(None),
        None => Err(Unknown::NotUnderstood(file, list)),
    }
}

/// Returns the folders of the processors.
fn each(machine: &Machine) -> Result<Vec<String>, Unknown> {
    let is_one = |name: &String| {
        let number = name.strip_prefix("cpu").unwrap_or_default();
        !number.is_empty() && number.bytes().all(|one| one.is_ascii_digit())
    };
    let names = machine.names(FOLDER)?.into_iter().filter(is_one);
    Ok(names.map(|name| format!("{FOLDER}/{name}")).collect())
}

fn governor(machine: &Machine) -> Result<Finding, Unknown> {
    let mut governors = BTreeSet::new();
    for processor in each(machine)? {
        match machine.text(&format!("{processor}/cpufreq/scaling_governor")) {
            Ok(governor) => governors.insert(governor),
            Err(Unknown::Missing(_)) => false,
            Err(unknown) => return Err(unknown),
        };
    }
    if governors.is_empty() {
        let reason = "the kernel sets no frequencies; firmware or a hypervisor may";
        return Ok(GOVERNOR.unknown(reason));
    }
    let is_good = governors.iter().all(|one| one == "performance");
    let shown = governors.into_iter().collect::<Vec<_>>().join(", ");
    Ok(match is_good {
        true => GOVERNOR.ok(shown),
        false => GOVERNOR
            .warning(shown)
            .mend("sudo cpupower frequency-set --governor performance"),
    })
}

fn idle(machine: &Machine) -> Result<Finding, Unknown> {
    let mut slowest: Option<(u64, String)> = None;
    for processor in each(machine)? {
        let folder = format!("{processor}/cpuidle");
        let states = match machine.names(&folder) {
            Err(Unknown::Missing(_)) => continue,
            states => states?,
        };
        for state in states.iter().filter(|name| name.starts_with("state")) {
            let state = format!("{folder}/{state}");
            let is_off = matches!(machine.number(&format!("{state}/disable")), Ok(1));
            if is_off {
                continue;
            }
            let latency = machine.number(&format!("{state}/latency"))?;
            let name = machine.text(&format!("{state}/name"))?;
            slowest = slowest.max(Some((latency, name)));
        }
    }
    Ok(match slowest {
        None => {
            IDLE.unknown("the kernel lists no idle states; firmware or a hypervisor may have some")
        }
        Some((latency, name)) if latency > MAX_EXIT_LATENCY => IDLE
            .warning(format!("up to {latency} µs ({name})"))
            .mend(format!(
                "sudo cpupower idle-set --disable-by-latency {MAX_EXIT_LATENCY}"
            ))
            .mend("hold /dev/cpu_dma_latency open while the program runs"),
        Some((latency, name)) => IDLE.ok(format!("up to {latency} µs ({name})")),
    })
}

/// Examines whether the file may be written. The file is not opened, as opening it already changes
/// the kernel's behaviour.
fn latency(machine: &Machine) -> Finding {
    let file = LATENCY.name;
    match access::check_writable(&machine.path(file)) {
        Ok(()) => LATENCY.ok("may be written"),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => LATENCY
            .warning("may not be written")
            .mend(r#"echo 'KERNEL=="cpu_dma_latency", GROUP="GROUP", MODE="0660"' | sudo tee /etc/udev/rules.d/70-cpu-dma-latency.rules"#),
        Err(error) => LATENCY.unknown(Unknown::of(file, error)),
    }
}

/// Returns whether the processors are virtual; `None` if the kernel does not say.
pub(super) fn is_virtual(machine: &Machine) -> Option<bool> {
    has_virtual_flag(machine).ok().flatten()
}

/// Returns whether the processors have the flag of a hypervisor; `None` for processors without flags, which only
/// x86 has.
fn has_virtual_flag(machine: &Machine) -> Result<Option<bool>, Unknown> {
    let info = machine.text("/proc/cpuinfo")?;
    let flags = info.lines().find_map(|line| {
        let (label, flags) = line.split_once(':')?;
        (label.trim() == "flags").then_some(flags)
    });
    Ok(flags.map(|flags| flags.split_whitespace().any(|one| one == "hypervisor")))
}

/// Examines whether the machine is virtual.
fn examine_virtual(machine: &Machine) -> Result<Finding, Unknown> {
    Ok(match has_virtual_flag(machine)? {
        Some(true) => VIRTUAL
            .warning("yes")
            .mend("virtual processors that the hypervisor pins to processors of their own, or a machine without one"),
        Some(false) => VIRTUAL.ok("no"),
        None => VIRTUAL.unknown("/proc/cpuinfo has no flags, as only x86 has"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::super::machine::tests::SimulatedMachine;
    use super::*;

    fn verdict(found: Result<Finding, Unknown>) -> Verdict {
        PROCESSORS.or_unknown(found).verdict
    }

    #[test]
    fn a_process_on_one_processor_is_warned_of() {
        let processors = |list: &str| {
            let status = format!("Cpus_allowed_list:\t{list}\n");
            let online = ("/sys/devices/system/cpu/online", "0-7\n");
            let made_up = SimulatedMachine::of(&[("/proc/self/status", &status), online]);
            PROCESSORS.or_unknown(super::processors(&made_up.machine))
        };
        assert_eq!(processors("2-3").value, "2-3 of 0-7");
        assert_eq!(processors("2-3").verdict, Verdict::Ok);
        assert_eq!(processors("5").verdict, Verdict::Warning);
        assert_eq!(processors("all").verdict, Verdict::Unknown);
        assert_eq!(
            processors("0-18446744073709551615").verdict,
            Verdict::Unknown
        );
    }

    #[test]
    fn isolated_processors_want_no_tick() {
        let (isolated_file, tickless_file) = (
            "/sys/devices/system/cpu/isolated",
            "/sys/devices/system/cpu/nohz_full",
        );
        let made_up = SimulatedMachine::of(&[(isolated_file, "\n")]);
        let machine = &made_up.machine;
        assert_eq!(verdict(isolated(machine)), Verdict::Warning);
        assert_eq!(verdict(tickless(machine)), Verdict::Ok);
        made_up.write(&[(isolated_file, "2-3\n"), (tickless_file, "(null)\n")]);
        assert_eq!(isolated(machine).unwrap().value, "2-3");
        assert_eq!(verdict(tickless(machine)), Verdict::Warning);
        made_up.write(&[(tickless_file, "2-3\n")]);
        assert_eq!(verdict(tickless(machine)), Verdict::Ok);
        made_up.write(&[(isolated_file, "some\n")]);
        assert_eq!(verdict(isolated(machine)), Verdict::Unknown);
    }

    #[test]
    fn one_processor_with_another_governor_is_enough_to_warn() {
        let file = |number: u32| format!("{FOLDER}/cpu{number}/cpufreq/scaling_governor");
        let made_up = SimulatedMachine::of(&[(&format!("{FOLDER}/cpufreq/boost"), "1")]);
        let machine = &made_up.machine;
        assert_eq!(verdict(governor(machine)), Verdict::Unknown);
        made_up.write(&[(&file(0), "performance\n"), (&file(10), "performance\n")]);
        assert_eq!(verdict(governor(machine)), Verdict::Ok);
        made_up.write(&[(&file(3), "powersave\n")]);
        assert_eq!(governor(machine).unwrap().value, "performance, powersave");
        assert_eq!(verdict(governor(machine)), Verdict::Warning);
    }

    #[test]
    fn the_slowest_idle_state_that_is_on_counts() {
        let file = |state: u32, name: &str| format!("{FOLDER}/cpu0/cpuidle/state{state}/{name}");
        let made_up = SimulatedMachine::of(&[
            (&file(0, "name"), "POLL\n"),
            (&file(0, "latency"), "0\n"),
            (&file(1, "name"), "C6\n"),
            (&file(1, "latency"), "133\n"),
            (&file(1, "disable"), "0\n"),
        ]);
        let machine = &made_up.machine;
        assert_eq!(idle(machine).unwrap().value, "up to 133 µs (C6)");
        assert_eq!(verdict(idle(machine)), Verdict::Warning);
        made_up.write(&[(&file(1, "disable"), "1\n")]);
        assert_eq!(verdict(idle(machine)), Verdict::Ok);
        made_up.write(&[(&file(0, "latency"), "?\n")]);
        assert_eq!(verdict(idle(machine)), Verdict::Unknown);
    }

    #[test]
    fn a_hypervisor_is_told_by_the_processors_flags() {
        let with =
            |info| examine_virtual(&SimulatedMachine::of(&[("/proc/cpuinfo", info)]).machine);
        assert_eq!(
            verdict(with("flags\t\t: fpu hypervisor lm\n")),
            Verdict::Warning
        );
        assert_eq!(verdict(with("flags\t\t: fpu lm\n")), Verdict::Ok);
        assert_eq!(verdict(with("Features\t: fp asimd\n")), Verdict::Unknown);
    }

    #[test]
    fn a_device_that_is_not_there_is_not_judged() {
        let made_up = SimulatedMachine::of(&[]);
        assert_eq!(latency(&made_up.machine).verdict, Verdict::Unknown);
        made_up.write(&[("/dev/cpu_dma_latency", "")]);
        assert_eq!(latency(&made_up.machine).verdict, Verdict::Ok);
    }
}
