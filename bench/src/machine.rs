//! Properties of the machine that figures depend on.

use crate::experiment::Row;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::process::Command;

/// Description of the machine, as a reader needs it to compare figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor.
    pub processor: String,
    /// Number of processors that the benchmark may run on.
    pub processors: usize,
    /// Set if the processor reports a virtual machine.
    pub virtual_machine: bool,
    /// Release of the kernel.
    pub kernel: String,
    /// Instruction set.
    pub architecture: String,
}

impl Machine {
    /// Returns a description of the machine in use; unavailable facts are "unknown".
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
            architecture: std::env::consts::ARCH.to_owned(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let virtual_machine = if self.virtual_machine {
            " (virtual machine)"
        } else {
            ""
        };
        write!(
            f,
            "{}{virtual_machine}, {} processors, Linux {} {}",
            self.processor, self.processors, self.kernel, self.architecture
        )
    }
}

/// Environment on which a program's instruction count depends: compiler and C library, and the
/// processor, by which the C library selects its functions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Model of the processor.
    pub processor: String,
    /// C library and its version.
    pub library: String,
    /// Compiler and its version.
    pub compiler: String,
}

/// Template that shows an environment among the conditions of a run.
pub(crate) const ENVIRONMENT: &str =
    "{environment.processor}, {environment.library}, {environment.compiler} {variables}";

impl Environment {
    /// Adds the environment to the settings of a run.
    pub(crate) fn on(&self, settings: Row) -> Row {
        settings.with("environment", self)
    }

    /// Returns a description of the environment in use; unavailable facts are "unknown".
    #[must_use]
    pub fn this() -> Self {
        Self {
            processor: Machine::this().processor,
            library: first_line("getconf", "GNU_LIBC_VERSION"),
            compiler: first_line("rustc", "--version"),
        }
    }
}

fn first_line(program: &str, argument: &str) -> String {
    let output = Command::new(program).arg(argument).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let line = text
        .ok()
        .and_then(|text| text.lines().next().map(str::to_owned));
    line.unwrap_or_else(unknown)
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.processor, self.library, self.compiler)
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
