//! Options of TAO, those of its factories and strategies included.

use super::instead::*;

const COLLOCATION: Instead = either(
    "use `-ORBCollocation thru_poa`, `direct` or `none`",
    "use `collocation = \"thru_poa\"`, `collocation = \"direct\"` or `collocation = \"none\"`",
);
const SCOPE: Instead = either(
    "use `-ORBCollocationScope process` or `orb`, or `-ORBCollocation none`",
    "use `collocation_scope = \"process\"` or `collocation_scope = \"orb\"`, or `collocation = \"none\"`",
);
const REACTOR: Instead = either(
    "use `-ORBConcurrency reactive` or `leader_followers`",
    "use `concurrency.strategy = \"reactive\"` or `concurrency.strategy = \"leader_followers\"`",
);
const REPOSITORY: Instead = either(
    "use `-ORBInitRef InterfaceRepository=IOR:…`",
    "use the key InterfaceRepository in the table [initial_references]",
);
const FORWARD: Instead = both(
    "leave it out, a call whose new target fails goes back to the reference that it began with, as the standard has it",
);
const INTERFACES: Instead = either(
    "use `-ORBListenEndpoints` with the interface that is meant; a client's interface is that of the kernel's route",
    "use `listen` with the interface that is meant; a client's interface is that of the kernel's route",
);
const TRANSLATORS: Instead = either(
    "use `-ORBCharCodeSet utf-8` or `iso-8859-1`: the code sets are built in",
    "use `char_code_set = \"utf-8\"` or `char_code_set = \"iso-8859-1\"`: the code sets are built in",
);
const LOCATOR: Instead = either(
    "use `-ORBImplRepoServiceIOR corbaloc::host:port/ImplRepoService`",
    "use `initial_references.ImplRepoService = \"corbaloc::host:2815/ImplRepoService\"`",
);

/// Names of TAO's options, without `-ORB`, each with what to do instead in this ORB.
pub(super) const OPTIONS: &[(&str, Instead)] = &[
    ("AcceptErrorDelay", INTERNAL),
    ("ActiveHintInIds", INTERNAL),
    ("ActiveHintInPOANames", INTERNAL),
    ("AllowReactivationOfSystemids", INTERNAL),
    ("AMHResponseHandlerAllocator", INTERNAL),
    ("AMICollocation", NEEDLESS),
    ("AMIResponseHandlerAllocator", INTERNAL),
    ("CDRTradeoff", INTERNAL),
    ("CharCodesetTranslator", TRANSLATORS),
    ("ClientConnectionHandler", INTERNAL),
    ("CollocationStrategy", COLLOCATION),
    ("ConnectIPV6Only", INTERFACES),
    ("ConnectionCacheLock", INTERNAL),
    ("ConnectionCacheMax", CONNECTIONS),
    ("ConnectionCachePurgePercentage", CONNECTIONS),
    ("ConnectionCachingStrategy", CONNECTIONS),
    ("ConnectionHandlerCleanup", INTERNAL),
    ("ConnectStrategy", INTERNAL),
    ("CorbaObjectLock", INTERNAL),
    (
        "Daemon",
        both("leave it out, a supervisor such as systemd runs the program in the background"),
    ),
    ("Debug", TRACE),
    ("DebugLevel", TRACE),
    ("DefaultSyncScope", both("use `Policy::SyncScope`")),
    (
        "DontRoute",
        either(
            "use dont_route in the table [tcp] of the file (`-ORBConfigFile`)",
            "use `tcp.dont_route = true`",
        ),
    ),
    (
        "DottedDecimalAddresses",
        both("leave it out, references have addresses unless `hostname_in_ior` gives a name"),
    ),
    ("DropRepliesDuringShutdown", INTERNAL),
    ("Endpoint", LISTEN),
    ("EnforcePreferredInterfaces", INTERFACES),
    ("FlushingStrategy", INTERNAL),
    ("ForwardDelay", FORWARD),
    ("ForwardInvocationOnObjectNotExist", FORWARD),
    ("ForwardOnceOnCommFailure", FORWARD),
    ("ForwardOnceOnInvObjref", FORWARD),
    ("ForwardOnceOnObjectNotExist", FORWARD),
    ("ForwardOnceOnTransient", FORWARD),
    ("Gestalt", NEEDLESS),
    ("Id", both("use `OrbBuilder::orb_id`")),
    ("IgnoreDefaultSvcConfFile", NEEDLESS),
    ("ImplRepoServicePort", LOCATOR),
    ("InputCDRAllocator", INTERNAL),
    ("InterfaceRepoServiceIOR", REPOSITORY),
    (
        "IORParser",
        both("leave it out, all forms of references are there"),
    ),
    (
        "Keepalive",
        either(
            "use keep_alive in the table [tcp] of the file (`-ORBConfigFile`)",
            "use `tcp.keep_alive = true`",
        ),
    ),
    (
        "LaneEndpoint",
        either(
            "use `-ORBLaneListenEndpoints 100=iiop://host:port`",
            "use `listen = [\"iiop://host:2809/priority=100\"]`",
        ),
    ),
    ("LogFile", TRACE),
    ("MulticastDiscoveryEndpoint", NAME_SERVICE),
    ("MuxedConnectionMax", PER_ENDPOINT),
    (
        "NameServiceIOR",
        either(
            "use `-ORBInitRef NameService=IOR:…`",
            "use `initial_references.NameService = \"corbaloc::host:2809/NameService\"`",
        ),
    ),
    ("NameServicePort", NAME_SERVICE),
    ("NativeCharCodeSet", CHARS),
    ("NativeWCharCodeSet", WIDE),
    ("NegotiateCodesets", NEEDLESS),
    (
        "Nodelay",
        either(
            "use no_delay in the table [tcp] of the file (`-ORBConfigFile`)",
            "use `tcp.no_delay = true`",
        ),
    ),
    ("NoServerSideNameLookups", NEEDLESS),
    ("ObjectKeyTableLock", INTERNAL),
    ("ObjRefStyle", NEEDLESS),
    ("OutputCDRAllocator", INTERNAL),
    ("ParallelConnectDelay", INTERNAL),
    ("PersistentidPolicyDemuxStrategy", INTERNAL),
    ("POALock", INTERNAL),
    ("POAMapSize", INTERNAL),
    ("PreferIPV6Interfaces", INTERFACES),
    ("PreferredInterfaces", INTERFACES),
    ("ProfileLock", INTERNAL),
    (
        "ProtocolFactory",
        either(
            "leave it out, all protocols are there; `-ORBLibrary` loads another one",
            "leave it out, all protocols are there; a table [[library]] loads another one",
        ),
    ),
    (
        "RcvSock",
        either(
            "use receive_buffer in the table [tcp] of the file (`-ORBConfigFile`)",
            "use `tcp.receive_buffer = 262144`",
        ),
    ),
    ("ReactorMaskSignals", INTERNAL),
    ("ReactorRegistry", INTERNAL),
    ("ReactorThreadQueue", INTERNAL),
    ("ReactorType", REACTOR),
    ("ReplyDispatcherTableSize", INTERNAL),
    ("Resources", INTERNAL),
    ("ServiceConfigLoggerKey", TRACE),
    ("SingleReadOptimization", INTERNAL),
    ("SkipServiceConfigOpen", NEEDLESS),
    (
        "SndSock",
        either(
            "use send_buffer in the table [tcp] of the file (`-ORBConfigFile`)",
            "use `tcp.send_buffer = 262144`",
        ),
    ),
    ("StdProfileComponents", NEEDLESS),
    ("SvcConf", FILE),
    ("SvcConfDirective", FILE),
    ("SystemidPolicyDemuxStrategy", INTERNAL),
    ("TableSize", INTERNAL),
    (
        "ThreadFlags",
        either(
            "use `-ORBSchedPolicy`, and `-ORBRealTime`",
            "use `real_time.policy = \"SCHED_FIFO\"`, and `real_time.mode = \"require\"`",
        ),
    ),
    ("ThreadPerConnectionTimeout", INTERNAL),
    ("TradingServiceIOR", INITIAL),
    ("TradingServicePort", INITIAL),
    ("TransientidPolicyDemuxStrategy", INTERNAL),
    (
        "TransportMuxStrategy",
        both("use the policy `Mux::Exclusive` for exclusive, and nothing for muxed"),
    ),
    ("UniqueidPolicyReverseDemuxStrategy", INTERNAL),
    ("UseIPv6LinkLocal", INTERFACES),
    ("UseParallelConnects", INTERNAL),
    ("UseridPolicyDemuxStrategy", INTERNAL),
    ("UseSharedProfile", SCOPE),
    ("VerboseLogging", SUBSCRIBER),
    (
        "WaitStrategy",
        either(
            "use `-ORBWait read`, `reactor` or `leader_followers`",
            "use `wait = \"read\"`, `wait = \"reactor\"` or `wait = \"leader_followers\"`",
        ),
    ),
    ("WCharCodesetTranslator", WIDE),
    ("ZeroCopyWrite", INTERNAL),
];
