//! Numbers of profiles, components, ORBs and code sets, and their names.
//!
//! The names are for people: an unknown number is never an error.

/// Tags of the profiles in an object reference.
pub mod profile {
    /// Profile tag of IIOP over TCP.
    pub const INTERNET_IOP: u32 = 0;
    /// Components that belong to the object, not to one transport.
    pub const MULTIPLE_COMPONENTS: u32 = 1;
    /// Profile tag of GIOP over SS7 (SCCP Inter-ORB Protocol).
    pub const SCCP_IOP: u32 = 2;
    /// Profile tag of multicast requests (MIOP).
    pub const UIPMC: u32 = 3;
    /// Profile tag of TAO's GIOP over Unix domain sockets (UIOP).
    pub const TAO_UIOP: u32 = 0x5441_4f00;
    /// Profile tag of TAO's GIOP over shared memory (SHMIOP).
    pub const TAO_SHMIOP: u32 = 0x5441_4f02;
    /// Profile tag of TAO's GIOP over UDP datagrams (DIOP).
    pub const TAO_DIOP: u32 = 0x5441_4f04;
    /// Profile tag of TAO's profile for collocated calls only (COIOP).
    pub const TAO_COIOP: u32 = 0x5441_4f05;
    /// Profile tag of TAO's GIOP over SCTP (SCIOP).
    pub const TAO_SCIOP: u32 = 0x5441_4f0e;
    /// Punctual's messaging protocol over a link, whichever they are.
    pub const PUNCTUAL_PAIR: u32 = 0x5055_4e01;
}

/// Tags of the components in a profile.
pub mod component {
    /// Component tag of the id of the ORB that created the reference.
    pub const ORB_TYPE: u32 = 0;
    /// Component tag of the code sets that the server supports.
    pub const CODE_SETS: u32 = 1;
    /// Component tag of the policies that the server exports.
    pub const POLICIES: u32 = 2;
    /// One more host and port of the same object.
    pub const ALTERNATE_IIOP_ADDRESS: u32 = 3;
    /// Component tag of a complete object key, for a reference without an endpoint.
    pub const COMPLETE_OBJECT_KEY: u32 = 5;
    /// Component tag of the position of the endpoint's id in the object key.
    pub const ENDPOINT_ID_POSITION: u32 = 6;
    /// Component tag of the policy for locating the object.
    pub const LOCATION_POLICY: u32 = 12;
    /// Component tag of the security association options.
    pub const ASSOCIATION_OPTIONS: u32 = 13;
    /// Component tag of the TLS port and its security association options.
    pub const SSL_SEC_TRANS: u32 = 20;
    /// Component tag of an object group of Fault Tolerant CORBA.
    pub const FT_GROUP: u32 = 27;
    /// Component tag that marks the profile of the primary member of an object group.
    pub const FT_PRIMARY: u32 = 28;
    /// Component tag of the setting for answering heartbeats, in Fault Tolerant CORBA.
    pub const FT_HEARTBEAT_ENABLED: u32 = 29;
    /// Component tag of the invocation policies of an object.
    pub const INV_POLICY: u32 = 32;
    /// Component tag of the list of CSIv2 security mechanisms.
    pub const CSI_SEC_MECH_LIST: u32 = 33;
    /// Component tag of a CSIv2 mechanism without transport security.
    pub const NULL_TAG: u32 = 34;
    /// Component tag of SECIOP as the transport of a CSIv2 mechanism.
    pub const SECIOP_SEC_TRANS: u32 = 35;
    /// Component tag of TLS as the transport of a CSIv2 mechanism.
    pub const TLS_SEC_TRANS: u32 = 36;
    /// Component tag of a multicast group in MIOP.
    pub const GROUP: u32 = 39;
    /// Component tag of the IIOP gateway of a multicast group.
    pub const GROUP_IIOP: u32 = 40;
    /// Component tag of TAO's list of endpoints, each with a priority.
    pub const TAO_ENDPOINTS: u32 = 0x5441_4f02;
    /// Component tag by which omniORB marks a bidirectional endpoint.
    pub const OMNIORB_BIDIR: u32 = 0x4154_5401;
    /// Component tag of omniORB's Unix domain socket.
    pub const OMNIORB_UNIX_TRANS: u32 = 0x4154_5402;
    /// omniORB's mark of one run of a server, in references to transient objects.
    pub const OMNIORB_PERSISTENT_ID: u32 = 0x4154_5403;
}

/// Numbers by which ORBs identify themselves in an `ORB_TYPE` component.
pub mod orb_type {
    /// ORB type of TAO.
    pub const TAO: u32 = 0x5441_4f00;
    /// ORB type of omniORB.
    pub const OMNIORB: u32 = 0x4154_5400;
    /// ORB type of JacORB.
    pub const JACORB: u32 = 0x4a41_4300;
    /// ORB type of Punctual: the bytes `PUN` and a NUL.
    pub const PUNCTUAL: u32 = 0x5055_4e00;
}

/// Policy types of the policies in a POLICIES component.
pub mod policy {
    /// Priority model: the source of the priority at which a request is served.
    pub const PRIORITY_MODEL: u32 = 40;
    /// Policy type of the thread pool that serves the objects of a POA.
    pub const THREADPOOL: u32 = 41;
    /// Policy type of the protocols that clients should use, with their properties.
    pub const CLIENT_PROTOCOL: u32 = 43;
    /// Private connection, which a reference's calls share with no others.
    pub const PRIVATE_CONNECTION: u32 = 44;
    /// TAO's: priority of the endpoints to which calls are sent.
    pub const TAO_CLIENT_PRIORITY: u32 = 0x5441_0000;
    /// Policy type of priority-banded connections: one connection for each range of priorities.
    pub const PRIORITY_BANDED_CONNECTION: u32 = 45;
    /// Policy type of the duration of requests to object groups, within which they are repeated.
    pub const REQUEST_DURATION: u32 = 47;
    /// Policy type of the interval and time-out of heartbeats that a client asks for.
    pub const HEARTBEAT: u32 = 48;
    /// Policy type of servers that answer heartbeats.
    pub const HEARTBEAT_ENABLED: u32 = 49;
}

/// Returns the name of a profile tag, or `None` if the tag is unknown.
#[must_use]
pub const fn profile_name(tag: u32) -> Option<&'static str> {
    Some(match tag {
        profile::INTERNET_IOP => "IIOP",
        profile::MULTIPLE_COMPONENTS => "multiple components",
        profile::SCCP_IOP => "SCCP",
        profile::UIPMC => "UIPMC",
        profile::TAO_UIOP => "UIOP (TAO)",
        profile::TAO_SHMIOP => "SHMIOP (TAO)",
        profile::TAO_DIOP => "DIOP (TAO)",
        profile::TAO_COIOP => "COIOP (TAO)",
        profile::TAO_SCIOP => "SCIOP (TAO)",
        profile::PUNCTUAL_PAIR => "protocol pair (Punctual)",
        _ => return None,
    })
}

/// Returns the name of a component tag, without the standard's prefix `TAG_`.
#[must_use]
pub const fn component_name(tag: u32) -> Option<&'static str> {
    Some(match tag {
        component::ORB_TYPE => "ORB_TYPE",
        component::CODE_SETS => "CODE_SETS",
        component::POLICIES => "POLICIES",
        component::ALTERNATE_IIOP_ADDRESS => "ALTERNATE_IIOP_ADDRESS",
        component::COMPLETE_OBJECT_KEY => "COMPLETE_OBJECT_KEY",
        component::ENDPOINT_ID_POSITION => "ENDPOINT_ID_POSITION",
        component::LOCATION_POLICY => "LOCATION_POLICY",
        component::ASSOCIATION_OPTIONS => "ASSOCIATION_OPTIONS",
        component::SSL_SEC_TRANS => "SSL_SEC_TRANS",
        component::FT_GROUP => "FT_GROUP",
        component::FT_PRIMARY => "FT_PRIMARY",
        component::FT_HEARTBEAT_ENABLED => "FT_HEARTBEAT_ENABLED",
        component::INV_POLICY => "INV_POLICY",
        component::CSI_SEC_MECH_LIST => "CSI_SEC_MECH_LIST",
        component::NULL_TAG => "NULL_TAG",
        component::SECIOP_SEC_TRANS => "SECIOP_SEC_TRANS",
        component::TLS_SEC_TRANS => "TLS_SEC_TRANS",
        component::GROUP => "GROUP",
        component::GROUP_IIOP => "GROUP_IIOP",
        component::TAO_ENDPOINTS => "TAO_ENDPOINTS",
        component::OMNIORB_BIDIR => "OMNIORB_BIDIR",
        component::OMNIORB_UNIX_TRANS => "OMNIORB_UNIX_TRANS",
        component::OMNIORB_PERSISTENT_ID => "OMNIORB_PERSISTENT_ID",
        _ => return None,
    })
}

/// Returns the name of the ORB with this number in an `ORB_TYPE` component.
#[must_use]
pub const fn orb_type_name(id: u32) -> Option<&'static str> {
    Some(match id {
        orb_type::TAO => "TAO",
        orb_type::OMNIORB => "omniORB",
        orb_type::JACORB => "JacORB",
        orb_type::PUNCTUAL => "Punctual",
        _ => return None,
    })
}

/// Returns the name of a type of policies, without the standards' suffix `_POLICY_TYPE`.
#[must_use]
pub const fn policy_name(kind: u32) -> Option<&'static str> {
    Some(match kind {
        16 => "THREAD",
        17 => "LIFESPAN",
        18 => "ID_UNIQUENESS",
        19 => "ID_ASSIGNMENT",
        20 => "IMPLICIT_ACTIVATION",
        21 => "SERVANT_RETENTION",
        22 => "REQUEST_PROCESSING",
        23 => "REBIND",
        24 => "SYNC_SCOPE",
        25 => "REQUEST_PRIORITY",
        26 => "REPLY_PRIORITY",
        27 => "REQUEST_START_TIME",
        28 => "REQUEST_END_TIME",
        29 => "REPLY_START_TIME",
        30 => "REPLY_END_TIME",
        31 => "RELATIVE_REQ_TIMEOUT",
        32 => "RELATIVE_RT_TIMEOUT",
        33 => "ROUTING",
        34 => "MAX_HOPS",
        35 => "QUEUE_ORDER",
        37 => "BIDIRECTIONAL",
        policy::PRIORITY_MODEL => "PRIORITY_MODEL",
        policy::THREADPOOL => "THREADPOOL",
        42 => "SERVER_PROTOCOL",
        policy::CLIENT_PROTOCOL => "CLIENT_PROTOCOL",
        policy::PRIVATE_CONNECTION => "PRIVATE_CONNECTION",
        policy::PRIORITY_BANDED_CONNECTION => "PRIORITY_BANDED_CONNECTION",
        policy::REQUEST_DURATION => "REQUEST_DURATION",
        policy::HEARTBEAT => "HEARTBEAT",
        policy::HEARTBEAT_ENABLED => "HEARTBEAT_ENABLED",
        policy::TAO_CLIENT_PRIORITY => "TAO_CLIENT_PRIORITY",
        0x5441_0001 => "TAO_BUFFERING_CONSTRAINT",
        0x5441_0002 => "TAO_SERVER_DIFFSERV",
        0x5441_0003 => "TAO_CLIENT_DIFFSERV",
        0x5441_0004 => "TAO_DIFFSERV",
        0x5441_0008 => "TAO_CONNECTION_TIMEOUT",
        _ => return None,
    })
}

/// Returns the name of a code set in the OSF registry.
#[must_use]
pub const fn code_set_name(id: u32) -> Option<&'static str> {
    Some(match id {
        0x0001_0001 => "ISO-8859-1",
        0x0001_0002 => "ISO-8859-2",
        0x0001_0005 => "ISO-8859-5",
        0x0001_000f => "ISO-8859-15",
        0x0001_0020 => "ISO-646",
        0x0001_0100 => "UCS-2",
        0x0001_0106 => "UCS-4",
        0x0001_0109 => "UTF-16",
        0x0501_0001 => "UTF-8",
        _ => return None,
    })
}
