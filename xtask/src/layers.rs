//! `cargo xtask layers`: check that dependencies point one way.
//!
//! [`ALLOWED`] lists each crate of the workspace with the crates of the workspace that it may
//! depend on; any other edge, and any crate that is not listed, is refused. Dependencies of tests
//! and build scripts count, too: a test that needs a higher layer belongs there.

use crate::run::{Result, packages};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Crates of the workspace, each with those on which it may depend.
const ALLOWED: &[(&str, &[&str])] = &[
    // idl: build time only; the runtime never sees it.
    ("punctual-idl", &[]),
    ("punctual-idl-rust", &["punctual-idl"]),
    ("punctual-build", &["punctual-idl", "punctual-idl-rust"]),
    // wire: no I/O, no clock, no threads.
    ("punctual-cdr", &[]),
    ("punctual-ior", &["punctual-cdr"]),
    ("punctual-giop", &["punctual-cdr", "punctual-ior"]),
    (ANY, &["punctual-cdr", "punctual-ior"]),
    // Constraints of services that filter, without an ORB.
    (CONSTRAINT, &[CDR, ANY]),
    // Used at build time, and by tools that meet IDL when they run.
    ("punctual-idl-describe", &["punctual-idl", ANY]),
    // run
    ("punctual-sys", &[]),
    // Of tests alone: loom in the place of what exec has of threads.
    (MODELS, &[]),
    // An allocator that counts: tests of all crates may depend on it.
    (HEAP, &[]),
    ("punctual-exec", &["punctual-sys", MODELS]),
    // link: bytes only.
    (
        "punctual-link",
        &["punctual-cdr", "punctual-sys", "punctual-exec"],
    ),
    (
        "punctual-link-conformance",
        &[
            "punctual-link",
            "punctual-cdr",
            "punctual-exec",
            "punctual-sys",
        ],
    ),
    (
        "punctual-plugin",
        &[CDR, EXEC, LINK, "punctual-link-conformance"],
    ),
    (
        "punctual-vsock",
        &[LINK, EXEC, SYS, "punctual-link-conformance"],
    ),
    (
        "punctual-tls",
        &[LINK, CDR, EXEC, SYS, "punctual-link-conformance"],
    ),
    // orb
    (
        "punctual-orb",
        &[
            CDR,
            IOR,
            GIOP,
            ANY,
            SYS,
            EXEC,
            MODELS,
            LINK,
            "punctual-plugin",
            "punctual-tls",
            "punctual-vsock",
        ],
    ),
    (
        "punctual-poa",
        &["punctual-orb", CDR, IOR, GIOP, ANY, EXEC, MODELS],
    ),
    ("punctual-bridge", &["punctual-orb", CDR, IOR, GIOP, LINK]),
    (
        "punctual-dynamic",
        &["punctual-orb", "punctual-poa", CDR, IOR, ANY],
    ),
    (
        "punctual-rt",
        &["punctual-orb", "punctual-poa", CDR, IOR, GIOP, SYS, EXEC],
    ),
    (
        "punctual-fault-tolerance",
        &["punctual-orb", CDR, IOR, GIOP, SYS],
    ),
    (
        "punctual-multicast",
        &["punctual-orb", "punctual-poa", CDR, IOR, GIOP, LINK],
    ),
    ("punctual-observe", &["punctual-orb", CDR, GIOP, ANY, EXEC]),
    (
        "punctual",
        &[
            "punctual-observe",
            "punctual-orb",
            "punctual-poa",
            "punctual-bridge",
            "punctual-dynamic",
            "punctual-rt",
            "punctual-fault-tolerance",
            "punctual-multicast",
            "punctual-plugin",
            "punctual-tls",
            "punctual-vsock",
            CDR,
            IOR,
            GIOP,
            ANY,
            // Tests read options of sockets back.
            SYS,
            EXEC,
            LINK,
        ],
    ),
    // Tests of the facade that need the compiler, which its own may not see.
    ("punctual-idl-tests", &["punctual", "punctual-build"]),
    // services: programs of their own, on the facade; first what they stand on.
    (
        HOST,
        &["punctual", "punctual-observe", EXEC, SYS, "punctual-build"],
    ),
    (ETCD, &["punctual", HOST]),
    // Logs of events, in a file of the host's.
    (DURABLE, &[EXEC, HOST]),
    // The same on JetStream.
    (JETSTREAM, &[EXEC, HOST, DURABLE]),
    (GROUPS, &["punctual", EXEC, IOR]),
    (
        "punctual-ifr",
        &[
            "punctual",
            HOST,
            "punctual-idl",
            "punctual-idl-describe",
            "punctual-build",
        ],
    ),
    // Servers that start on demand.
    (
        "punctual-imr",
        &["punctual", ETCD, EXEC, HOST, "punctual-build"],
    ),
    // The wire crate has names as text.
    (NAMING_CLIENT, &["punctual", IOR, EXEC, "punctual-build"]),
    (
        "punctual-naming",
        &[
            "punctual",
            IOR,
            EXEC,
            HOST,
            ETCD,
            GROUPS,
            NAMING_CLIENT,
            "punctual-build",
        ],
    ),
    // Events of the standard's channel over the real-time one; its tests have a Naming Service.
    // tools, and programs outside of the layers that use them.
    ("punctual-example-gateway", &["punctual", "punctual-build"]),
    ("punctual-example-hello", &["punctual", "punctual-build"]),
    (
        "punctual-example-real-time",
        &["punctual", "punctual-build"],
    ),
    (
        "punctual-example-telemetry",
        &["punctual", "punctual-build"],
    ),
    ("punctual-example-cubit", &["punctual", "punctual-build"]),
    ("punctual-example-vsock", &["punctual", "punctual-build"]),
    (
        "punctual-example-protocol",
        &[CDR, EXEC, LINK, "punctual-link-conformance"],
    ),
    (
        "punctual-example-protocol-dynamic",
        &[
            "punctual-example-protocol",
            EXEC,
            LINK,
            "punctual-link-conformance",
            "punctual-plugin",
            "punctual",
            "punctual-example-cubit",
        ],
    ),
    ("punctual-bench-stubs", &["punctual", "punctual-build"]),
    // Events without an ORB; threads with native priorities.
    (RTEVENT, &[SYS, EXEC]),
    // Analysis without an ORB; it uses the compiler's diagnostics.
    (SCHEDULING, &["punctual-idl"]),
    // Plans kept by an ORB.
    (
        SCHEDULING_RUNTIME,
        &[
            "punctual",
            "punctual-build",
            "punctual-idl",
            SCHEDULING,
            SYS,
            EXEC,
        ],
    ),
    // What services that call suppliers and consumers share.
    (
        EVENTS,
        &["punctual", EXEC, HOST, NAMING_CLIENT, "punctual-build"],
    ),
    // Object groups, and their members.
    (
        GROUPS_CLIENT,
        &["punctual", EXEC, NAMING_CLIENT, "punctual-build"],
    ),
    (
        GROUPS_SERVICE,
        &[
            "punctual",
            IOR,
            EXEC,
            HOST,
            ETCD,
            EVENTS,
            GROUPS,
            GROUPS_CLIENT,
            NAMING_CLIENT,
            "punctual-build",
        ],
    ),
    // Members that run all requests in the order of a log.
    (
        "punctual-groups-active",
        &[
            "punctual",
            EXEC,
            HOST,
            DURABLE,
            JETSTREAM,
            NAMING_CLIENT,
            GROUPS_CLIENT,
            GROUPS_SERVICE,
            "punctual-build",
        ],
    ),
    (
        "punctual-cosevent",
        &[
            "punctual",
            EVENTS,
            HOST,
            NAMING_CLIENT,
            RTEVENT,
            // Typed events have the operations of interfaces in IDL.
            "punctual-idl",
            "punctual-idl-describe",
            "punctual-naming",
            // Its tests ask one.
            "punctual-ifr",
            "punctual-build",
        ],
    ),
    (
        NOTIFICATION,
        &[
            "punctual",
            EVENTS,
            HOST,
            CONSTRAINT,
            DURABLE,
            JETSTREAM,
            "punctual-build",
        ],
    ),
    (
        LOG,
        &[
            "punctual",
            // An event log is an event channel.
            "punctual-cosevent",
            EVENTS,
            HOST,
            CONSTRAINT,
            // A notify log is a channel of the Notification Service.
            NOTIFICATION,
            "punctual-build",
        ],
    ),
    (
        RTEVENT_SERVICE,
        &[
            "punctual",
            EXEC,
            HOST,
            RTEVENT,
            SCHEDULING_RUNTIME,
            SYS,
            "punctual-build",
        ],
    ),
    // Measures the ORB and its event channel.
    (
        "punctual-bench",
        &[
            "punctual",
            "punctual-build",
            EXEC,
            IOR,
            "punctual-orb",
            SYS,
            RTEVENT,
            RTEVENT_SERVICE,
            "punctual-example-cubit",
        ],
    ),
    (
        "punctual-soak",
        &[
            HEAP,
            "punctual",
            "punctual-build",
            "punctual-bench",
            "punctual-ifr",
        ],
    ),
    (
        "punctual-chaos",
        &[
            "punctual",
            "punctual-build",
            "punctual-bench",
            "punctual-groups-active",
            "punctual-groups-client",
            "punctual-groups-service",
            DURABLE,
            JETSTREAM,
            NAMING_CLIENT,
            HOST,
        ],
    ),
    (
        "punctual-scheduler",
        &[
            "punctual",
            HOST,
            SCHEDULING,
            "punctual-idl",
            "punctual-idl-describe",
            "punctual-build",
        ],
    ),
    // The guide's pages, and the tests of their snippets.
    (
        "punctual-guide",
        &[
            "punctual",
            NAMING_CLIENT,
            RTEVENT,
            RTEVENT_SERVICE,
            SCHEDULING_RUNTIME,
            "punctual-build",
        ],
    ),
    // Takes any input, and has no other purpose.
    (
        "punctual-fuzz",
        &[
            CDR,
            IOR,
            GIOP,
            ANY,
            CONSTRAINT,
            LINK,
            "punctual",
            "punctual-build",
            "punctual-idl",
            "punctual-idl-rust",
            "punctual-orb",
            "punctual-plugin",
            "punctual-tls",
            RTEVENT_SERVICE,
        ],
    ),
    (
        "punctual-cost",
        &[
            HEAP,
            CDR,
            IOR,
            GIOP,
            ANY,
            CONSTRAINT,
            "punctual",
            "punctual-bridge",
            "punctual-fuzz",
            "punctual-idl",
            "punctual-idl-rust",
        ],
    ),
    // Describes the contents of a reference, for tools that show it.
    ("punctual-reference", &[CDR, IOR]),
    // Pages: the one crate with an async runtime, besides JetStream's client and tests.
    (
        "punctual-console",
        &[
            "punctual",
            "punctual-naming",
            "punctual-reference",
            CONSTRAINT,
            EXEC,
            GROUPS_CLIENT,
            GROUPS_SERVICE,
            HOST,
            IOR,
            NOTIFICATION,
            RTEVENT,
            RTEVENT_SERVICE,
        ],
    ),
    // A consumer and a supplier of the Notification Service, with a page of the console; its tests run the service.
    (
        "punctual-example-alarms",
        &[
            "punctual",
            "punctual-build",
            "punctual-console",
            HOST,
            NOTIFICATION,
        ],
    ),
    (
        "punctual-cli",
        &[
            "punctual",
            "punctual-idl",
            "punctual-idl-describe",
            "punctual-idl-rust",
            "punctual-ifr",
            "punctual-imr",
            GROUPS_CLIENT,
            GROUPS_SERVICE,
            "punctual-naming",
            HOST,
            "punctual-console",
            "punctual-reference",
            RTEVENT,
            RTEVENT_SERVICE,
            "punctual-scheduler",
            "punctual-cosevent",
            CONSTRAINT,
            DURABLE,
            JETSTREAM,
            LOG,
            NOTIFICATION,
            SCHEDULING,
            SCHEDULING_RUNTIME,
            "punctual-build",
            CDR,
            IOR,
            GIOP,
            SYS,
            "punctual-example-cubit",
            "punctual-guide",
        ],
    ),
    (
        "punctual-interop",
        &[
            "punctual",
            "punctual-naming",
            NOTIFICATION,
            "punctual-build",
            "punctual-idl",
            CDR,
            IOR,
            GIOP,
            "punctual-example-cubit",
        ],
    ),
    ("xtask", &[]),
];

const NAMING_CLIENT: &str = "punctual-naming-client";
const EVENTS: &str = "punctual-events";
const CONSTRAINT: &str = "punctual-constraint";
const HOST: &str = "punctual-host";
const DURABLE: &str = "punctual-durable";
const ETCD: &str = "punctual-etcd";
const LOG: &str = "punctual-log";
const JETSTREAM: &str = "punctual-jetstream";
const NOTIFICATION: &str = "punctual-notification";
const RTEVENT: &str = "punctual-rtevent";
const RTEVENT_SERVICE: &str = "punctual-rtevent-service";
const SCHEDULING: &str = "punctual-scheduling";
const SCHEDULING_RUNTIME: &str = "punctual-scheduling-runtime";
const GROUPS: &str = "punctual-groups";
const GROUPS_CLIENT: &str = "punctual-groups-client";
const GROUPS_SERVICE: &str = "punctual-groups-service";
const CDR: &str = "punctual-cdr";
const IOR: &str = "punctual-ior";
const GIOP: &str = "punctual-giop";
const ANY: &str = "punctual-any";
const SYS: &str = "punctual-sys";
const EXEC: &str = "punctual-exec";
const HEAP: &str = "punctual-heap";
const MODELS: &str = "punctual-models";
const LINK: &str = "punctual-link";

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build`, or nothing.
    kind: Option<String>,
}

pub(crate) fn check() -> Result<()> {
    let packages: Vec<Package> = packages()?;
    let mistakes = mistakes(&packages);
    if mistakes.is_empty() {
        println!(
            "layers: {} crates, every dependency points down",
            packages.len()
        );
        return Ok(());
    }
    Err(format!(
        "the layers are broken:\n  {}",
        mistakes.join("\n  ")
    ))
}

fn mistakes(packages: &[Package]) -> Vec<String> {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let mut mistakes = Vec::new();
    for package in packages {
        let Some(allowed) = allowed.get(package.name.as_str()) else {
            mistakes.push(format!(
                "`{}` has no layer: give it one in xtask/src/layers.rs",
                package.name
            ));
            continue;
        };
        for dependency in &package.dependencies {
            let counts = dependency.name == HEAP && dependency.kind.as_deref() == Some("dev");
            // A crate depends on itself where its tests need a feature of it.
            let ours = !counts
                && dependency.name != package.name
                && packages.iter().any(|one| one.name == dependency.name);
            if ours && !allowed.contains(&dependency.name.as_str()) {
                mistakes.push(format!(
                    "`{}` may not depend on `{}`",
                    package.name, dependency.name
                ));
            }
        }
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[&str]) -> Package {
        let dependency = |name: &&str| Dependency {
            name: (*name).to_owned(),
            kind: None,
        };
        Package {
            name: name.to_owned(),
            dependencies: dependencies.iter().map(dependency).collect(),
        }
    }

    #[test]
    fn an_edge_against_the_layers_is_refused_by_name() {
        let packages = [
            package("punctual-cdr", &["punctual-orb", "thiserror"]),
            package("punctual-orb", &["punctual-cdr"]),
        ];
        assert_eq!(
            mistakes(&packages),
            ["`punctual-cdr` may not depend on `punctual-orb`"]
        );
    }

    #[test]
    fn the_runtime_never_sees_the_idl_compiler() {
        let packages = [
            package("punctual-idl", &[]),
            package("punctual-orb", &["punctual-idl"]),
        ];
        assert_eq!(mistakes(&packages).len(), 1);
    }

    #[test]
    fn a_crate_without_a_layer_is_refused() {
        assert!(mistakes(&[package("punctual-misc", &[])])[0].contains("no layer"));
    }

    #[test]
    fn no_crate_may_depend_on_one_that_stands_below_it_in_the_list_of_layers() {
        let place = |name: &str| ALLOWED.iter().position(|(one, _)| *one == name);
        for (name, below) in ALLOWED {
            for other in *below {
                let upward = place(other) > place(name);
                // Examples stand outside of the layers, and tools may start them.
                assert!(
                    !upward || other.starts_with("punctual-example"),
                    "{name} -> {other}"
                );
            }
        }
    }
}
