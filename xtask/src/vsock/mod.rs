//! `cargo xtask vsock`: tests of the link `vsock` in a virtual machine, whose kernel has the loopback of `AF_VSOCK`, and calls
//! between a virtual machine and its host.
//!
//! The programs are static, and `init.sh` starts them. The host of the second part is a virtual machine, too, since it needs a
//! kernel with `vhost_vsock`.

use crate::built::executables;
use crate::run::{Result, cargo, root};
use crate::virtual_machine::{self, Image, Kernel, Machine, Time};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `cargo xtask vsock`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder with a kernel as a package of Debian's has it: `boot/vmlinuz-*` and `lib/modules`. By default the package
    /// `linux-image-cloud-amd64` is downloaded into `target/machine`, and kept there.
    #[arg(long, value_name = "FOLDER")]
    kernel: Option<PathBuf>,
    /// Call both ways between a virtual machine and its host, too. It takes minutes, as a machine runs in a machine.
    #[arg(long)]
    between: bool,
    /// Fail where a tool is missing, instead of skipping all of it.
    #[arg(long)]
    require: bool,
}

/// Target of the programs in the machine: static, so that it needs no libraries.
const TARGET: &str = "x86_64-unknown-linux-musl";

/// Packages whose tests and programs run in the machine.
const BUILD: [&str; 9] = [
    "test",
    "--no-run",
    "--tests",
    "--target",
    TARGET,
    "--package",
    "punctual-vsock",
    "--package",
    "punctual-example-vsock",
];

/// First program of the machines.
const INIT: &[u8] = include_bytes!("init.sh");

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
    let folder = options.kernel.as_deref();
    let Some(kernel) = virtual_machine::kernel("vsock", missing(), folder, options.require)? else {
        return Ok(());
    };
    let work = virtual_machine::work();
    let programs = executables(cargo().args(BUILD))?;
    let mut loopback = Image::new(&work.join("loopback"), INIT)?;
    loopback.modules(&kernel, LOOPBACK)?;
    loopback.programs(&programs)?;
    loopback.tests(&programs)?;
    boot("loopback", &kernel, &loopback.pack()?, 1024)?;
    if !options.between {
        return Ok(());
    }
    let mut guest = Image::new(&work.join("guest"), INIT)?;
    guest.modules(&kernel, GUEST)?;
    guest.programs(&programs)?;
    let guest = guest.pack()?;
    let mut host = Image::new(&work.join("host"), INIT)?;
    host.modules(&kernel, HOST)?;
    host.programs(&programs)?;
    host.emulator()?;
    host.file(&guest, "guest.cpio")?;
    host.file(kernel.image(), "vmlinuz")?;
    boot("host", &kernel, &host.pack()?, 2048)
}

/// Returns what this machine lacks.
fn missing() -> Option<String> {
    if let Some(what) = virtual_machine::missing() {
        return Some(what);
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

fn boot(part: &str, kernel: &Kernel, image: &Path, megabytes: u32) -> Result<()> {
    let machine = Machine {
        name: ["vsock", part],
        kernel,
        image,
        megabytes,
        time: Time::Host,
    };
    machine.boot()
}
