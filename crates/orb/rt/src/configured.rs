//! Application of the ORB's Real-time CORBA configuration to a program's settings, and comparison
//! of the two.

use crate::config::{Propagated, RtConfig};
use crate::distributable::{DynamicScheduling, PropagatedReservations, ReservationLimit};
use crate::mapping::Mapping;
use punctual_orb::{
    ConfigError, DynamicSchedulingSettings, OrbConfig, RealTimeSettings, StandardMapping,
};
use std::mem::discriminant;

impl RtConfig {
    /// Overrides these settings with those among a program's arguments: the table `[real_time]` of
    /// the file that `-ORBConfigFile` names, and over that `-ORBRealTime`, `-ORBSchedPolicy`,
    /// `-ORBPriorityMapping`, `-ORBPropagated` and `-ORBLockMemory`. Pass the same arguments to the
    /// ORB: it removes its options from them, and does not start if the settings of its RTORB
    /// differ from the configured ones.
    ///
    /// ```no_run
    /// use punctual_orb::Orb;
    /// use punctual_rt::{RtConfig, RtOrb};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let config = RtConfig::default().configured(std::env::args())?;
    /// let (orb, arguments) = RtOrb::new(config)?.extend(Orb::builder())?.init(std::env::args())?;
    /// # let _ = (orb, arguments); Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of [`OrbConfig::apply_arguments`].
    pub fn configured(
        self,
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<Self, ConfigError> {
        let mut config = OrbConfig::default();
        config.apply_arguments(arguments)?;
        Ok(self.with(&config.real_time))
    }

    /// Overrides these settings with the ORB's configuration, where that has a value.
    #[must_use]
    pub fn with(mut self, settings: &RealTimeSettings) -> Self {
        let Propagated { highest, above } = self.propagated;
        self.real_time = settings.mode.unwrap_or(self.real_time);
        self.policy = settings.policy.unwrap_or(self.policy);
        self.mapping = settings.mapping.map_or(self.mapping, Mapping::from);
        self.propagated = Propagated {
            highest: settings.highest_propagated.unwrap_or(highest),
            above: settings.above_highest.unwrap_or(above),
        };
        if let Some(requests) = &settings.request_dscp {
            self.network.requests.clone_from(requests);
        }
        if let Some(replies) = &settings.reply_dscp {
            self.network.replies.clone_from(replies);
        }
        self.threads.processors = settings.processors.or(self.threads.processors);
        self.threads.prefault_stack = settings
            .prefault_stack
            .unwrap_or(self.threads.prefault_stack);
        self.lock_memory = settings.lock_memory.unwrap_or(self.lock_memory);
        if let Some(dynamic) = &settings.dynamic_scheduling {
            let own = self.dynamic_scheduling.unwrap_or_default();
            self.dynamic_scheduling = Some(own.with(dynamic));
        }
        self
    }

    /// Checks that the settings equal the configured ones.
    ///
    /// # Errors
    /// The settings that differ.
    pub(crate) fn check(&self, settings: &RealTimeSettings) -> Result<(), String> {
        let with = self.clone().with(settings);
        let is_as_told = [
            ("mode", self.real_time == with.real_time),
            ("policy", self.policy == with.policy),
            (
                "mapping",
                discriminant(&self.mapping) == discriminant(&with.mapping),
            ),
            (
                "highest_propagated",
                self.propagated.highest == with.propagated.highest,
            ),
            (
                "above_highest",
                self.propagated.above == with.propagated.above,
            ),
            (
                "request_dscp",
                self.network.requests == with.network.requests,
            ),
            ("reply_dscp", self.network.replies == with.network.replies),
            (
                "processors",
                self.threads.processors == with.threads.processors,
            ),
            (
                "prefault_stack",
                self.threads.prefault_stack == with.threads.prefault_stack,
            ),
            ("lock_memory", self.lock_memory == with.lock_memory),
            (
                "dynamic_scheduling",
                self.dynamic_scheduling == with.dynamic_scheduling,
            ),
        ];
        let others = is_as_told.iter().filter(|(_, is_so)| !is_so);
        let others: Vec<String> = others.map(|(key, _)| format!("`{key}`")).collect();
        match others.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "{} of its RTORB; `RtConfig::configured` applies the configuration",
                others.join(", ")
            )),
        }
    }
}

impl DynamicScheduling {
    /// Overrides these settings of dynamic scheduling with the ORB's configuration, where that has
    /// a value.
    fn with(mut self, settings: &DynamicSchedulingSettings) -> Self {
        if let Some(disciplines) = &settings.disciplines {
            self.disciplines.clone_from(disciplines);
        }
        if let Some((runtime, percent)) = settings.most_reserved {
            self.propagated = PropagatedReservations::UpTo {
                most: ReservationLimit { runtime, percent },
                above: settings.above_reservation.unwrap_or_default(),
            };
        }
        self
    }
}

impl From<StandardMapping> for Mapping {
    fn from(mapping: StandardMapping) -> Self {
        match mapping {
            StandardMapping::Direct => Self::Direct,
            StandardMapping::Linear => Self::Linear,
            StandardMapping::Continuous => Self::Continuous,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_exec::thread::Processors;
    use punctual_orb::{AboveHighest, Discipline, NativePolicy, Priority, RealTime};
    use std::time::Duration;

    const FILE: &str = "
        [real_time]
        mode = 'best_effort'
        policy = 'SCHED_RR'
        mapping = 'direct'
        highest_propagated = 20000
        above_highest = 'refuse'
        request_dscp = '0=CS0,20000=EF'
        reply_dscp = '100=AF21'
        processors = [0]
        prefault_stack = true
        lock_memory = true
        [real_time.dynamic_scheduling]
        disciplines = ['earliest_deadline_first']
        reservation_runtime_us = 5000
        reservation_percent = 20
        above_reservation = 'refuse'";

    fn configured(config: RtConfig, file: &str, options: &[&str]) -> Result<RtConfig, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orb.toml");
        std::fs::write(&path, file).unwrap();
        let arguments = ["program", "-ORBConfigFile", path.to_str().unwrap()];
        let arguments = arguments.iter().chain(options);
        let configured = config.configured(arguments.map(ToString::to_string));
        configured.map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_file_and_options_say_is_laid_over_what_the_program_says() {
        let program = RtConfig {
            mapping: Mapping::Continuous,
            lock_memory: true,
            ..RtConfig::default()
        };
        let all = configured(program.clone(), FILE, &[]).unwrap();
        assert_eq!(all.real_time, RealTime::BestEffort);
        assert_eq!(all.policy, NativePolicy::RoundRobin);
        assert!(matches!(all.mapping, Mapping::Direct));
        assert_eq!(all.propagated.highest.get(), 20_000);
        assert_eq!(all.propagated.above, AboveHighest::Refuse);
        let dscp = |text: &str| text.parse().unwrap();
        assert_eq!(all.network.requests, dscp("0=CS0,20000=EF"));
        assert_eq!(all.network.replies, dscp("100=AF21"));
        assert_eq!(all.threads.processors, Processors::of(&[0]).ok());
        assert!(all.threads.prefault_stack && all.lock_memory);
        let dynamic = all.dynamic_scheduling.unwrap();
        assert_eq!(dynamic.disciplines, [Discipline::EarliestDeadlineFirst]);
        let most = ReservationLimit {
            runtime: Duration::from_millis(5),
            percent: 20,
        };
        let above = AboveHighest::Refuse;
        assert_eq!(
            dynamic.propagated,
            PropagatedReservations::UpTo { most, above }
        );

        let options = ["-ORBSchedPolicy", "SCHED_OTHER", "-ORBLockMemory", "false"];
        let by_options = configured(program.clone(), "", &options).unwrap();
        assert_eq!(by_options.policy, NativePolicy::Other);
        assert!(!by_options.lock_memory && by_options.dynamic_scheduling.is_none());
        assert!(matches!(by_options.mapping, Mapping::Continuous));
        let over_the_file = ["-ORBPropagated", "7,cap", "-ORBPriorityMapping", "linear"];
        let both = configured(program, FILE, &over_the_file).unwrap();
        assert_eq!(both.propagated.highest.get(), 7);
        assert_eq!(both.propagated.above, AboveHighest::Cap);
        assert!(matches!(both.mapping, Mapping::Linear));
        assert_eq!(both.policy, NativePolicy::RoundRobin);
    }

    #[test]
    fn a_configuration_is_obeyed_where_nothing_is_otherwise() {
        let obeyed = configured(RtConfig::default(), FILE, &[]).unwrap();
        let mut config = OrbConfig::default();
        let options = ["-ORBSchedPolicy", "SCHED_RR", "-ORBPropagated", "20000"];
        config
            .apply_arguments(options.map(ToOwned::to_owned))
            .unwrap();
        let settings = &config.real_time;
        assert_eq!(obeyed.check(settings), Ok(()));
        assert_eq!(
            RtConfig::default().check(&RealTimeSettings::default()),
            Ok(())
        );
        let other = RtConfig {
            policy: NativePolicy::RoundRobin,
            ..RtConfig::default()
        };
        let error = other.check(settings).unwrap_err();
        assert!(error.starts_with("`highest_propagated` of"), "{error}");
        assert!(other.propagated.highest == Priority::MAX);
    }

    #[test]
    fn what_cannot_be_configured_is_refused_by_its_key() {
        for (table, key) in [
            ("mode = 'best-effort'", "real_time.mode"),
            ("policy = 'fifo'", "real_time.policy"),
            ("mapping = 'mine'", "real_time.mapping"),
            ("highest_propagated = 32768", "real_time.highest_propagated"),
            ("highest_propagated = -1", "real_time.highest_propagated"),
            ("above_highest = 'obey'", "real_time.above_highest"),
            ("request_dscp = '10=EF,5=CS1'", "real_time.request_dscp"),
            ("reply_dscp = 'EF'", "real_time.reply_dscp"),
            ("reply_dscp = 46", "real_time.reply_dscp"),
            ("processors = []", "real_time.processors"),
            ("processors = [100000]", "real_time.processors"),
            ("nice = 3", "real_time.nice"),
            (
                "dynamic_scheduling.disciplines = ['random']",
                "real_time.dynamic_scheduling.disciplines",
            ),
            (
                "dynamic_scheduling.reservation_percent = 20",
                "real_time.dynamic_scheduling.reservation_percent",
            ),
            (
                "dynamic_scheduling = { reservation_percent = 101, reservation_runtime_us = 1 }",
                "real_time.dynamic_scheduling.reservation_percent",
            ),
            (
                "dynamic_scheduling = { reservation_percent = 1, reservation_runtime_us = 0 }",
                "real_time.dynamic_scheduling.reservation_runtime_us",
            ),
            (
                "dynamic_scheduling.above_reservation = 'cap'",
                "real_time.dynamic_scheduling.above_reservation",
            ),
            (
                "dynamic_scheduling.period = 1",
                "real_time.dynamic_scheduling.period",
            ),
        ] {
            let file = format!("[real_time]\n{table}");
            let error = configured(RtConfig::default(), &file, &[]).unwrap_err();
            assert!(error.contains(&format!("`{key}`")), "{table}: {error}");
        }
        for (option, value) in [
            ("-ORBRealTime", "maybe"),
            ("-ORBSchedPolicy", "fifo"),
            ("-ORBPriorityMapping", ""),
            ("-ORBPropagated", "high"),
            ("-ORBPropagated", "7,obey"),
            ("-ORBPropagated", "40000"),
            ("-ORBLockMemory", "yes"),
        ] {
            let error = configured(RtConfig::default(), "", &[option, value]).unwrap_err();
            assert!(error.contains(option), "{error}");
        }
    }
}
