//! Options of omniORB and TAO that have another name here, for errors that name it.

/// Option of another ORB.
pub(super) struct ForeignOption {
    pub(super) name: &'static str,
    /// ORBs that have it.
    pub(super) orb: &'static str,
    /// Punctual's option or key with the same effect, or the reason why there is none.
    pub(super) instead: &'static str,
}

impl ForeignOption {
    /// Finds an option by its name, in whatever case: with `-ORB`, or without as in `omniORB.cfg`.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        let without = |name: &str| {
            name.strip_prefix("-ORB")
                .unwrap_or(name)
                .to_ascii_lowercase()
        };
        let wanted = without(name);
        FOREIGN.iter().find(|one| without(one.name) == wanted)
    }
}

const fn omni(name: &'static str, instead: &'static str) -> ForeignOption {
    let orb = "omniORB";
    ForeignOption { name, orb, instead }
}

const fn tao(name: &'static str, instead: &'static str) -> ForeignOption {
    let orb = "TAO";
    ForeignOption { name, orb, instead }
}

const LISTEN: &str = "use `-ORBListenEndpoints iiop://host:port`";
const IN_TLS: &str = "use the table [tls] of the file (`-ORBConfigFile`)";
const IN_TCP: &str = "use the table [tcp] of the file (`-ORBConfigFile`)";
const IN_FILE: &str = "use the file (`-ORBConfigFile`), in TOML: `punctual config` prints one";
const TRACE: &str = "use `-ORBTrace giop` for messages, and a subscriber of `tracing` for the log";
const CONNECTIONS: &str =
    "use client_connections and max_connections of the file (`-ORBConfigFile`)";
const COLLOCATION: &str = "use `-ORBCollocation thru_poa`, `direct` or `none`";
const SCOPE: &str = "use `-ORBCollocationScope process` or `orb`, or `-ORBCollocation none`";
const BIDIRECTIONAL: &str = "use `-ORBBidirectional both`, on both sides";
const PROTOCOLS: &str = "use `-ORBClientProtocols uiop,iiop`; rules by address are not there";
const POOL: &str = "use `-ORBConcurrency leader_followers,max_threads=16`";
const NEEDLESS: &str = "leave it out, nothing here depends on it";

/// Options that have the same name and meaning here are not among these.
static FOREIGN: [ForeignOption; 58] = [
    ForeignOption {
        name: "-ORBendPoint",
        orb: "omniORB and TAO",
        instead: LISTEN,
    },
    omni(
        "-ORBendPointNoListen",
        "use `hostname_in_ior` and `port_in_ior`, options of an endpoint",
    ),
    omni(
        "-ORBendPointPublish",
        "use `hostname_in_ior` and `port_in_ior`, options of an endpoint",
    ),
    omni("-ORBconfigFile", IN_FILE),
    omni("-ORBtraceLevel", TRACE),
    omni("-ORBtraceInvocations", "use `-ORBTrace giop`"),
    omni("-ORBtraceInvocationReturns", "use `-ORBTrace giop`"),
    omni("-ORBtraceExceptions", TRACE),
    omni("-ORBtraceFile", TRACE),
    omni("-ORBclientTransportRule", PROTOCOLS),
    omni(
        "-ORBserverTransportRule",
        "use `-ORBListenEndpoints` with the interface that is meant",
    ),
    omni(
        "-ORBclientCallTimeOutPeriod",
        "use `-ORBCallTimeout`, in milliseconds",
    ),
    omni(
        "-ORBclientConnectTimeOutPeriod",
        "use `-ORBConnectTimeout`, in milliseconds",
    ),
    omni("-ORBsupportPerThreadTimeOut", NEEDLESS),
    omni(
        "-ORBinConScanPeriod",
        "use idle_ms in the table [timeouts] of the file (`-ORBConfigFile`)",
    ),
    omni("-ORBoutConScanPeriod", CONNECTIONS),
    omni(
        "-ORBmaxGIOPConnectionPerServer",
        "use connections_per_endpoint of the file (`-ORBConfigFile`)",
    ),
    omni(
        "-ORBoneCallPerConnection",
        "use the policy `Mux::Exclusive`",
    ),
    omni("-ORBmaxGIOPVersion", "use `-ORBGIOPVersion 1.2`"),
    omni("-ORBgiopMaxMsgSize", "use `-ORBMaxMessageSize`, in bytes"),
    omni(
        "-ORBnativeWCharCodeSet",
        "leave it out, wide text is UTF-16",
    ),
    ForeignOption {
        name: "-ORBnativeCharCodeSet",
        orb: "omniORB and TAO",
        instead: "use `-ORBCharCodeSet utf-8` or `iso-8859-1`",
    },
    omni(
        "-ORBthreadPerConnectionPolicy",
        "use `-ORBConcurrency thread_per_connection` or `leader_followers`",
    ),
    omni("-ORBmaxServerThreadPoolSize", POOL),
    omni("-ORBmaxServerThreadPerConnection", POOL),
    omni("-ORBofferBiDirectionalGIOP", BIDIRECTIONAL),
    omni("-ORBacceptBiDirectionalGIOP", BIDIRECTIONAL),
    omni("-ORBsslCAFile", IN_TLS),
    omni("-ORBsslKeyFile", IN_TLS),
    omni("-ORBsslVerifyMode", IN_TLS),
    omni("-ORBstrictIIOP", NEEDLESS),
    omni("-ORBlcdMode", NEEDLESS),
    omni("-ORBverifyObjectExistsAndType", NEEDLESS),
    omni("-ORBabortOnInternalError", NEEDLESS),
    tao("-ORBSvcConf", IN_FILE),
    tao("-ORBSvcConfDirective", IN_FILE),
    tao("-ORBSkipServiceConfigOpen", NEEDLESS),
    tao("-ORBDebugLevel", TRACE),
    tao("-ORBLogFile", TRACE),
    tao("-ORBVerboseLogging", TRACE),
    tao("-ORBId", "use `OrbBuilder::orb_id`"),
    tao("-ORBServerId", "use `OrbBuilder::server_id`"),
    tao("-ORBCollocationStrategy", COLLOCATION),
    tao("-ORBUseSharedProfile", SCOPE),
    tao(
        "-ORBDottedDecimalAddresses",
        "leave it out, references have addresses unless `hostname_in_ior` gives a name",
    ),
    tao("-ORBNodelay", IN_TCP),
    tao("-ORBKeepalive", IN_TCP),
    tao("-ORBSndSock", IN_TCP),
    tao("-ORBRcvSock", IN_TCP),
    tao("-ORBStdProfileComponents", NEEDLESS),
    tao("-ORBNegotiateCodesets", NEEDLESS),
    tao("-ORBObjRefStyle", NEEDLESS),
    tao("-ORBConnectionCacheMax", CONNECTIONS),
    tao(
        "-ORBReactorType",
        "use `-ORBConcurrency reactive` or `leader_followers`",
    ),
    tao(
        "-ORBProtocolFactory",
        "leave it out, all protocols are there; `-ORBLibrary` loads another one",
    ),
    tao("-ORBNameServiceIOR", "use `-ORBInitRef NameService=IOR:…`"),
    tao(
        "-ORBMulticastDiscoveryEndpoint",
        "use `-ORBInitRef NameService=corbaloc::host:2809/NameService`",
    ),
    tao("-ORBDefaultSyncScope", "use `Policy::SyncScope`"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::OrbConfig;

    #[test]
    fn options_that_errors_name_exist() {
        for one in &FOREIGN {
            for word in one.instead.split(['`', ' ', ')', '(']) {
                let is_known = OrbConfig::options().any(|(name, _, _)| name == word);
                assert!(
                    is_known || !word.starts_with("-ORB"),
                    "{}: {word}",
                    one.name
                );
            }
            assert!(
                !OrbConfig::options().any(|(name, _, _)| name == one.name),
                "{}",
                one.name
            );
        }
    }
}
