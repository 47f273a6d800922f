//! Settings whose value is one of a few words.

use super::bounds::Unit;
use super::given::Given;
use super::slot::{Form, Slot, quoted};
use crate::config::collocation::CollocationScope;
use crate::config::error::ConfigError;
use crate::config::real_time::{AboveHighest, Discipline, NativePolicy, RealTime, StandardMapping};
use crate::config::reply_handlers::ReplyHandlers;
use crate::policy::{Bidirectional, CharCodeSet, Collocation, Security, Wait, WhenFull};
use punctual_cdr::GiopVersion;
#[cfg(feature = "tls")]
use punctual_tls::{ClientCertificate, TlsVersion};

/// Type whose values are written as words in configurations.
pub(super) trait Words: Copy + PartialEq + 'static {
    /// List of all values of the type, each with its keyword.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the value that a keyword stands for.
    fn of_word(word: &str) -> Option<Self> {
        let found = Self::WORDS.iter().find(|(known, _)| *known == word);
        found.map(|&(_, value)| value)
    }

    /// Returns the keyword of this value.
    fn word(self) -> Option<&'static str> {
        let found = Self::WORDS.iter().find(|(_, value)| *value == self);
        found.map(|&(word, _)| word)
    }

    /// Returns all keywords of the type.
    fn words() -> Vec<&'static str> {
        Self::WORDS.iter().map(|&(word, _)| word).collect()
    }
}

macro_rules! words {
    ($type:ident: $($word:literal $value:ident),+) => {
        impl Words for $type {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$value)),+];
        }
    };
}

words!(Security: "require" Require, "prefer" Prefer, "off" Off);
words!(CharCodeSet: "utf-8" Utf8, "iso-8859-1" Iso8859_1);
words!(GiopVersion: "1.0" V1_0, "1.1" V1_1, "1.2" V1_2);
words!(Bidirectional: "normal" Normal, "both" Both);
words!(Wait: "read" Read, "reactor" Reactor, "leader_followers" LeaderFollowers);
words!(Collocation: "thru_poa" ThruPoa, "direct" Direct, "none" None);
words!(CollocationScope: "process" Process, "orb" Orb);
words!(ReplyHandlers: "thread" Thread, "run" Run, "reactor" Reactor, "callers" Callers);
words!(WhenFull: "flush" Flush, "block" Block, "raise" Raise);
words!(RealTime: "require" Require, "best_effort" BestEffort);
words!(NativePolicy: "SCHED_FIFO" Fifo, "SCHED_RR" RoundRobin, "SCHED_OTHER" Other);
words!(StandardMapping: "linear" Linear, "direct" Direct, "continuous" Continuous);
words!(AboveHighest: "cap" Cap, "refuse" Refuse);
words!(
    Discipline:
    "fixed_priority" FixedPriority, "earliest_deadline_first" EarliestDeadlineFirst
);
#[cfg(feature = "tls")]
words!(ClientCertificate: "none" None, "wanted" Wanted, "required" Required);
#[cfg(feature = "tls")]
words!(TlsVersion: "1.2" V1_2, "1.3" V1_3);

impl<T: Words> Slot for T {
    fn form(&self) -> Form {
        Form::Word(T::words())
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        *self = T::of_word(given.text()?).ok_or_else(|| given.misfit())?;
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        self.word().map(quoted)
    }
}

impl<T: Words> Slot for Option<T> {
    fn form(&self) -> Form {
        Form::Word(T::words())
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        let value = T::of_word(given.text()?).ok_or_else(|| given.misfit())?;
        *self = Some(value);
        Ok(())
    }

    fn shown(&self, unit: Unit) -> Option<String> {
        self.and_then(|value| value.shown(unit))
    }
}

impl Slot for Option<Vec<Discipline>> {
    fn form(&self) -> Form {
        Form::Texts("fixed_priority, earliest_deadline_first", ',')
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        let words = given.texts(',')?.into_iter();
        let values = words.map(|word| Discipline::of_word(word).ok_or_else(|| given.misfit()));
        *self = Some(values.collect::<Result<_, _>>()?);
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        None
    }
}
