//! The facts of the machine that figures depend on.

use serde::Serialize;
use std::fs;

/// What a reader needs to know to compare figures.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The processor's model.
    pub processor: String,
    /// Processors that the benchmark may run on.
    pub processors: usize,
    /// Whether it is a virtual machine, as far as it says.
    pub virtual_machine: bool,
    /// The kernel's release.
    pub kernel: String,
    /// The instruction set.
    pub architecture: &'static str,
}

impl Machine {
    /// This one; what it does not tell is "unknown".
    #[must_use]
    pub fn this() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok();
        Self {
            processor: field(&cpuinfo, "model name").unwrap_or_else(unknown),
            processors: punctual_sys::processor::allowed().map_or(0, |all| all.len()),
            virtual_machine: field(&cpuinfo, "flags")
                .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
            kernel: release.map_or_else(unknown, |release| release.trim().to_owned()),
            architecture: std::env::consts::ARCH,
        }
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn field(cpuinfo: &str, name: &str) -> Option<String> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_cpuinfo_is_found_by_its_name() {
        let text = "processor\t: 0\nmodel name\t: A Processor\nflags\t\t: fpu hypervisor\n";
        assert_eq!(field(text, "model name").unwrap(), "A Processor");
        assert_eq!(field(text, "model"), None);
    }
}
