//! Clocks and timers.

use super::finding::{Finding, Topic};
use super::machine::{Machine, Unknown};
use punctual_sys::discipline::Discipline;
use std::io;

const GROUP: &str = "clocks";

const SOURCE: Topic = Topic {
    group: GROUP,
    name: "clock source",
    why: "Time is read on every call's way: from the processor in some 20 ns, from a timer chip in a microsecond or more.",
};

const SLACK: Topic = Topic {
    group: GROUP,
    name: "timer slack",
    why: "Ordinary threads may wake this much later than they asked for; real-time threads wake in time.",
};

const DISCIPLINE: Topic = Topic {
    group: GROUP,
    name: "time of day",
    why: "Time stamps of several hosts can be compared as far as their clocks are synchronised: by PTP to TAI, whose seconds never repeat, for `punctual events serve --clock tai`.",
};

/// Clock sources that are read without a system call.
const QUICK: [&str; 6] = [
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "riscv_clocksource",
    "timebase",
];

/// Clock sources that are read from a chip or from the hypervisor, or that advance with the tick.
const SLOW: [&str; 7] = [
    "hpet",
    "acpi_pm",
    "pit",
    "hyperv_clocksource_msr",
    "xen",
    "jiffies",
    "refined-jiffies",
];

/// Default timer slack of a process, in nanoseconds.
const DEFAULT_SLACK: u64 = 50_000;

pub(super) fn findings(machine: &Machine, state: io::Result<Discipline>) -> Vec<Finding> {
    vec![
        SOURCE.or_unknown(source(machine)),
        SLACK.or_unknown(slack(machine)),
        match state {
            Ok(state) => time_of_day(&state),
            Err(error) => DISCIPLINE.unknown(format!("adjtimex: {error}")),
        },
    ]
}

fn source(machine: &Machine) -> Result<Finding, Unknown> {
    let folder = "/sys/devices/system/clocksource/clocksource0";
    let file = format!("{folder}/current_clocksource");
    let current = machine.text(&file)?;
    if QUICK.contains(&&*current) {
        return Ok(SOURCE.ok(current));
    }
    if !SLOW.contains(&&*current) {
        return Err(Unknown::NotUnderstood(file, current));
    }
    let available = machine.text(&format!("{folder}/available_clocksource"));
    let available = available.unwrap_or_default();
    let quicker = available.split_whitespace().find(|one| QUICK.contains(one));
    let found = SOURCE.warning(current);
    Ok(match quicker {
        Some(quicker) => found
            .mend(format!("echo {quicker} | sudo tee {file}"))
            .mend(format!("kernel parameter clocksource={quicker}")),
        None => found
            .mend("kernel parameter tsc=reliable, where all processors' time stamp counters agree"),
    })
}

fn slack(machine: &Machine) -> Result<Finding, Unknown> {
    let nanoseconds = machine.number::<u64>("/proc/self/timerslack_ns")?;
    let value = match nanoseconds {
        0..1000 => format!("{nanoseconds} ns"),
        _ => format!("{} µs", nanoseconds / 1000),
    };
    Ok(match nanoseconds {
        0..=DEFAULT_SLACK => SLACK.ok(value),
        _ => SLACK
            .warning(value)
            .mend("TimerSlackNSec=50us (systemd unit)"),
    })
}

fn time_of_day(state: &Discipline) -> Finding {
    if !state.is_synchronised {
        return DISCIPLINE
            .warning("CLOCK_REALTIME, not synchronised")
            .mend("a daemon for PTP (ptp4l and phc2sys of linuxptp) or NTP (chronyd)");
    }
    let clock = match state.has_tai() {
        true => format!("CLOCK_TAI, {} s ahead of UTC", state.tai_offset),
        false => "CLOCK_REALTIME, without the offset of TAI".to_owned(),
    };
    DISCIPLINE.ok(format!(
        "{clock}; to correct {} µs, estimated error {} µs, at most {} µs",
        state.offset / 1_000,
        state.estimated_error.as_micros(),
        state.maximum_error.as_micros()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::super::machine::tests::SimulatedMachine;
    use super::*;
    use std::time::Duration;

    const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

    #[test]
    fn a_timer_chip_is_warned_of_and_a_quicker_source_named_if_there_is_one() {
        let made_up =
            SimulatedMachine::of(&[(CURRENT, "hpet\n"), (AVAILABLE, "hpet acpi_pm tsc \n")]);
        let found = source(&made_up.machine).unwrap();
        assert_eq!((found.verdict, &*found.value), (Verdict::Warning, "hpet"));
        assert_eq!(found.mend[1], "kernel parameter clocksource=tsc");
        made_up.write(&[(AVAILABLE, "hpet\n")]);
        let found = source(&made_up.machine).unwrap();
        assert!(found.mend[0].contains("tsc=reliable"), "{found:?}");
    }

    #[test]
    fn the_processors_own_counter_is_good_and_what_is_not_known_is_not_judged() {
        for good in ["tsc\n", "kvm-clock\n", "arch_sys_counter\n"] {
            let made_up = SimulatedMachine::of(&[(CURRENT, good)]);
            assert_eq!(source(&made_up.machine).unwrap().verdict, Verdict::Ok);
        }
        assert!(source(&SimulatedMachine::of(&[(CURRENT, "sundial")]).machine).is_err());
        assert!(source(&SimulatedMachine::of(&[]).machine).is_err());
    }

    #[test]
    fn slack_above_the_default_is_warned_of() {
        let slack =
            |text| slack(&SimulatedMachine::of(&[("/proc/self/timerslack_ns", text)]).machine);
        assert_eq!(slack("50000\n").unwrap().value, "50 µs");
        assert_eq!(slack("1\n").unwrap().value, "1 ns");
        assert_eq!(slack("4000000\n").unwrap().verdict, Verdict::Warning);
        assert!(slack("-1").is_err());
    }

    #[test]
    fn the_clock_that_holds_is_told_with_its_offset_and_errors() {
        let state = |is_synchronised, tai_offset| Discipline {
            is_synchronised,
            tai_offset,
            offset: -2_400,
            estimated_error: Duration::from_micros(9),
            maximum_error: Duration::from_micros(512),
        };
        let found = time_of_day(&state(true, 37));
        let told =
            "CLOCK_TAI, 37 s ahead of UTC; to correct -2 µs, estimated error 9 µs, at most 512 µs";
        assert_eq!((found.verdict, &*found.value), (Verdict::Ok, told));
        let found = time_of_day(&state(true, 0));
        assert_eq!(found.verdict, Verdict::Ok);
        assert!(found.value.starts_with("CLOCK_REALTIME, without"));
        let found = time_of_day(&state(false, 37));
        assert_eq!(found.verdict, Verdict::Warning);
        assert!(found.mend[0].contains("ptp4l"));
    }
}
