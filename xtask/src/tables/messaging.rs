//! Required rows of docs/conformance/messaging.md: every policy of module Messaging (CORBA 3.3 part 2,
//! §22.2), BiDirPolicy, and our own policies for the same purposes.

use super::Page;

pub(super) const PAGE: Page = Page {
    path: "docs/conformance/messaging.md",
    interfaces: &[],
    others: &[POLICIES, OWN],
};

const POLICIES: &[&str] = &[
    "RebindPolicy",
    "SyncScopePolicy",
    "RequestPriorityPolicy",
    "ReplyPriorityPolicy",
    "RequestStartTimePolicy",
    "RequestEndTimePolicy",
    "ReplyStartTimePolicy",
    "ReplyEndTimePolicy",
    "RelativeRequestTimeoutPolicy",
    "RelativeRoundtripTimeoutPolicy",
    "RoutingPolicy",
    "MaxHopsPolicy",
    "QueueOrderPolicy",
    "BidirectionalPolicy",
];

const OWN: &[&str] = &["Buffering", "BufferCapacity", "OutOfBand", "ConnectTimeout"];
