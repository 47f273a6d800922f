//! Sensor: its readings, its watchers, and the file that stores its readings.

use punctual::SystemExceptionKind::{BadParam, ObjectNotExist, PersistStore};
use punctual::prelude::*;
use punctual_example_telemetry::{
    Observer, OutOfRange, Plate, PlateState, Quality, Reading, Readings, SensorRecordError,
    SensorServant, SensorSetAlarmAboveError,
};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

/// Sensors of the plant: name, maker, unit, lowest and highest value.
pub(crate) const PLANT: [(&str, &str, &str, f64, f64); 3] = [
    ("boiler", "Kessel & Sons", "degC", -20.0, 180.0),
    ("pump", "Acme", "rpm", 0.0, 3600.0),
    ("tank", "Acme", "l", 0.0, 5000.0),
];

/// Sensor of the plant, with its name plate and its current state.
pub(crate) struct Sensor {
    name: &'static str,
    plate: Plate,
    state: Mutex<State>,
}

struct State {
    readings: Readings,
    alarm_above: f64,
    watchers: BTreeMap<u32, Observer>,
    file: File,
}

impl Sensor {
    /// Returns the sensor with the given name, with its state read from a file in `folder`.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST for a name that the plant does not have; PERSIST_STORE if the file cannot
    /// be read.
    pub(crate) fn remembered(name: &str, folder: &Path) -> Result<Self, SystemException> {
        let known = PLANT.iter().find(|(known, ..)| *known == name);
        let &(name, maker, unit, lowest, highest) =
            known.ok_or_else(|| ObjectNotExist.because(format!("unknown sensor `{name}`")))?;
        let path = folder.join(name);
        let unreadable = |error| PersistStore.because(format!("{}: {error}", path.display()));
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(&path);
        let file = file.map_err(unreadable)?;
        let mut readings = Readings::new();
        for line in BufReader::new(&file).lines() {
            let line = line.map_err(unreadable)?;
            // A line that a crash has cut off is no reading.
            if let Some((Ok(taken), Ok(value))) = line
                .split_once(' ')
                .map(|(taken, value)| (taken.parse(), value.parse()))
            {
                readings.push(reading(value, taken, &Any::default()));
            }
        }
        let plate = PlateState {
            maker: maker.into(),
            unit_of_measure: unit.into(),
            lowest,
            highest,
        };
        let state = State {
            readings,
            alarm_above: highest,
            watchers: BTreeMap::new(),
            file,
        };
        Ok(Self {
            name,
            plate: Plate::new(plate),
            state: Mutex::new(state),
        })
    }

    fn in_range(&self, value: f64) -> Result<(), OutOfRange> {
        let (lowest, highest) = (self.plate.lowest(), self.plate.highest());
        match (lowest..=highest).contains(&value) {
            true => Ok(()),
            false => Err(OutOfRange { lowest, highest }),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

fn reading(value: f64, taken: u64, detail: &Any) -> Reading {
    Reading {
        value,
        how_good: Quality::Good,
        taken,
        detail: detail.clone(),
    }
}

impl SensorServant for Sensor {
    fn name(&self) -> Result<String, SystemException> {
        Ok(self.name.into())
    }

    fn nameplate(&self) -> Result<Plate, SystemException> {
        Ok(self.plate.clone())
    }

    fn alarm_above(&self) -> Result<f64, SystemException> {
        Ok(self.state().alarm_above)
    }

    fn set_alarm_above(&self, value: f64) -> Result<(), SensorSetAlarmAboveError> {
        self.in_range(value)?;
        self.state().alarm_above = value;
        Ok(())
    }

    fn read(&self) -> Result<Reading, SystemException> {
        let last = self.state().readings.last().cloned();
        last.ok_or_else(|| ObjectNotExist.because("nothing was measured yet"))
    }

    fn history(&self, at_most: u32) -> Result<Readings, SystemException> {
        let state = self.state();
        let from = state.readings.len().saturating_sub(at_most as usize);
        Ok(state.readings[from..].to_vec())
    }

    fn record(&self, value: f64, detail: &Any) -> Result<(), SensorRecordError> {
        self.in_range(value)?;
        if !detail.is_null() {
            // Calibration is the only detail that this plant knows.
            let calibrated: bool = detail.extract()?;
            if !calibrated {
                Err(BadParam.because("a sensor that is not calibrated records nothing"))?;
            }
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let taken = now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
        let now = reading(value, taken, detail);
        let mut state = self.state();
        writeln!(state.file, "{taken} {value}")
            .map_err(|error| PersistStore.because(error.to_string()))?;
        state.readings.push(now.clone());
        let watchers = state.watchers.clone();
        let tells = value > state.alarm_above;
        drop(state);
        if tells {
            for (ticket, watcher) in watchers {
                // A watcher that cannot be reached gets no further notifications.
                if watcher.changed(self.name, &now).is_err() {
                    self.state().watchers.remove(&ticket);
                }
            }
        }
        Ok(())
    }

    fn watch(&self, by: &Observer) -> Result<u32, SystemException> {
        let mut state = self.state();
        let ticket = state.watchers.keys().last().map_or(1, |last| last + 1);
        state.watchers.insert(ticket, by.clone());
        Ok(ticket)
    }

    fn unwatch(&self, ticket: u32) -> Result<(), SystemException> {
        let gone = self.state().watchers.remove(&ticket);
        gone.map(drop)
            .ok_or_else(|| BadParam.because("unknown ticket"))
    }
}
