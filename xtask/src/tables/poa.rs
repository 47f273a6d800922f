//! Required rows of the table of the object adapter.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "crates/orb/poa/tests/operations.md",
    interfaces: INTERFACES,
    others: &[EXCEPTIONS, POLICIES],
};

/// Interfaces of the module PortableServer (CORBA 3.3 part 1, 15.5), and the table of plain object
/// keys as TAO has it, with their operations and attributes.
const INTERFACES: &[(&str, &[&str])] = &[
    (
        "POA",
        &[
            "create_POA",
            "find_POA",
            "destroy",
            "create_thread_policy",
            "create_lifespan_policy",
            "create_id_uniqueness_policy",
            "create_id_assignment_policy",
            "create_implicit_activation_policy",
            "create_servant_retention_policy",
            "create_request_processing_policy",
            "the_name",
            "the_parent",
            "the_children",
            "the_POAManager",
            "the_activator",
            "the_POAManagerFactory",
            "get_servant_manager",
            "set_servant_manager",
            "get_servant",
            "set_servant",
            "activate_object",
            "activate_object_with_id",
            "deactivate_object",
            "create_reference",
            "create_reference_with_id",
            "servant_to_id",
            "servant_to_reference",
            "reference_to_servant",
            "reference_to_id",
            "id_to_servant",
            "id_to_reference",
            "id",
        ],
    ),
    (
        "POAManager",
        &[
            "activate",
            "hold_requests",
            "discard_requests",
            "deactivate",
            "get_state",
            "get_id",
        ],
    ),
    ("POAManagerFactory", &["create_POAManager", "list", "find"]),
    (
        "Current",
        &["get_POA", "get_object_id", "get_reference", "get_servant"],
    ),
    ("AdapterActivator", &["unknown_adapter"]),
    ("ServantActivator", &["incarnate", "etherealize"]),
    ("ServantLocator", &["preinvoke", "postinvoke"]),
    (
        "Servant",
        &[
            "_this",
            "_default_POA",
            "_is_a",
            "_non_existent",
            "_get_interface",
            "_repository_id",
        ],
    ),
    (
        "IORTable",
        &["bind", "rebind", "unbind", "find", "set_locator"],
    ),
    ("Locator", &["locate"]),
];

/// Exceptions for which the conformance table of the POA must have rows.
const EXCEPTIONS: &[&str] = &[
    "POA::AdapterAlreadyExists",
    "POA::AdapterNonExistent",
    "POA::InvalidPolicy",
    "POA::NoServant",
    "POA::ObjectAlreadyActive",
    "POA::ObjectNotActive",
    "POA::ServantAlreadyActive",
    "POA::ServantNotActive",
    "POA::WrongAdapter",
    "POA::WrongPolicy",
    "POAManager::AdapterInactive",
    "POAManagerFactory::ManagerAlreadyExists",
    "Current::NoContext",
    "PortableServer::ForwardRequest",
    "IORTable::AlreadyBound",
];

/// Values of the seven policies, and the combinations that 15.3.8 mentions.
const POLICIES: &[&str] = &[
    "ORB_CTRL_MODEL",
    "SINGLE_THREAD_MODEL",
    "MAIN_THREAD_MODEL",
    "TRANSIENT",
    "PERSISTENT",
    "UNIQUE_ID",
    "MULTIPLE_ID",
    "USER_ID",
    "SYSTEM_ID",
    "IMPLICIT_ACTIVATION",
    "NO_IMPLICIT_ACTIVATION",
    "RETAIN",
    "NON_RETAIN",
    "USE_ACTIVE_OBJECT_MAP_ONLY",
    "USE_DEFAULT_SERVANT",
    "USE_SERVANT_MANAGER",
    "all legal combinations",
    "NON_RETAIN with USE_ACTIVE_OBJECT_MAP_ONLY",
    "USE_DEFAULT_SERVANT with UNIQUE_ID",
    "IMPLICIT_ACTIVATION with USER_ID",
    "IMPLICIT_ACTIVATION with NON_RETAIN",
    "two values of one policy",
];
