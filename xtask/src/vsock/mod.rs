//! `cargo xtask vsock`: tests of the link `vsock` in a virtual machine, whose kernel has the loopback of `AF_VSOCK`, and calls
//! between a virtual machine and its host.
//!
//! QEMU runs the machine without KVM, from a kernel of Debian's and a file system in memory: static programs, and `init.sh`,
//! which starts them. The host of the second part is such a machine, too, since it needs a kernel with `vhost_vsock`.

mod image;
mod kernel;

use crate::run::{Result, is_installed, root};
use image::Image;
use kernel::Kernel;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Options of `cargo xtask vsock`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder with a kernel as a package of Debian's has it: `boot/vmlinuz-*` and `lib/modules`. By default the package
    /// `linux-image-cloud-amd64` is downloaded into `target/vsock`, and kept there.
    #[arg(long, value_name = "FOLDER")]
    kernel: Option<PathBuf>,
    /// Call both ways between a virtual machine and its host, too. It takes minutes, as a machine runs in a machine.
    #[arg(long)]
    between: bool,
    /// Fail where a tool is missing, instead of skipping all of it.
    #[arg(long)]
    require: bool,
}

/// Programs that are needed, with Debian's packages of them.
const TOOLS: [(&str, &str); 4] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("busybox", "busybox-static"),
    ("cpio", "cpio"),
    ("timeout", "coreutils"),
];

/// Target of the programs in the machine: static, so that it needs no libraries.
const TARGET: &str = "x86_64-unknown-linux-musl";

/// Modules of the kernel for a machine that has the loopback.
const LOOPBACK: &[&str] = &[
    "vsock",
    "vmw_vsock_virtio_transport_common",
    "vsock_loopback",
];

/// Modules for a host of virtual machines.
const HOST: &[&str] = &[
    "vsock",
    "vmw_vsock_virtio_transport_common",
    "vhost_iotlb",
    "vhost",
    "vhost_vsock",
];

/// Modules for a virtual machine that has a device.
const GUEST: &[&str] = &[
    "vsock",
    "vmw_vsock_virtio_transport_common",
    "vmw_vsock_virtio_transport",
    "virtio",
    "virtio_ring",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
];

pub(crate) fn run(options: &Options) -> Result<()> {
    let work = root().join("target/vsock");
    let kernel = match missing() {
        Some(what) => Err(what),
        None => Kernel::of(options.kernel.as_deref(), &work),
    };
    let kernel = match kernel {
        Ok(kernel) => kernel,
        Err(why) if options.require => return Err(why),
        Err(why) => {
            println!("vsock: skipped: {why}");
            return Ok(());
        }
    };
    let programs = image::build()?;
    let mut loopback = Image::new(&work.join("loopback"))?;
    loopback.modules(&kernel, LOOPBACK)?;
    loopback.programs(&programs)?;
    loopback.tests(&programs)?;
    boot("loopback", &kernel, &loopback.pack()?, 1024)?;
    if !options.between {
        return Ok(());
    }
    let mut guest = Image::new(&work.join("guest"))?;
    guest.modules(&kernel, GUEST)?;
    guest.programs(&programs)?;
    let guest = guest.pack()?;
    let mut host = Image::new(&work.join("host"))?;
    host.modules(&kernel, HOST)?;
    host.programs(&programs)?;
    host.emulator()?;
    host.file(&guest, "guest.cpio")?;
    host.file(kernel.image(), "vmlinuz")?;
    boot("host", &kernel, &host.pack()?, 2048)
}

/// Returns what this machine lacks.
fn missing() -> Option<String> {
    if std::env::consts::ARCH != "x86_64" {
        return Some("the virtual machine is one of x86-64, and so are its programs".to_owned());
    }
    let lacks = TOOLS.iter().find(|(program, _)| !is_installed(program));
    if let Some((program, package)) = lacks {
        return Some(format!("`{program}` is not installed (Debian: {package})"));
    }
    let library = Command::new("rustc")
        .current_dir(root())
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .ok()?;
    let library = String::from_utf8_lossy(&library.stdout).trim().to_owned();
    let absent = library.is_empty() || !Path::new(&library).is_dir();
    absent.then(|| format!("Rust's standard library for {TARGET} (`rustup target add {TARGET}`)"))
}

/// Runs a machine until it powers itself off; it fails unless the machine says that its part went well.
fn boot(part: &str, kernel: &Kernel, image: &Path, megabytes: u32) -> Result<()> {
    println!(
        "vsock {part}: in a virtual machine, by {}",
        kernel.image().display()
    );
    // An emulated processor takes its time, in particular one within another.
    let output = Command::new("timeout")
        .args(["1800", "qemu-system-x86_64", "-accel", "tcg,thread=multi"])
        .args(["-smp", "2", "-nographic", "-no-reboot", "-nic", "none"])
        .args(["-m", &megabytes.to_string()])
        .arg("-kernel")
        .arg(kernel.image())
        .arg("-initrd")
        .arg(image)
        .args([
            "-append",
            &format!("console=ttyS0 quiet panic=-1 part={part}"),
        ])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("qemu-system-x86_64 could not be started: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    // The firmware clears a screen that is not there.
    let lines = said.lines().filter(|line| !line.contains('\u{1b}'));
    let lines: Vec<&str> = lines.map(str::trim_end).collect();
    println!("{}", lines.join("\n"));
    match lines.contains(&format!("vsock {part} ended with 0").as_str()) {
        true => Ok(()),
        false => Err(format!(
            "the virtual machine has not said that all went well: {}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}
