//! Required rows of the table of Portable Interceptors.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/conformance/interceptors.md",
    interfaces: INTERFACES,
    others: &[],
};

/// Interfaces of the module PortableInterceptor, and the related ones of IOP and CORBA (CORBA 3.3
/// part 1, chapter 16), with their operations, attributes and exceptions.
const INTERFACES: &[(&str, &[&str])] = &[
    ("ORBInitializer", &["pre_init", "post_init"]),
    (
        "ORBInitInfo",
        &[
            "arguments",
            "orb_id",
            "codec_factory",
            "register_initial_reference",
            "resolve_initial_references",
            "add_client_request_interceptor",
            "add_server_request_interceptor",
            "add_ior_interceptor",
            "allocate_slot_id",
            "register_policy_factory",
            "DuplicateName",
            "InvalidName",
        ],
    ),
    ("PolicyFactory", &["create_policy"]),
    ("Interceptor", &["name", "destroy"]),
    (
        "ClientRequestInterceptor",
        &[
            "send_request",
            "send_poll",
            "receive_reply",
            "receive_exception",
            "receive_other",
        ],
    ),
    (
        "ServerRequestInterceptor",
        &[
            "receive_request_service_contexts",
            "receive_request",
            "send_reply",
            "send_exception",
            "send_other",
        ],
    ),
    ("ForwardRequest", &["forward", "permanent"]),
    (
        "RequestInfo",
        &[
            "request_id",
            "operation",
            "arguments",
            "exceptions",
            "contexts",
            "operation_context",
            "result",
            "response_expected",
            "sync_scope",
            "reply_status",
            "forward_reference",
            "get_slot",
            "get_request_service_context",
            "get_reply_service_context",
        ],
    ),
    (
        "ClientRequestInfo",
        &[
            "target",
            "effective_target",
            "effective_profile",
            "received_exception",
            "received_exception_id",
            "get_effective_component",
            "get_effective_components",
            "get_request_policy",
            "add_request_service_context",
        ],
    ),
    (
        "ServerRequestInfo",
        &[
            "sending_exception",
            "object_id",
            "adapter_id",
            "server_id",
            "orb_id",
            "adapter_name",
            "target_most_derived_interface",
            "get_server_policy",
            "set_slot",
            "target_is_a",
            "add_reply_service_context",
        ],
    ),
    ("Current", &["get_slot", "set_slot", "InvalidSlot"]),
    (
        "IORInterceptor",
        &[
            "establish_components",
            "components_established",
            "adapter_manager_state_changed",
            "adapter_state_changed",
        ],
    ),
    (
        "IORInfo",
        &[
            "get_effective_policy",
            "add_ior_component",
            "add_ior_component_to_profile",
            "manager_id",
            "state",
            "adapter_template",
            "current_factory",
        ],
    ),
    ("ObjectReferenceTemplate", &["make_object"]),
    ("CodecFactory", &["create_codec", "UnknownEncoding"]),
    (
        "Codec",
        &[
            "encode",
            "decode",
            "encode_value",
            "decode_value",
            "InvalidTypeForEncoding",
            "FormatMismatch",
            "TypeMismatch",
        ],
    ),
];
