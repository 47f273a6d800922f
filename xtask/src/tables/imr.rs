//! Required rows of the table of the Implementation Repository.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/imr.md",
    interfaces: INTERFACES,
    others: &[&["NORMAL", "MANUAL", "PER_CLIENT", "AUTO_START"]],
};

/// Interfaces of TAO's module ImplementationRepository, and modes of activation.
const INTERFACES: &[(&str, &[&str])] = &[
    ("ServerObject", &["ping", "shutdown"]),
    ("ServerInformationIterator", &["next_n", "destroy"]),
    (
        "Administration",
        &[
            "activate_server",
            "add_or_update_server",
            "remove_server",
            "shutdown_server",
            "server_is_running",
            "server_is_shutting_down",
            "find",
            "list",
            "shutdown",
        ],
    ),
    (
        "AdministrationExt",
        &["link_servers", "kill_server", "force_remove_server"],
    ),
    ("Activator", &["start_server", "shutdown"]),
    ("ActivatorExt", &["kill_server"]),
    (
        "Locator",
        &[
            "register_activator",
            "unregister_activator",
            "notify_child_death",
            "child_death_pid",
            "spawn_pid",
        ],
    ),
];
