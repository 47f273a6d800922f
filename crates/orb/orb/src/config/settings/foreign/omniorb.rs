//! Options of omniORB 4, as `-ORBhelp` lists them and the file `omniORB.cfg` has them.

use super::instead::*;

/// Names of omniORB's options, without `-ORB`, each with what to do instead in this ORB.
pub(super) const OPTIONS: &[(&str, Instead)] = &[
    ("abortOnInternalError", NEEDLESS),
    (
        "abortOnNativeException",
        both("leave it out, a servant that panics is logged and answered with UNKNOWN"),
    ),
    ("acceptBiDirectionalGIOP", BIDIRECTIONAL),
    ("acceptMisalignedTcIndirections", DEFECTS),
    ("bootstrapAgentHostname", NAME_SERVICE),
    ("bootstrapAgentPort", NAME_SERVICE),
    ("clientCallTimeOutPeriod", CALL_TIME),
    ("clientConnectTimeOutPeriod", CONNECT_TIME),
    ("clientTransportRule", PROTOCOLS),
    ("configFile", FILE),
    ("connectionWatchImmediate", HAND_OVER),
    ("connectionWatchPeriod", HAND_OVER),
    (
        "copyValuesInLocalCalls",
        either(
            "use `-ORBCollocation none` where servants of this process must get copies of values",
            "use `collocation = \"none\"` where servants of this process must get copies of values",
        ),
    ),
    ("defaultCharCodeSet", DEFECTS),
    ("defaultWCharCodeSet", DEFECTS),
    ("diiThrowsSysExceptions", BY_RESULT),
    ("dumpConfiguration", HELP),
    ("endPoint", LISTEN),
    ("endPointNoListen", PUBLISH),
    ("endPointNoPublish", PUBLISH),
    ("endPointPublish", PUBLISH),
    ("endPointPublishAllIFs", PUBLISH),
    ("giopMaxMsgSize", MESSAGE),
    (
        "giopTargetAddressMode",
        both("leave it out, a server that wants another form of the object's address asks for it"),
    ),
    ("help", HELP),
    ("id", both("use `OrbBuilder::orb_id`")),
    ("idleThreadTimeout", INTERNAL),
    ("immediateAddressSwitch", INTERNAL),
    ("inConScanPeriod", IDLE),
    ("lcdMode", NEEDLESS),
    ("listenBacklog", INTERNAL),
    ("maxClientThreadPoolSize", INTERNAL),
    ("maxGIOPConnectionPerServer", PER_ENDPOINT),
    ("maxGIOPVersion", VERSION),
    ("maxInterleavedCallsPerConnection", EXCLUSIVE),
    ("maxServerThreadPerConnection", POOL),
    ("maxServerThreadPoolSize", POOL),
    ("maxSocketRecv", INTERNAL),
    ("maxSocketSend", INTERNAL),
    ("nativeCharCodeSet", CHARS),
    ("nativeWCharCodeSet", WIDE),
    ("objectTableSize", INTERNAL),
    ("offerBiDirectionalGIOP", BIDIRECTIONAL),
    ("oneCallPerConnection", EXCLUSIVE),
    ("outConScanPeriod", CONNECTIONS),
    (
        "poaHoldRequestTimeout",
        either(
            "use `-ORBCallTimeout` of the clients, whose requests are held",
            "use `timeouts.call_ms = 2000` of the clients, whose requests are held",
        ),
    ),
    ("poaUniquePersistentSystemIds", INTERNAL),
    (
        "principal",
        both(
            "leave it out, it has no counterpart here: the standard has withdrawn the principal of GIOP 1.0",
        ),
    ),
    (
        "resetTimeOutOnRetries",
        both("leave it out, the time-out of a call is for all its attempts together"),
    ),
    ("resolveNamesForTransportRules", PROTOCOLS),
    ("retainAddressOrder", INTERNAL),
    ("scanGranularity", IDLE),
    (
        "serverCallTimeOutPeriod",
        either(
            "use message_ms and reply_ms in the table [timeouts] of the file (`-ORBConfigFile`)",
            "use `timeouts.message_ms = 30000` and `timeouts.reply_ms = 30000`",
        ),
    ),
    (
        "serverTransportRule",
        either(
            "use `-ORBListenEndpoints` with the interface that is meant",
            "use `listen = [\"iiop://127.0.0.1:2809\"]` with the interface that is meant",
        ),
    ),
    (
        "socketSendBuffer",
        either(
            "use send_buffer in the table [tcp] of the file (`-ORBConfigFile`)",
            "use `tcp.send_buffer = 262144`",
        ),
    ),
    ("sslAcceptTimeOut", CONNECT_TIME),
    ("sslCAFile", TLS),
    ("sslCAPath", TLS),
    (
        "sslCipherList",
        either(
            "use minimum_version in the table [tls] of the file (`-ORBConfigFile`): only strong ciphers are there",
            "use `tls.minimum_version = \"1.3\"`: only strong ciphers are there",
        ),
    ),
    ("sslKeyFile", TLS),
    (
        "sslKeyPassword",
        either(
            "use key in the table [tls] of the file (`-ORBConfigFile`): a key that is not encrypted, in a file that only its user may read",
            "use `tls.key = \"server.key\"`: a key that is not encrypted, in a file that only its user may read",
        ),
    ),
    ("sslVerifyMode", VERIFY),
    ("strictIIOP", NEEDLESS),
    ("supportBootstrapAgent", NAME_SERVICE),
    ("supportCurrent", NEEDLESS),
    ("supportPerThreadTimeOut", NEEDLESS),
    ("tcAliasExpand", NEEDLESS),
    ("threadPerConnectionLowerLimit", STRATEGY),
    ("threadPerConnectionPolicy", STRATEGY),
    ("threadPerConnectionUpperLimit", STRATEGY),
    ("threadPoolWatchConnection", HAND_OVER),
    (
        "throwTransientOnTimeOut",
        both("leave it out, a call that takes too long fails with TIMEOUT, as the standard has it"),
    ),
    ("traceExceptions", TRACE),
    ("traceFile", TRACE),
    (
        "traceInvocationReturns",
        either("use `-ORBTrace giop`", "use `trace = \"giop\"`"),
    ),
    (
        "traceInvocations",
        either("use `-ORBTrace giop`", "use `trace = \"giop\"`"),
    ),
    ("traceLevel", TRACE),
    ("traceLocking", INTERNAL),
    ("traceThreadId", SUBSCRIBER),
    ("traceTime", SUBSCRIBER),
    (
        "unixTransportDirectory",
        either(
            "use `-ORBListenEndpoints uiop:///run/app/orb`, with the path of the socket",
            "use `listen = [\"uiop:///run/app/orb\"]`, with the path of the socket",
        ),
    ),
    (
        "unixTransportPermission",
        both("leave it out, the rights of the socket's folder decide who may connect"),
    ),
    ("useTypeCodeIndirections", NEEDLESS),
    (
        "validateUTF8",
        both("leave it out, texts are always checked"),
    ),
    ("verifyObjectExistsAndType", NEEDLESS),
];
