//! Memory that may have to be brought in when a thread needs it.

use super::finding::{Finding, Topic};
use super::machine::{Machine, Unknown};

const GROUP: &str = "memory";

const SWAP: Topic = Topic {
    group: GROUP,
    name: "swap",
    why: "A thread that needs a page which was swapped out waits for a disk, unless the process's memory is locked.",
};

const HUGE_PAGES: Topic = Topic {
    group: GROUP,
    name: "transparent huge pages",
    why: "Where they are `always` made, a page fault may first have to move other pages, for milliseconds.",
};

pub(super) fn findings(machine: &Machine) -> Vec<Finding> {
    vec![
        SWAP.or_unknown(swap(machine)),
        HUGE_PAGES.or_unknown(huge_pages(machine)),
    ]
}

/// Examines swap. `/proc/swaps` has a header line, and one line for each area: name, type, size and
/// use in KiB, priority.
fn swap(machine: &Machine) -> Result<Finding, Unknown> {
    let file = "/proc/swaps";
    let text = machine.text(file)?;
    let mut lines = text.lines();
    if !lines.next().unwrap_or_default().starts_with("Filename") {
        return Err(Unknown::NotUnderstood(file.to_owned(), text));
    }
    let (mut areas, mut used) = (0_u32, 0_u64);
    for line in lines {
        let field = line.split_whitespace().nth(3).map(str::parse::<u64>);
        let Some(Ok(kibibytes)) = field else {
            return Err(Unknown::NotUnderstood(file.to_owned(), line.to_owned()));
        };
        areas += 1;
        used = used.saturating_add(kibibytes);
    }
    Ok(match areas {
        0 => SWAP.ok("none"),
        _ => SWAP
            .warning(format!("{used} KiB in use"))
            .mend("lock the program's memory (`mlockall`)")
            .mend("sudo swapoff --all"),
    })
}

fn huge_pages(machine: &Machine) -> Result<Finding, Unknown> {
    let file = "/sys/kernel/mm/transparent_hugepage/enabled";
    let modes = match machine.text(file) {
        Err(Unknown::Missing(_)) if machine.path("/sys/kernel/mm").exists() => {
            return Ok(HUGE_PAGES.ok("the kernel has none"));
        }
        modes => modes?,
    };
    match chosen(&modes) {
        Some(mode @ ("madvise" | "never")) => Ok(HUGE_PAGES.ok(mode)),
        Some("always") => Ok(HUGE_PAGES
            .warning("always")
            .mend(format!("echo madvise | sudo tee {file}"))
            .mend("kernel parameter transparent_hugepage=madvise")),
        _ => Err(Unknown::NotUnderstood(file.to_owned(), modes)),
    }
}

/// Returns the word in square brackets, among several words.
fn chosen(modes: &str) -> Option<&str> {
    let (_, rest) = modes.split_once('[')?;
    Some(rest.split_once(']')?.0)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Verdict;
    use super::super::machine::tests::SimulatedMachine;
    use super::*;

    const TITLES: &str = "Filename\tType\tSize\tUsed\tPriority\n";

    #[test]
    fn swap_in_use_is_added_up() {
        let swap = |areas: &str| {
            let text = format!("{TITLES}{areas}");
            swap(&SimulatedMachine::of(&[("/proc/swaps", &text)]).machine)
        };
        assert_eq!(swap("").unwrap().verdict, Verdict::Ok);
        let found =
            swap("/dev/sda2 partition 1000 12 -2\n/swap\\040file file 1000 30 -3\n").unwrap();
        assert_eq!(
            (found.verdict, &*found.value),
            (Verdict::Warning, "42 KiB in use")
        );
        assert!(swap("/dev/sda2 partition lots\n").is_err());
        assert!(super::swap(&SimulatedMachine::of(&[("/proc/swaps", "")]).machine).is_err());
    }

    #[test]
    fn huge_pages_are_as_the_word_in_brackets_says() {
        let file = "/sys/kernel/mm/transparent_hugepage/enabled";
        let verdict = |text| huge_pages(&SimulatedMachine::of(&[(file, text)]).machine);
        assert_eq!(
            verdict("[always] madvise never\n").unwrap().verdict,
            Verdict::Warning
        );
        assert_eq!(
            verdict("always [madvise] never\n").unwrap().verdict,
            Verdict::Ok
        );
        assert!(verdict("always madvise").is_err());
        assert!(verdict("]always[").is_err());
        assert!(huge_pages(&SimulatedMachine::of(&[]).machine).is_err());
        let without = SimulatedMachine::of(&[("/sys/kernel/mm/ksm/run", "0")]);
        assert_eq!(huge_pages(&without.machine).unwrap().verdict, Verdict::Ok);
    }
}
