//! Required rows of the table of the Telecom Log Service.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/log.md",
    interfaces: INTERFACES,
    others: &[&[
        "wrap",
        "halt",
        "LogFull",
        "LogOffDuty",
        "LogLocked",
        "LogDisabled",
    ]],
};

/// Interfaces of the module DsLogAdmin (Telecom Log Service 1.1.2), and factories of the others.
const INTERFACES: &[(&str, &[&str])] = &[
    ("Iterator", &["get", "destroy"]),
    (
        "Log",
        &[
            "my_factory",
            "id",
            "get_log_qos",
            "set_log_qos",
            "get_max_record_life",
            "set_max_record_life",
            "get_max_size",
            "set_max_size",
            "get_current_size",
            "get_n_records",
            "get_log_full_action",
            "set_log_full_action",
            "get_administrative_state",
            "set_administrative_state",
            "get_forwarding_state",
            "set_forwarding_state",
            "get_operational_state",
            "get_interval",
            "set_interval",
            "get_availability_status",
            "get_capacity_alarm_thresholds",
            "set_capacity_alarm_thresholds",
            "get_week_mask",
            "set_week_mask",
            "query",
            "retrieve",
            "match",
            "delete_records",
            "delete_records_by_id",
            "write_records",
            "write_recordlist",
            "set_record_attribute",
            "set_records_attribute",
            "get_record_attribute",
            "copy",
            "copy_with_id",
            "flush",
        ],
    ),
    ("BasicLog", &["destroy"]),
    ("LogMgr", &["list_logs", "find_log", "list_logs_by_id"]),
    ("BasicLogFactory", &["create", "create_with_id"]),
    ("EventLogFactory", &["create", "create_with_id"]),
    ("NotifyLog", &["get_filter", "set_filter"]),
    ("NotifyLogFactory", &["create", "create_with_id"]),
];
