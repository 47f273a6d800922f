//! Machine that the figures are of, with the same names in JSON as in the benchmarks' reports.

use serde::Serialize;
use std::fs;
use std::thread;

#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    processor: String,
    processors: usize,
    virtual_machine: bool,
    kernel: String,
    architecture: &'static str,
}

impl Machine {
    /// Returns a description of the machine in use; unavailable facts are "unknown".
    pub(crate) fn this() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
            let found = fields.find(|(key, _)| key.trim() == name);
            found.map(|(_, value)| value.trim().to_owned())
        };
        let unknown = || "unknown".to_owned();
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok();
        let flags = field("flags").unwrap_or_default();
        Self {
            processor: field("model name").unwrap_or_else(unknown),
            processors: thread::available_parallelism().map_or(0, usize::from),
            virtual_machine: flags.split(' ').any(|flag| flag == "hypervisor"),
            kernel: release.map_or_else(unknown, |release| release.trim().to_owned()),
            architecture: std::env::consts::ARCH,
        }
    }
}
