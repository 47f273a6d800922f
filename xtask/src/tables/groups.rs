//! Required rows of the table of object groups.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/object-groups.md",
    interfaces: INTERFACES,
    others: &[
        &[
            "STATELESS",
            "COLD_PASSIVE",
            "WARM_PASSIVE",
            "ACTIVE",
            "ACTIVE_WITH_VOTING",
        ],
        &[
            "RoundRobin",
            "Random",
            "LeastLoaded",
            "LoadMinimum",
            "LoadAverage",
        ],
    ],
};

/// Interfaces of PortableGroup, FT, CosLoadBalancing and Punctual; styles and strategies.
const INTERFACES: &[(&str, &[&str])] = &[
    (
        "PropertyManager",
        &[
            "set_default_properties",
            "get_default_properties",
            "remove_default_properties",
            "set_type_properties",
            "get_type_properties",
            "remove_type_properties",
            "set_properties_dynamically",
            "get_properties",
        ],
    ),
    (
        "ObjectGroupManager",
        &[
            "create_member",
            "add_member",
            "remove_member",
            "locations_of_members",
            "groups_at_location",
            "get_object_group_id",
            "get_object_group_ref",
            "get_object_group_ref_from_id",
            "get_member_ref",
        ],
    ),
    ("GenericFactory", &["create_object", "delete_object"]),
    ("FTObjectGroupManager", &["set_primary_member"]),
    (
        "ReplicationManager",
        &["register_fault_notifier", "get_fault_notifier"],
    ),
    (
        "FaultNotifier",
        &[
            "push_structured_fault",
            "push_sequence_fault",
            "create_subscription_filter",
            "connect_structured_fault_consumer",
            "connect_sequence_fault_consumer",
            "disconnect_consumer",
        ],
    ),
    ("PullMonitorable", &["is_alive"]),
    ("Checkpointable", &["get_state", "set_state"]),
    ("Updateable", &["get_update", "set_update"]),
    (
        "LoadManager",
        &[
            "push_loads",
            "get_loads",
            "enable_alert",
            "disable_alert",
            "register_load_alert",
            "get_load_alert",
            "remove_load_alert",
            "register_load_monitor",
            "get_load_monitor",
            "remove_load_monitor",
        ],
    ),
    (
        "Strategy",
        &[
            "name",
            "get_properties",
            "push_loads",
            "get_loads",
            "next_member",
            "analyze_loads",
        ],
    ),
    ("LoadMonitor", &["the_location", "loads"]),
    ("LoadAlert", &["enable_alert", "disable_alert"]),
    (
        "Administration",
        &[
            "join",
            "renew",
            "leave",
            "store_state",
            "store_update",
            "stored_state",
            "stored_updates",
            "list",
            "create_group",
            "remove_group",
            "drain",
        ],
    ),
];
