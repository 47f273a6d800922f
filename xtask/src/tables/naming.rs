//! Required rows of the table of the Naming Service.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/conformance/naming.md",
    interfaces: INTERFACES,
    others: &[EXCEPTIONS],
};

/// Interfaces of the module CosNaming (CosNaming 1.3, §2.2, §2.3, §2.5.4), with their operations.
const INTERFACES: &[(&str, &[&str])] = &[
    (
        "NamingContext",
        &[
            "bind",
            "rebind",
            "bind_context",
            "rebind_context",
            "resolve",
            "unbind",
            "new_context",
            "bind_new_context",
            "destroy",
            "list",
        ],
    ),
    (
        "NamingContextExt",
        &["to_string", "to_name", "to_url", "resolve_str"],
    ),
    ("BindingIterator", &["next_one", "next_n", "destroy"]),
];

const EXCEPTIONS: &[&str] = &[
    "NotFound::missing_node",
    "NotFound::not_context",
    "NotFound::not_object",
    "CannotProceed",
    "InvalidName",
    "AlreadyBound",
    "NotEmpty",
    "InvalidAddress",
];
