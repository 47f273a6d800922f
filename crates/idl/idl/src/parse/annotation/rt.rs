//! `@rt(wcet = "200us", period = "33ms", criticality = high)`: timing of an operation.

use crate::lexer::{Kind, Token};
use crate::model::{
    Annotation, AnnotationArgument, AnnotationValue, ConstValue, DeclKind, RtInfo, RtLevel, RtValue,
};
use crate::names;
use crate::parse::Parser;
use crate::session::Checked;
use crate::source::{Location, Place};
use crate::time;

use super::parameter::ArgumentPlace;

/// Name of the annotation.
pub(super) const NAME: &str = "rt";

/// Keys, in the order in which messages list them.
const KEYS: [&str; 10] = [
    "wcet",
    "typical",
    "cached",
    "period",
    "deadline",
    "offset",
    "jitter",
    "criticality",
    "importance",
    "threads",
];

/// Returns whether an annotation that no definition explains is this one.
pub(super) fn is_rt(name: &str) -> bool {
    name.strip_prefix("::").unwrap_or(name) == NAME
}

/// Place of a value in the timing, by its type.
enum Slot<'i> {
    Time(&'i mut Option<RtValue<u64>>),
    Level(&'i mut Option<RtValue<RtLevel>>),
    Count(&'i mut Option<RtValue<u32>>),
}

impl Slot<'_> {
    fn of<'i>(info: &'i mut RtInfo, key: &str) -> Option<Slot<'i>> {
        Some(match key {
            "wcet" => Slot::Time(&mut info.wcet),
            "typical" => Slot::Time(&mut info.typical),
            "cached" => Slot::Time(&mut info.cached),
            "period" => Slot::Time(&mut info.period),
            "deadline" => Slot::Time(&mut info.deadline),
            "offset" => Slot::Time(&mut info.offset),
            "jitter" => Slot::Time(&mut info.jitter),
            "criticality" => Slot::Level(&mut info.criticality),
            "importance" => Slot::Level(&mut info.importance),
            "threads" => Slot::Count(&mut info.threads),
            _ => return None,
        })
    }

    /// Returns the position of the value that is there already.
    fn filled(&self) -> Option<Place> {
        let location = match self {
            Slot::Time(slot) => slot.as_ref().map(|value| &value.location),
            Slot::Level(slot) => slot.as_ref().map(|value| &value.location),
            Slot::Count(slot) => slot.as_ref().map(|value| &value.location),
        };
        location.map(Place::from)
    }
}

impl Parser<'_> {
    /// Checks the arguments of `@rt`, and keeps them for the operation that follows.
    pub(super) fn check_timing(&mut self, annotation: &Annotation, places: &[ArgumentPlace]) {
        let mut info = RtInfo::new(annotation.location.clone());
        for (argument, at) in annotation.arguments.iter().zip(places) {
            // A fault was reported; the others are checked all the same.
            let _ = self.timing_argument(&mut info, argument, *at);
        }
        self.check_times(&info);
        self.timings.push(info);
    }

    /// Returns the timing that annotations give to the operation or attribute that they precede.
    pub(in crate::parse) fn timing(&mut self, annotations: &[Annotation]) -> Option<Box<RtInfo>> {
        let part = self.part()?;
        if self.timings.is_empty() || !matches!(self.spec[part].kind, DeclKind::Interface(_)) {
            return None;
        }
        let mine = |info: &mut RtInfo| annotations.iter().any(|one| one.location == info.location);
        let mut found = self.timings.extract_if(.., mine).collect::<Vec<_>>();
        if let [first, .., last] = found.as_slice() {
            let place = Place::from(&last.location);
            let message = "an operation has one `@rt`";
            let fault = self.session.error_at(place, message, "again here");
            let fault = self
                .session
                .and(fault, Place::from(&first.location), "first here");
            self.session
                .report(fault.with_help("write all in one: `@rt(wcet = …, period = …)`"));
        }
        found.pop().map(Box::new)
    }

    /// Reports each `@rt` that no operation has taken. If there are other errors, an operation may
    /// not have been read because of them.
    pub(in crate::parse) fn report_misplaced_timings(&mut self) {
        if self.session.has_errors() {
            return;
        }
        for info in std::mem::take(&mut self.timings) {
            let message = "`@rt` is for operations and attributes of interfaces";
            let help = "write it directly before each operation that it is about";
            let place = Place::from(&info.location);
            self.error_with_help(place, message, "not before one", help);
        }
    }

    /// Checks that a number has no unit of time, as a time stands in quotes.
    pub(super) fn check_is_no_bare_time(&mut self, token: Token) -> Checked<()> {
        let text = self.text(token);
        if token.kind != Kind::Number || time::nanoseconds(&text).is_err() {
            return Ok(());
        }
        let help = format!("write `\"{text}\"`");
        Err(self.error_with_help(token.place, "a time stands in quotes", "no quotes", help))
    }

    fn timing_argument(
        &mut self,
        info: &mut RtInfo,
        argument: &AnnotationArgument,
        at: ArgumentPlace,
    ) -> Checked<()> {
        let Some(key) = &argument.name else {
            let message = "`@rt` takes its arguments by name";
            let help = "write `@rt(wcet = \"200us\", period = \"33ms\")`";
            return Err(self.error_with_help(at.value, message, "of which key?", help));
        };
        let Some(slot) = Slot::of(info, key) else {
            let help = match names::nearest(key, KEYS.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", KEYS.join(", ")),
            };
            let message = format!("`@rt` has no key `{key}`");
            return Err(self.error_with_help(at.name, message, "not found", help));
        };
        if let Some(first) = slot.filled() {
            let message = format!("`@rt` has the key `{key}` twice");
            let fault = self.session.error_at(at.name, message, "again here");
            let fault = self.session.and(fault, first, "first here");
            return Err(self.session.report(fault));
        }
        let location = self.session.location(at.value);
        match slot {
            Slot::Time(slot) => {
                *slot = Some(self.time(key, &argument.value, at.value, location)?)
            }
            Slot::Level(slot) => {
                let value = self.level(key, &argument.value, at.value)?;
                *slot = Some(RtValue { value, location });
            }
            Slot::Count(slot) => {
                let value = self.count(key, &argument.value, at.value)?;
                *slot = Some(RtValue { value, location });
            }
        }
        Ok(())
    }

    fn time(
        &mut self,
        key: &str,
        value: &AnnotationValue,
        place: Place,
        location: Location,
    ) -> Checked<RtValue<u64>> {
        let text = match value {
            AnnotationValue::Const(ConstValue::String(text)) => text.clone(),
            AnnotationValue::Const(ConstValue::Integer(number)) => number.to_string(),
            _ => {
                let message = format!("`{key}` is a time in quotes, a number and a unit");
                let help = "write it as in \"200us\" or \"1.5ms\"";
                return Err(self.error_with_help(place, message, "not a time", help));
            }
        };
        let value = match time::nanoseconds(&text) {
            Ok(value) => value,
            Err(reason) => return Err(self.error(place, reason.to_string(), "not a time")),
        };
        if value == 0 && matches!(key, "wcet" | "period" | "deadline") {
            let message = format!("`{key}` is above zero");
            return Err(self.error(place, message, "zero"));
        }
        Ok(RtValue { value, location })
    }

    fn level(&mut self, key: &str, value: &AnnotationValue, place: Place) -> Checked<RtLevel> {
        let word = match value {
            AnnotationValue::Name(name) => name.clone(),
            AnnotationValue::Const(ConstValue::String(text)) => text.clone(),
            // The file has a constant of that name.
            AnnotationValue::Const(_) => self.session.excerpt(place).to_owned(),
        };
        RtLevel::of(&word).ok_or_else(|| {
            let message = format!("there is no {key} `{word}`");
            let help = "there are very_low, low, medium, high, very_high";
            self.error_with_help(place, message, "not found", help)
        })
    }

    fn count(&mut self, key: &str, value: &AnnotationValue, place: Place) -> Checked<u32> {
        let number = match value {
            AnnotationValue::Const(ConstValue::Integer(number)) => u32::try_from(*number).ok(),
            _ => None,
        };
        number.ok_or_else(|| {
            let message = format!("`{key}` is a whole number from 0 to {}", u32::MAX);
            self.error(place, message, "not such a number")
        })
    }

    /// Checks the times against one another.
    fn check_times(&mut self, info: &RtInfo) {
        let Some(wcet) = &info.wcet else { return };
        let (end, what) = match (&info.deadline, &info.period) {
            (Some(deadline), _) => (Some(deadline), "deadline"),
            (None, period) => (period.as_ref(), "period"),
        };
        if let Some(end) = end.filter(|end| end.value < wcet.value) {
            let message = format!("the worst-case execution time is longer than the {what}");
            let fault = self.session.error_at(
                Place::from(&wcet.location),
                message,
                format!("longer than the {what}"),
            );
            let fault = self.session.and(fault, Place::from(&end.location), what);
            self.session.report(fault);
        }
        for (time, what) in [(&info.typical, "typical"), (&info.cached, "cached")] {
            let Some(time) = time.as_ref().filter(|time| time.value > wcet.value) else {
                continue;
            };
            let message = format!("`{what}` is longer than the worst-case execution time");
            let place = Place::from(&time.location);
            let fault = self.session.error_at(place, message, "longer than `wcet`");
            let fault = self
                .session
                .and(fault, Place::from(&wcet.location), "`wcet`");
            self.session.report(fault);
        }
    }
}
