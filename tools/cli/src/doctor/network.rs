//! Network devices: processors that their interrupts go to, and where their packets are received (NAPI).

use super::finding::{Finding, Topic};
use super::machine::{Machine, Unknown};
use std::collections::BTreeSet;
use std::io;

const GROUP: &str = "network";

const INTERRUPTS: Topic = Topic {
    group: GROUP,
    name: "interrupts of devices",
    why: "A device's interrupt, and the kernel's reading of its packets, delay whatever runs on their processors, at any priority.",
};

const RECEIVING: Topic = Topic {
    group: GROUP,
    name: "reading of packets (NAPI)",
    why: "In interrupts packets are read before any thread runs; threads of NAPI have priorities, and are pinned like others.",
};

const POLLING: Topic = Topic {
    group: GROUP,
    name: "busy polling",
    why: "With busy_poll_us threads read a device's queue themselves instead of waiting for its interrupt; pools of threads wait by epoll, which can do so from Linux 6.9 on.",
};

const FOLDER: &str = "/sys/class/net";

pub(super) fn findings(machine: &Machine) -> Vec<Finding> {
    vec![
        INTERRUPTS.or_unknown(interrupts(machine)),
        RECEIVING.or_unknown(receiving(machine)),
        POLLING.or_unknown(polling(machine, &polls_by_epoll())),
    ]
}

/// Returns whether this kernel's epoll can poll devices, or its error.
fn polls_by_epoll() -> io::Result<()> {
    let epoll = punctual_sys::epoll::Epoll::new()?;
    punctual_sys::traffic::epoll_busy_poll(&epoll).map(drop)
}

fn polling(machine: &Machine, by_epoll: &io::Result<()>) -> Result<Finding, Unknown> {
    let sockets = machine.text("/proc/sys/net/core/busy_read")?;
    let epoll = machine.text("/proc/sys/net/core/busy_poll")?;
    let by_epoll = match by_epoll {
        Ok(()) => "also for pools of threads (epoll)".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            "for a thread that waits for one connection; not for pools, as this kernel's epoll cannot"
                .to_owned()
        }
        Err(error) => format!("for pools it is unknown: {error}"),
    };
    let all = match (sockets.trim(), epoll.trim()) {
        ("0", "0") => "off unless asked for".to_owned(),
        (sockets, epoll) => format!("{sockets} µs for all sockets, {epoll} µs for all of epoll"),
    };
    Ok(POLLING.ok(format!("{all}; busy_poll_us works {by_epoll}")))
}

/// Returns the network devices that are not loopback, with hardware behind them.
fn devices(machine: &Machine) -> Result<Vec<String>, Unknown> {
    let mut names = machine.names(FOLDER)?;
    names.retain(|name| machine.path(&format!("{FOLDER}/{name}/device")).exists());
    Ok(names)
}

fn interrupts(machine: &Machine) -> Result<Finding, Unknown> {
    let devices = devices(machine)?;
    let isolated = machine.text("/sys/devices/system/cpu/isolated");
    let isolated = numbers(&isolated.unwrap_or_default());
    let mut parts = Vec::new();
    let mut on_isolated = false;
    for device in &devices {
        for interrupt in interrupts_of(machine, device) {
            let list = affinity(machine, &interrupt)?;
            on_isolated |= !numbers(&list).is_disjoint(&isolated);
            parts.push(format!("{device} {interrupt} on {list}"));
        }
    }
    let value = match (devices.is_empty(), parts.is_empty()) {
        (true, _) => "no device but virtual ones".to_owned(),
        (false, true) => format!("{}: none of their own", devices.join(", ")),
        _ => parts.join(", "),
    };
    Ok(match on_isolated {
        true => INTERRUPTS
            .warning(format!("{value}: some on isolated processors"))
            .mend("echo LIST | sudo tee /proc/irq/NUMBER/smp_affinity_list, and irqbalance off or with IRQBALANCE_BANNED_CPULIST"),
        false => INTERRUPTS.ok(value),
    })
}

/// Returns the numbers of a device's interrupts: its own, or those of the bus device that it is on.
fn interrupts_of(machine: &Machine, device: &str) -> Vec<String> {
    let folders = ["device/msi_irqs", "device/../msi_irqs"];
    let found = folders
        .iter()
        .find_map(|folder| machine.names(&format!("{FOLDER}/{device}/{folder}")).ok());
    let mut numbers = found.unwrap_or_default();
    numbers.retain(|number| number.parse::<u32>().is_ok());
    numbers
}

fn affinity(machine: &Machine, interrupt: &str) -> Result<String, Unknown> {
    let effective = machine.text(&format!("/proc/irq/{interrupt}/effective_affinity_list"));
    match effective {
        Ok(list) if !list.is_empty() => Ok(list),
        _ => machine.text(&format!("/proc/irq/{interrupt}/smp_affinity_list")),
    }
}

fn receiving(machine: &Machine) -> Result<Finding, Unknown> {
    let mut parts = Vec::new();
    for device in devices(machine)? {
        let threaded = machine.text(&format!("{FOLDER}/{device}/threaded"));
        let how = match threaded.as_deref() {
            Ok("1") => "by threads napi/*",
            Ok("0") => "in interrupts",
            Ok("2") => "by busy polling",
            _ => "unknown how",
        };
        let queues = machine.names(&format!("{FOLDER}/{device}/queues"));
        let queues = queues.unwrap_or_default();
        let steered: Vec<String> = queues
            .iter()
            .filter(|queue| queue.starts_with("rx-"))
            .filter_map(|queue| {
                let mask = machine.text(&format!("{FOLDER}/{device}/queues/{queue}/rps_cpus"));
                let mask = mask.ok()?;
                let is_set = mask
                    .chars()
                    .any(|digit| digit.is_ascii_hexdigit() && digit != '0');
                is_set.then(|| format!("{queue} to mask {mask}"))
            })
            .collect();
        let received = queues
            .iter()
            .filter(|queue| queue.starts_with("rx-"))
            .count();
        let steered = match steered.is_empty() {
            true => "no RPS".to_owned(),
            false => format!("RPS {}", steered.join(", ")),
        };
        parts.push(format!("{device} {how}, {received} queues, {steered}"));
    }
    Ok(match parts.is_empty() {
        true => RECEIVING.ok("no device but virtual ones"),
        false => RECEIVING.ok(parts.join("; ")),
    })
}

/// Returns the processors of a list such as `0-2,7`; those that are understood.
fn numbers(list: &str) -> BTreeSet<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        // No machine has as many; a list of garbage takes no memory.
        Some(first..=last.min(first.saturating_add(8_192)))
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::super::machine::tests::SimulatedMachine;
    use super::*;

    fn with(isolated: &str) -> SimulatedMachine {
        SimulatedMachine::of(&[
            ("/sys/class/net/lo/threaded", "0"),
            ("/sys/class/net/eth0/threaded", "1"),
            ("/sys/class/net/eth0/device/msi_irqs/38", "msix"),
            ("/sys/class/net/eth0/device/msi_irqs/39", "msix"),
            (
                "/sys/class/net/eth0/queues/rx-0/rps_cpus",
                "00000000,00000002",
            ),
            ("/sys/class/net/eth0/queues/tx-0/xps_cpus", "0"),
            ("/proc/irq/38/effective_affinity_list", "1"),
            ("/proc/irq/39/effective_affinity_list", ""),
            ("/proc/irq/39/smp_affinity_list", "2-3"),
            ("/sys/devices/system/cpu/isolated", isolated),
            ("/proc/sys/net/core/busy_read", "0"),
            ("/proc/sys/net/core/busy_poll", "50"),
        ])
    }

    #[test]
    fn interrupts_of_devices_and_their_reading_are_shown() {
        let machine = with("");
        let found = findings(&machine.machine);
        assert_eq!(found[0].value, "eth0 38 on 1, eth0 39 on 2-3");
        assert_eq!(found[0].verdict, Verdict::Ok);
        let napi = "eth0 by threads napi/*, 1 queues, RPS rx-0 to mask 00000000,00000002";
        assert_eq!(found[1].value, napi);
    }

    #[test]
    fn busy_polling_says_what_the_kernel_can() {
        let machine = with("");
        let value = |by_epoll| polling(&machine.machine, &by_epoll).unwrap().value;
        let can = "0 µs for all sockets, 50 µs for all of epoll; busy_poll_us works also for pools of threads (epoll)";
        assert_eq!(value(Ok(())), can);
        let unsupported = value(Err(io::ErrorKind::Unsupported.into()));
        assert!(
            unsupported.ends_with("not for pools, as this kernel's epoll cannot"),
            "{unsupported}"
        );
    }

    #[test]
    fn interrupts_on_isolated_processors_are_warned_of() {
        let found = findings(&with("3-5").machine);
        assert_eq!(found[0].verdict, Verdict::Warning);
        assert!(found[0].mend[0].contains("smp_affinity_list"));
        assert_eq!(findings(&with("4-5").machine)[0].verdict, Verdict::Ok);
    }
}
