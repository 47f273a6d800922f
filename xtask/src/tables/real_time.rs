//! Required rows of the table of Real-time CORBA.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/real-time.md",
    interfaces: INTERFACES,
    others: &[POLICIES, EXTENSIONS],
};

/// Interfaces of the modules RTCORBA, RTPortableServer, RTCosScheduling and RTScheduling (Real-time
/// CORBA 1.2), with their operations and attributes, and `CORBA::Object`'s operation for explicit
/// binding.
const INTERFACES: &[(&str, &[&str])] = &[
    (
        "RTORB",
        &[
            "create_mutex",
            "destroy_mutex",
            "create_threadpool",
            "create_threadpool_with_lanes",
            "destroy_threadpool",
            "create_priority_model_policy",
            "create_threadpool_policy",
            "create_priority_banded_connection_policy",
            "create_server_protocol_policy",
            "create_client_protocol_policy",
            "create_private_connection_policy",
            "create_tcp_protocol_properties",
            "create_unix_domain_protocol_properties",
            "create_shared_memory_protocol_properties",
            "create_user_datagram_protocol_properties",
        ],
    ),
    ("Current", &["the_priority"]),
    ("PriorityMapping", &["to_native", "to_CORBA"]),
    ("PriorityTransform", &["transform_priority"]),
    ("Mutex", &["lock", "unlock", "try_lock"]),
    (
        "TCPProtocolProperties",
        &[
            "send_buffer_size",
            "recv_buffer_size",
            "keep_alive",
            "dont_route",
            "no_delay",
            "enable_network_priority",
        ],
    ),
    (
        "RTPortableServer::POA",
        &[
            "create_reference_with_priority",
            "create_reference_with_id_and_priority",
            "activate_object_with_priority",
            "activate_object_with_id_and_priority",
        ],
    ),
    ("RTCosScheduling::ClientScheduler", &["schedule_activity"]),
    (
        "RTCosScheduling::ServerScheduler",
        &["create_POA", "schedule_object"],
    ),
    (
        "RTScheduling::Current",
        &[
            "spawn",
            "begin_scheduling_segment",
            "update_scheduling_segment",
            "end_scheduling_segment",
            "lookup",
            "id",
            "scheduling_parameter",
            "implicit_scheduling_parameter",
            "current_scheduling_segment_names",
            "UNSUPPORTED_SCHEDULING_DISCIPLINE",
        ],
    ),
    ("RTScheduling::DistributableThread", &["cancel", "state"]),
    ("CORBA::Object", &["validate_connection"]),
];

/// Policies and features for which the conformance table of Real-time CORBA must have rows.
const POLICIES: &[&str] = &[
    "CLIENT_PROPAGATED",
    "SERVER_DECLARED",
    "ThreadpoolPolicy",
    "lane borrowing",
    "request buffering",
    "ServerProtocolPolicy",
    "ClientProtocolPolicy",
    "PrivateConnectionPolicy",
    "PriorityBandedConnectionPolicy",
    "_bind_priority_band",
    "RTScheduling::Scheduler",
];

/// Extensions of the standard by the papers and TAO.
const EXTENSIONS: &[&str] = &[
    "prioritised endpoints",
    "-ORBLaneListenEndpoints",
    "TAO_TAG_ENDPOINTS",
    "USE_NO_PRIORITY",
    "USE_THREAD_PRIORITY",
    "USE_PRIORITY_RANGE",
    "PriorityMappingManager",
    "network priority",
    "lanes under SCHED_DEADLINE",
    "segments at servers",
    "counters of lanes",
    "trace of priorities",
];
