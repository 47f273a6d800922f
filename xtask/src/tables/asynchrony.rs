//! Required rows of the table of asynchronous calls.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/conformance/asynchrony.md",
    interfaces: INTERFACES,
    others: &[IMPLIED, EXCEPTIONS, EXTENSIONS],
};

/// Operations of module Messaging for asynchronous method invocation, CORBA's pollables, and the
/// related operations of the ORB and of requests (CORBA 3.3 part 1, chapters 8, 11 and 17).
const INTERFACES: &[(&str, &[&str])] = &[
    (
        "ExceptionHolder",
        &["raise_exception", "raise_exception_with_list"],
    ),
    (
        "Poller",
        &[
            "operation_target",
            "operation_name",
            "associated_handler",
            "is_from_poller",
        ],
    ),
    ("Pollable", &["is_ready", "create_pollable_set"]),
    (
        "PollableSet",
        &[
            "create_dii_pollable",
            "add_pollable",
            "get_ready_pollable",
            "remove",
            "number_left",
        ],
    ),
    (
        "Request",
        &[
            "send_oneway",
            "send_deferred",
            "poll_response",
            "get_response",
            "sendc",
            "sendp",
        ],
    ),
    (
        "ORB",
        &[
            "send_multiple_requests_oneway",
            "send_multiple_requests_deferred",
            "poll_next_response",
            "get_next_response",
            "run",
            "work_pending",
            "perform_work",
        ],
    ),
];

/// Implied operations of an interface `iface` with an operation `op` and an attribute `attr`.
const IMPLIED: &[&str] = &[
    "sendc_op",
    "sendc_get_attr",
    "sendc_set_attr",
    "sendp_op",
    "sendp_get_attr",
    "sendp_set_attr",
    "AMI_ifaceHandler",
    "AMI_ifaceHandler::op",
    "AMI_ifaceHandler::op_excep",
    "AMI_ifaceHandler::get_attr",
    "AMI_ifaceHandler::set_attr",
    "AMI_ifacePoller",
    "AMI_ifacePoller::op",
    "ReplyHandler",
];

const EXCEPTIONS: &[&str] = &["NoPossiblePollable", "UnknownPollable", "WrongTransaction"];

/// Extensions of the standard for which the conformance table of asynchronous calls must have rows.
const EXTENSIONS: &[&str] = &["CallsInFlight", "CancelRequest"];
