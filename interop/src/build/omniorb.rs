//! Builds the omniORB peer: stubs by `omniidl`, then the C++ compiler, into the target folder.

use crate::process::succeed;
use crate::relay;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Programs that must be installed, and the Debian packages that provide them.
pub(crate) const NEEDED: [(&str, &str); 4] = [
    ("omniidl", "omniidl"),
    ("g++", "g++"),
    ("catior", "omniorb"),
    ("omniNames", "omniorb-nameserver"),
];

/// Files that `omniidl` generates, the largest first, so that their compilation begins first.
const STUBS: [&str; 12] = [
    "CosNotifyChannelAdminSK.cc",
    "CosNotifyChannelAdminDynSK.cc",
    "asynchronousSK.cc",
    "paramsSK.cc",
    "valuesSK.cc",
    "valuesDynSK.cc",
    "cubitSK.cc",
    "adaptersSK.cc",
    "callbacksSK.cc",
    "plainSK.cc",
    "plain_handlersSK.cc",
    "implied_messagingSK.cc",
];

/// C++ source files of the omniORB test program, in `peers/omniorb`.
const SOURCES: [&str; 14] = [
    "notify_clients.cc",
    "notifications.cc",
    "events.cc",
    "asynchronous.cc",
    "callbacks.cc",
    "desk.cc",
    "later.cc",
    "client.cc",
    "exchange.cc",
    "server.cc",
    "words.cc",
    "main.cc",
    "cases.cc",
    "accounts.cc",
];

/// IDL of its COS services, which Debian's `omniorb-idl` has.
const COS: &str = "/usr/share/idl/omniORB/COS";

/// Library of omniORB's transport over TLS, from Debian's `libomniorb4-dev`.
const TLS: &str = "-lomnisslTP4";

const LIMIT: Duration = Duration::from_secs(120);

/// Number of compiler processes that run in parallel.
const PARALLEL: usize = 2;

/// Executables of the omniORB test program.
#[derive(Debug)]
pub(crate) struct Programs {
    /// Path of the executable that supports TCP and Unix domain sockets.
    pub(crate) plain: PathBuf,
    /// Program that also supports TLS, or the reason why it cannot be built.
    pub(crate) secured: Result<PathBuf, String>,
}

/// Builds the peer's programs from `peers/omniorb` and the IDL into `folder`.
///
/// # Errors
/// The output of a tool that failed.
pub(crate) fn programs(folder: &Path) -> Result<Programs, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = root.join("peers/omniorb");
    let cubit = root.join("../examples/cubit/idl/cubit.idl");
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    super::write_implied(folder)?;
    let implied = [
        "-bcxx",
        "-Wbuse-quotes",
        super::WITHOUT_POLLERS,
        "-I",
        &root.join("idl").display().to_string(),
    ];
    for (idl, options) in [
        (root.join("idl/plain.idl"), &implied[..2]),
        (folder.join("implied_messaging.idl"), &implied),
        (folder.join("plain_handlers.idl"), &implied),
        (
            root.join("idl/params.idl"),
            &["-bcxx", "-Wbuse-quotes", "-Wbexample"],
        ),
        (cubit, &["-bcxx", "-Wbuse-quotes"]),
        (root.join("idl/adapters.idl"), &["-bcxx", "-Wbuse-quotes"]),
        (root.join("idl/callbacks.idl"), &["-bcxx", "-Wbuse-quotes"]),
        // Options for asynchronous calls.
        (
            root.join("idl/asynchronous.idl"),
            &["-bcxx", "-Wbami", "-Wbuse-quotes"],
        ),
        // Options for Anys.
        (
            root.join("idl/values.idl"),
            &["-bcxx", "-Wba", "-Wbuse-quotes"],
        ),
    ] {
        let mut omniidl = Command::new("omniidl");
        omniidl.args(options).arg(idl).current_dir(folder);
        succeed("omniidl", &mut omniidl, LIMIT)?;
    }
    notification_stubs(folder)?;
    write_relay(folder)?;
    let units: Vec<PathBuf> = STUBS
        .map(|unit| folder.join(unit))
        .into_iter()
        .chain(SOURCES.map(|unit| sources.join(unit)))
        .collect();
    compile(folder, &sources, &units)?;
    Ok(Programs {
        plain: link(folder, &units, "peer", &[])?,
        // No symbol refers to the transport over TLS: it registers itself once it is loaded.
        secured: link(folder, &units, "peer-tls", &["-Wl,--no-as-needed", TLS]),
    })
}

/// Returns the IDL of its Notification Service, which includes all that belongs to it.
pub(crate) fn notification_idl() -> PathBuf {
    Path::new(COS).join("CosNotifyChannelAdmin.idl")
}

fn notification_stubs(folder: &Path) -> Result<(), String> {
    // It includes a header that only the package of its COS services has, for the DLLs of Windows.
    std::fs::write(folder.join("COS_sysdep.h"), "").map_err(|error| error.to_string())?;
    let mut omniidl = Command::new("omniidl");
    omniidl.args(["-bcxx", "-Wba", "-Wbinline", "-Wbuse_quotes", "-I", COS]);
    omniidl
        .args(["-I", "/usr/share/idl/omniORB"])
        .arg(notification_idl());
    succeed("omniidl", omniidl.current_dir(folder), LIMIT)?;
    Ok(())
}

fn link(folder: &Path, units: &[PathBuf], name: &str, more: &[&str]) -> Result<PathBuf, String> {
    let program = folder.join(name);
    let mut link = Command::new("g++");
    link.args(units.iter().map(|unit| object(folder, unit)));
    link.args(more);
    link.args(["-lomniDynamic4", "-lomniORB4", "-lomnithread", "-o"]);
    succeed("g++", link.arg(&program), LIMIT)?;
    Ok(program)
}

fn write_relay(folder: &Path) -> Result<(), String> {
    let example = folder.join("params_i.cc");
    let text = std::fs::read_to_string(&example)
        .map_err(|error| format!("cannot read {}: {error}", example.display()))?;
    let class = relay::class(&text, "params", "Parameters")
        .ok_or("omniidl's example servant has another form than expected")?;
    std::fs::write(folder.join("relay.hh"), class).map_err(|error| error.to_string())
}

/// Compiles all source files, a few at a time.
fn compile(folder: &Path, sources: &Path, units: &[PathBuf]) -> Result<(), String> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || -> Result<(), String> {
        loop {
            let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(unit) = units.get(at) else {
                return Ok(());
            };
            let mut compiler = Command::new("g++");
            compiler.args(["-std=c++17", "-O0", "-Wall", "-Wno-switch-bool", "-c", "-I"]);
            compiler.arg(folder).arg("-I").arg(sources).arg(unit);
            // Folder of the files that stubs of asynchronous calls include.
            compiler.arg("-I/usr/include/omniORB4");
            compiler.arg("-o").arg(object(folder, unit));
            succeed("g++", &mut compiler, LIMIT)?;
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..PARALLEL).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|_| Err("a panic".to_owned())))
    })
}

fn object(folder: &Path, unit: &Path) -> PathBuf {
    folder
        .join(unit.file_name().unwrap_or_default())
        .with_extension("o")
}
