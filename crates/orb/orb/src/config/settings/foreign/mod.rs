//! Options of omniORB and TAO that have another name here or no counterpart, for errors that name what to use instead.

mod instead;
mod omniorb;
mod tao;

use instead::Instead;

/// Option of another ORB. Those with the same name and meaning here are not among them.
struct ForeignOption {
    /// Names of the other ORBs that have the option.
    orb: &'static str,
    instead: Instead,
}

/// Returns the ORBs that have an option, and the command-line option that replaces it, or why there is none.
pub(super) fn on_command_line(name: &str) -> Option<(&'static str, &'static str)> {
    ForeignOption::find(name).map(|found| (found.orb, found.instead.option))
}

/// Returns the ORBs that have an option, and the key of the configuration file that replaces it, or why there is none.
#[cfg(feature = "config-files")]
pub(super) fn in_file(name: &str) -> Option<(&'static str, &'static str)> {
    ForeignOption::find(name).map(|found| (found.orb, found.instead.key))
}

impl ForeignOption {
    /// Finds an option by its name, in whatever case: with `-ORB`, or without as in `omniORB.cfg`.
    fn find(name: &str) -> Option<Self> {
        let wanted = name.strip_prefix("-ORB").unwrap_or(name);
        let of = |table: &[(&'static str, Instead)]| {
            let found = table
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, instead)| *instead)
        };
        let (orb, instead) = match (of(omniorb::OPTIONS), of(tao::OPTIONS)) {
            (Some(instead), Some(_)) => ("omniORB and TAO", instead),
            (Some(instead), None) => ("omniORB", instead),
            (None, Some(instead)) => ("TAO", instead),
            (None, None) => return None,
        };
        Some(Self { orb, instead })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::OrbConfig;
    use std::io::Write;

    fn all() -> impl Iterator<Item = (&'static str, Instead)> {
        omniorb::OPTIONS.iter().chain(tao::OPTIONS).copied()
    }

    /// Returns the parts of a text that are within backquotes.
    fn quoted(text: &str) -> impl Iterator<Item = &str> {
        text.split('`').skip(1).step_by(2)
    }

    #[test]
    fn options_that_errors_name_exist() {
        for (name, instead) in all() {
            for word in instead.option.split(['`', ' ', ')', '(']) {
                let is_known = OrbConfig::options().any(|(name, _, _)| name == word);
                assert!(is_known || !word.starts_with("-ORB"), "{name}: {word}");
            }
            let own = format!("-ORB{name}");
            assert!(
                !OrbConfig::options().any(|(name, _, _)| name == own),
                "{name}"
            );
        }
    }

    #[test]
    #[cfg(feature = "tls")]
    fn lines_that_errors_show_for_a_file_are_accepted_in_one() {
        let mut lines = 0;
        for (name, instead) in all() {
            assert!(!instead.key.contains("-ORB"), "{name}: {}", instead.key);
            for line in quoted(instead.key).filter(|part| part.contains(" = ")) {
                let mut file = tempfile::NamedTempFile::new().unwrap();
                file.write_all(line.as_bytes()).unwrap();
                let read = OrbConfig::default().apply_file(file.path());
                read.unwrap_or_else(|error| panic!("{name}: {line}: {error}"));
                lines += 1;
            }
        }
        assert!(lines > 20, "{lines}");
    }

    #[test]
    fn an_option_stands_once_in_its_table() {
        for table in [omniorb::OPTIONS, tao::OPTIONS] {
            for (index, (name, _)) in table.iter().enumerate() {
                let others = &table[..index];
                assert!(
                    !others
                        .iter()
                        .any(|(other, _)| other.eq_ignore_ascii_case(name)),
                    "{name}"
                );
            }
        }
    }

    /// The options that `-ORBhelp` of omniORB 4.2 lists, and those of its TLS, except `DefaultInitRef` and `InitRef`.
    const OMNIORB_HELP: &str = "abortOnInternalError abortOnNativeException acceptBiDirectionalGIOP \
        acceptMisalignedTcIndirections bootstrapAgentHostname bootstrapAgentPort clientCallTimeOutPeriod \
        clientConnectTimeOutPeriod clientTransportRule configFile connectionWatchImmediate connectionWatchPeriod \
        copyValuesInLocalCalls defaultCharCodeSet defaultWCharCodeSet diiThrowsSysExceptions dumpConfiguration endPoint \
        endPointNoListen endPointNoPublish endPointPublish endPointPublishAllIFs giopMaxMsgSize giopTargetAddressMode \
        help id idleThreadTimeout immediateAddressSwitch inConScanPeriod lcdMode listenBacklog maxClientThreadPoolSize \
        maxGIOPConnectionPerServer maxGIOPVersion maxInterleavedCallsPerConnection maxServerThreadPerConnection \
        maxServerThreadPoolSize maxSocketRecv maxSocketSend nativeCharCodeSet nativeWCharCodeSet objectTableSize \
        offerBiDirectionalGIOP oneCallPerConnection outConScanPeriod poaHoldRequestTimeout \
        poaUniquePersistentSystemIds principal resetTimeOutOnRetries resolveNamesForTransportRules retainAddressOrder \
        scanGranularity serverCallTimeOutPeriod serverTransportRule socketSendBuffer strictIIOP supportBootstrapAgent \
        supportCurrent supportPerThreadTimeOut tcAliasExpand threadPerConnectionLowerLimit threadPerConnectionPolicy \
        threadPerConnectionUpperLimit threadPoolWatchConnection throwTransientOnTimeOut traceExceptions traceFile \
        traceInvocationReturns traceInvocations traceLevel traceLocking traceThreadId traceTime unixTransportDirectory \
        unixTransportPermission useTypeCodeIndirections validateUTF8 verifyObjectExistsAndType sslCAFile sslCAPath \
        sslKeyFile sslKeyPassword sslVerifyMode sslCipherList";

    #[test]
    fn every_option_of_omniorb_has_a_hint() {
        for name in OMNIORB_HELP.split_whitespace() {
            let found = ForeignOption::find(&format!("-ORB{name}"));
            assert!(
                found.is_some_and(|found| found.orb.starts_with("omniORB")),
                "{name}"
            );
        }
    }
}
