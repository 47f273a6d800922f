//! Virtual machines of the tasks `vsock` and `network`, whose kernel has what that of this machine may lack.
//!
//! QEMU runs a machine without KVM, from a kernel of Debian's and a file system in memory: programs, modules, and a first
//! program, which starts them and says how it went.

mod image;
mod kernel;

use crate::run::{Result, is_installed, root};
pub(crate) use image::Image;
pub(crate) use kernel::Kernel;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs that are needed, with Debian's packages of them.
const TOOLS: [(&str, &str); 4] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("busybox", "busybox-static"),
    ("cpio", "cpio"),
    ("timeout", "coreutils"),
];

/// Virtual machine.
pub(crate) struct Machine<'a> {
    /// Task whose machine it is, and the part of the task that it does.
    pub(crate) name: [&'a str; 2],
    pub(crate) kernel: &'a Kernel,
    /// File system, as `Image::pack` has made it.
    pub(crate) image: &'a Path,
    pub(crate) megabytes: u32,
    pub(crate) time: Time,
}

/// Time in a machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// That of the machine that it runs on.
    Host,
    /// One of its own, which goes on by two nanoseconds with each instruction, and to the next timer when there is none to
    /// execute: what else the host does, and how fast it is, has no part in what is measured there. One processor.
    Counted,
}

/// Returns what this machine lacks to run one.
pub(crate) fn missing() -> Option<String> {
    if std::env::consts::ARCH != "x86_64" {
        return Some("the virtual machine is one of x86-64, and so are its programs".to_owned());
    }
    let (program, package) = TOOLS.iter().find(|(program, _)| !is_installed(program))?;
    Some(format!("`{program}` is not installed (Debian: {package})"))
}

/// Returns the kernel of a task's machines; `None`, which is printed, where this machine lacks something.
///
/// # Errors
/// It is required, and something is missing.
pub(crate) fn kernel(
    task: &str,
    missing: Option<String>,
    folder: Option<&Path>,
    is_required: bool,
) -> Result<Option<Kernel>> {
    let found = missing.map_or_else(|| Kernel::of(folder, &work()), Err);
    match found {
        Ok(kernel) => Ok(Some(kernel)),
        Err(why) if is_required => Err(why),
        Err(why) => {
            println!("{task}: skipped: {why}");
            Ok(None)
        }
    }
}

/// Returns the folder of kernels and file systems.
pub(crate) fn work() -> PathBuf {
    root().join("target/machine")
}

impl Machine<'_> {
    /// Runs it until it powers itself off, and prints what it says.
    ///
    /// # Errors
    /// The machine has not said that its part went well.
    pub(crate) fn boot(&self) -> Result<()> {
        let [task, part] = self.name;
        println!(
            "{task} {part}: in a virtual machine, by {}",
            self.kernel.image().display()
        );
        let time: &[&str] = match self.time {
            Time::Host => &["-accel", "tcg,thread=multi", "-smp", "2"],
            Time::Counted => &["-accel", "tcg", "-icount", "shift=1,sleep=off", "-smp", "1"],
        };
        // An emulated processor takes its time, in particular one within another.
        let output = Command::new("timeout")
            .args(["1800", "qemu-system-x86_64", "-nographic", "-no-reboot"])
            .args(["-nic", "none", "-m", &self.megabytes.to_string()])
            .args(time)
            .arg("-kernel")
            .arg(self.kernel.image())
            .arg("-initrd")
            .arg(self.image)
            .args([
                "-append",
                &format!("console=ttyS0 quiet panic=-1 tsc=reliable part={part}"),
            ])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("qemu-system-x86_64 could not be started: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        // The firmware clears a screen that is not there.
        let lines = said.lines().filter(|line| !line.contains('\u{1b}'));
        let lines: Vec<&str> = lines.map(str::trim_end).collect();
        println!("{}", lines.join("\n"));
        match lines.contains(&format!("{task} {part} ended with 0").as_str()) {
            true => Ok(()),
            false => Err(format!(
                "the virtual machine has not said that all went well: {}{}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            )),
        }
    }
}
