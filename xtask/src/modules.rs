//! Order of the modules inside a crate: in `punctual-orb`, `cargo xtask layers` rejects uses of
//! modules in higher layers; in the listed crates, it rejects dependency cycles between files.
//!
//! Files are read as tokens: each path that begins with `crate`, `super`, `self` or a child
//! module's name is followed to the file that defines its item, through re-exports. Modules under
//! `#[cfg(test)]` are left out.

mod graph;
mod read;

use crate::run::{Result, root};
use graph::{arrows_back, cycles};
use read::{Edge, edges};
use std::path::Path;

/// Layers of modules in `punctual-orb`, the lowest first. A module may use only modules of lower
/// layers; modules of one layer must not use one another.
const ORB: &[&[&str]] = &[
    &["cold", "sync"],
    &["probe"],
    // Subjects of calls: data, without code that runs.
    &["exception"],
    &["context", "priority", "value"],
    &["operation_types", "rt_operation"],
    &["operation"],
    &["observed"],
    &["measurement", "timeline"],
    &["policy"],
    &["config", "fixed_context", "invocation_policies"],
    &["groups", "priorities", "urgency"],
    &["budget"],
    // Protocols on a link, the contents of references, and the registry of both.
    &["messaging"],
    &["profile"],
    &["protocol"],
    &["interceptor"],
    // State that all lanes of an ORB share, and the call that a thread is serving.
    &["broker"],
    &["adapter", "relayed", "upcall"],
    // Connections of both kinds.
    &["lane"],
    // Client and server never use each other.
    &["client", "server"],
    // Types for users.
    &["orb"],
    &["codec", "collocation"],
    &["reference"],
];

/// Folders of crates in which files must not form cycles.
const CRATES: &[&str] = &[
    "crates/idl/build",
    "crates/idl/describe",
    "crates/idl/idl",
    "crates/idl/rust",
    "crates/link/conformance",
    "crates/link/link",
    "crates/link/plugin",
    "crates/link/tls",
    "crates/orb/orb",
    "crates/orb/poa",
    "crates/orb/bridge",
    "crates/orb/dynamic",
    "crates/orb/observe",
    "crates/orb/rt",
    "crates/run/exec",
    "crates/run/heap",
    "crates/run/models",
    "crates/run/sys",
    "crates/wire/any",
    "crates/wire/giop",
    "crates/wire/ior",
    "services/constraint",
    "services/cosevent",
    "services/durable",
    "services/etcd",
    "services/events",
    "services/groups",
    "services/groups/client",
    "services/groups/requests",
    "services/groups/service",
    "services/host",
    "services/ifr",
    "services/imr",
    "services/jetstream",
    "services/log",
    "services/naming",
    "services/naming/client",
    "services/notification",
    "services/rtevent",
    "services/rtevent/service",
    "services/scheduler",
    "services/scheduling",
    "services/scheduling/runtime",
    "tools/cli",
    "tools/console",
    "tools/guide",
    "tools/reference",
];

pub(crate) fn check() -> Result<()> {
    let mut mistakes = Vec::new();
    for name in CRATES {
        let edges = edges(&root().join(name).join("src"))?;
        if *name == "crates/orb/orb" {
            mistakes.extend(upward(&edges));
        }
        mistakes.extend(
            cycles(&edges)
                .into_iter()
                .map(|cycle| format!("a cycle of files in {name}: {cycle}")),
        );
    }
    if mistakes.is_empty() {
        println!(
            "layers: {} modules of punctual-orb in order, no cycle of files in {} crates",
            ORB.iter().map(|line| line.len()).sum::<usize>(),
            CRATES.len()
        );
        return Ok(());
    }
    Err(format!(
        "the order of modules is broken:\n  {}",
        mistakes.join("\n  ")
    ))
}

/// Returns the dependency cycles between files below a `src` folder, and the number of uses that
/// would have to be removed to break them.
pub(crate) fn structure(src: &Path) -> Result<(Vec<String>, usize)> {
    let edges = edges(src)?;
    Ok((cycles(&edges), arrows_back(&edges)))
}

/// Returns the uses of modules in a higher layer or in another module's own layer.
fn upward(edges: &[Edge]) -> Vec<String> {
    let level = |module: &str| ORB.iter().position(|line| line.contains(&module));
    let mut mistakes = Vec::new();
    for edge in edges {
        let (from, to) = (edge.user_module(), edge.used_module());
        // The crate's root only names the modules below it.
        if from == to || from == "lib" {
            continue;
        }
        match (level(from), level(to)) {
            (Some(from), Some(to)) if to < from => {}
            (Some(_), Some(_)) => mistakes.push(format!(
                "`{}` may not use `{}`: `{to}` does not stand below `{from}`",
                edge.from, edge.to
            )),
            (known, _) => {
                let unknown = if known.is_none() { from } else { to };
                mistakes.push(format!(
                    "`{unknown}` has no place: give it one in xtask/src/modules.rs"
                ));
            }
        }
    }
    mistakes.sort();
    mistakes.dedup();
    mistakes
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn edge(from: &str, to: &str) -> Edge {
        Edge {
            from: from.to_owned(),
            to: to.to_owned(),
        }
    }

    #[test]
    fn a_use_that_points_up_is_refused_by_the_names_of_both_files() {
        let edges = [
            edge("client/send.rs", "lane/owned.rs"),
            edge("lane/owned.rs", "client/send.rs"),
        ];
        assert_eq!(
            upward(&edges),
            ["`lane/owned.rs` may not use `client/send.rs`: `client` does not stand below `lane`"]
        );
    }

    #[test]
    fn the_two_sides_of_a_call_never_see_each_other() {
        let edges = [edge("client/send.rs", "server/send.rs")];
        assert_eq!(upward(&edges).len(), 1);
    }

    #[test]
    fn a_module_without_a_place_is_refused() {
        let edges = [edge("misc.rs", "sync.rs")];
        assert!(upward(&edges)[0].contains("`misc` has no place"));
    }
}
