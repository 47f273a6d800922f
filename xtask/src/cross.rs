//! `cargo xtask cross`: the wire crates' tests on aarch64 and on big-endian s390x, under qemu-user.

use crate::run::{Result, cargo, is_installed, succeed};

/// Options of `cargo xtask cross`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Fail where a machine's tools are missing, instead of skipping it.
    #[arg(long)]
    require: bool,
}

struct Machine {
    /// Debian's name of the machine.
    name: &'static str,
    target: &'static str,
}

const MACHINES: &[Machine] = &[
    Machine {
        name: "aarch64",
        target: "aarch64-unknown-linux-gnu",
    },
    Machine {
        name: "s390x",
        target: "s390x-unknown-linux-gnu",
    },
];

const CRATES: &[&str] = &[
    "punctual-cdr",
    "punctual-ior",
    "punctual-giop",
    "punctual-any",
];

pub(crate) fn run(options: &Options) -> Result<()> {
    for machine in MACHINES {
        match missing(machine) {
            None => test(machine)?,
            Some(what) if options.require => {
                return Err(format!("{}: {what}", machine.name));
            }
            Some(what) => println!("cross {}: skipped: {what}", machine.name),
        }
    }
    Ok(())
}

fn missing(machine: &Machine) -> Option<String> {
    let needed = [linker(machine), format!("qemu-{}", machine.name)];
    needed.into_iter().find(|program| !is_installed(program)).map(|program| {
        format!(
            "`{program}` is not installed (Debian: qemu-user gcc-{}-linux-gnu; then `rustup target \
             add {}`)",
            machine.name, machine.target
        )
    })
}

fn linker(machine: &Machine) -> String {
    format!("{}-linux-gnu-gcc", machine.name)
}

fn test(machine: &Machine) -> Result<()> {
    println!(
        "cross {}: the wire crates' tests under qemu-{0}",
        machine.name
    );
    let name = machine.name;
    let variable = format!(
        "CARGO_TARGET_{}",
        machine.target.to_uppercase().replace('-', "_")
    );
    let mut command = cargo();
    command
        .env(format!("{variable}_LINKER"), linker(machine))
        .env(
            format!("{variable}_RUNNER"),
            format!("qemu-{name} -L /usr/{name}-linux-gnu"),
        )
        .args(["test", "--target", machine.target, "--lib", "--tests"]);
    for name in CRATES {
        command.args(["--package", name]);
    }
    succeed(&mut command)
}
