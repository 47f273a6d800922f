//! The choice of members, loads, and what follows from them.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use punctual::asynchronous::PendingReply;
use punctual::{ObjectRef, SystemExceptionKind as Kind, about_to_block};
use punctual_groups::{Choice, Chosen};
use punctual_groups_client::{cos_load_balancing as lb, key_for_one};

use super::Engine;
use crate::bounded::bounded;
use crate::forward::{Route, Routes, unknown};
use crate::limits::MOST_LOADS;
use crate::names::Key;
use crate::refusal::{Refusal, Refused};
use crate::state::{Alert, Due, Group, State};
use crate::strategy::Strategy;

/// Number of call times for which a strategy of a user's is not asked after it has failed.
const BYPASS: u32 = 5;

/// What follows from loads.
#[derive(Default)]
struct Noted {
    /// Locations with whether they are to shed load, if that has changed.
    alerts: Vec<(Key, bool)>,
    /// Groups whose strategies of users are to analyse the loads.
    custom: Vec<(u64, Arc<Group>, lb::Strategy)>,
}

impl Routes for Engine {
    /// Blocks if the group has a strategy of a user's.
    fn route(&self, id: u64) -> Route {
        if let Err(exception) = self.check_right() {
            return Route::Refused(exception);
        }
        let Ok(group) = self.group(id) else {
            return Route::Refused(unknown());
        };
        let route = match group.is_passive() {
            true => self.with(|state| {
                let primary = group.primary.as_ref();
                let primary = primary.filter(|key| state.lives(id, key, Instant::now()));
                match primary.and_then(|key| group.members.get(key)) {
                    Some(member) => Route::To(member.reference.clone()),
                    None if group.members.is_empty() => no_member(),
                    None => Route::Later,
                }
            }),
            false => match self.chosen(id, &group) {
                Route::To(member) if group.is_balanced && group.settings.is_per_request => {
                    Route::To(self.for_one(member, &group.type_id))
                }
                route => route,
            },
        };
        self.with(|state| match route {
            Route::To(_) => state.counts.forwards += 1,
            Route::Later => {}
            Route::Refused(_) => state.counts.refusals += 1,
        });
        route
    }

    fn wait_time(&self) -> Duration {
        self.with(|state| state.limits.wait)
    }

    fn keep(&self, id: u64, pending: PendingReply) -> Option<PendingReply> {
        self.with(|state| {
            let is_vacant = state.is_vacant(id) && !state.is_ending;
            let most = state.limits.waiting;
            let waiting = state.waiting.entry(id).or_default();
            waiting.retain(PendingReply::is_awaited);
            if !is_vacant || waiting.len() >= most {
                return Some(pending);
            }
            waiting.push(pending);
            None
        })
    }
}

impl Engine {
    /// Returns the reference by which a member serves one request.
    fn for_one(&self, member: ObjectRef, type_id: &str) -> ObjectRef {
        // Relaxed: only that it is another number matters.
        let number = self.0.numbers.fetch_add(1, Ordering::Relaxed);
        let key = member.object_key().map(|key| key_for_one(&key, number));
        let for_one = key.and_then(|key| member.with_object_key(&key, type_id).ok());
        for_one.unwrap_or(member)
    }

    fn chosen(&self, id: u64, group: &Group) -> Route {
        if let Strategy::Custom(strategy) = &group.settings.strategy
            && group.is_balanced
            && let Some(object) = self.asked(id, group, strategy)
        {
            return Route::To(object);
        }
        let choice = match group.is_balanced {
            true => group.settings.strategy.choice(),
            false => Choice::RoundRobin,
        };
        self.with(|state| {
            let members = state.eligible(id, group, Instant::now());
            let Some(Chosen::One(member)) = self.0.knowledge.choose(id, &members, choice) else {
                return no_member();
            };
            let key = group
                .members
                .iter()
                .find(|(_, one)| one.token == member.token);
            if let Some((key, _)) = key
                && let Some(live) = state.live_mut(id, key)
            {
                live.chosen += 1;
                let more = group.settings.strategy.smoothing().per_balance;
                if let Some(load) = live.load.as_mut().filter(|_| more > 0.0) {
                    *load += more;
                    self.0
                        .knowledge
                        .note_load(id, &members, key, f64::from(*load));
                }
            }
            Route::To(member.reference.clone())
        })
    }

    /// Asks a strategy of a user's; `None` if it fails, or returns what is no member.
    fn asked(&self, id: u64, group: &Group, strategy: &lb::Strategy) -> Option<ObjectRef> {
        let now = Instant::now();
        let (is_bypassed, call) = self.with(|state| {
            let until = state.bypassed.get(&id);
            (until.is_some_and(|until| now < *until), state.limits.call)
        });
        if is_bypassed {
            return None;
        }
        let _ = about_to_block();
        let reference = self.reference(id, group).ok();
        let strategy: lb::Strategy = bounded(strategy, call);
        let next = strategy.next_member(reference.as_ref(), self.0.balancing.get());
        let why = match next {
            Ok(Some(object)) => {
                let found = group
                    .members
                    .iter()
                    .find(|(_, member)| member.reference.is_equivalent(&object));
                if let Some((key, member)) = found {
                    self.with(|state| {
                        if let Some(live) = state.live_mut(id, key) {
                            live.chosen += 1;
                        }
                    });
                    return Some(member.reference.clone());
                }
                "it returns what is no member".to_owned()
            }
            Ok(None) => "it returns nil".to_owned(),
            Err(error) => error.to_string(),
        };
        tracing::warn!(
            "group {id}: its strategy fails, and members have their turns for a while: {why}"
        );
        self.with(|state| state.bypassed.insert(id, Instant::now() + call * BYPASS));
        None
    }

    /// Notes the loads of a location.
    ///
    /// # Errors
    /// BAD_PARAM for loads that are none; IMP_LIMIT.
    pub(crate) fn push_loads(&self, key: &Key, loads: &[lb::Load]) -> Refused<()> {
        let first = loads.first().map(|load| load.value);
        let first = first.ok_or_else(|| Refusal::bad_parameter("there is no load"))?;
        let is_valid = |load: &lb::Load| load.value.is_finite() && load.value >= 0.0;
        if loads.len() > MOST_LOADS || !loads.iter().all(is_valid) {
            return Err(Refusal::bad_parameter(
                "a load is a number from 0 on, and there are few of them",
            ));
        }
        let noted = self.with(|state| {
            if !state.loads.contains_key(key) && state.loads.len() >= state.limits.locations {
                state.forget_loads();
                if state.loads.len() >= state.limits.locations {
                    return Err(Refusal::limit("locations"));
                }
            }
            state.loads.insert(key.clone(), loads.to_vec());
            let mut noted = Noted::default();
            for id in state.at(key) {
                self.note_load(state, id, key, first, &mut noted);
            }
            Ok(noted)
        })?;
        self.follow_up(noted);
        Ok(())
    }

    /// Notes the load of a member in one group only.
    ///
    /// # Errors
    /// BAD_PARAM for a load that is none; ObjectGroupNotFound, MemberNotFound.
    pub(crate) fn report(&self, id: u64, key: &Key, load: f32) -> Refused<()> {
        if !(load.is_finite() && load >= 0.0) {
            return Err(Refusal::bad_parameter("a load is a number from 0 on"));
        }
        self.check_right()?;
        self.group(id)?;
        let noted = self.with(|state| {
            let mut noted = Noted::default();
            let is_member = self.note_load(state, id, key, load, &mut noted);
            is_member.then_some(noted)
        });
        self.follow_up(noted.ok_or_else(Refusal::no_member)?);
        Ok(())
    }

    /// Notes a load of a member, and what follows from it. Returns whether there is such a member.
    fn note_load(
        &self,
        state: &mut State,
        id: u64,
        key: &Key,
        load: f32,
        noted: &mut Noted,
    ) -> bool {
        let Some(group) = state.groups.get(&id).cloned() else {
            return false;
        };
        let strategy = &group.settings.strategy;
        let Some(live) = state.live_mut(id, key) else {
            return false;
        };
        let load = strategy.smoothing().effective(live.load, load);
        live.load = Some(load);
        state.revisions.touch(id);
        let members = state.eligible(id, &group, Instant::now());
        self.0
            .knowledge
            .note_load(id, &members, key, f64::from(load));
        match strategy {
            Strategy::Custom(strategy) => {
                noted.custom.push((id, group.clone(), strategy.clone()));
            }
            strategy => noted.alerts.extend(analysed(state, id, &group, strategy)),
        }
        true
    }

    /// Tells alerts and strategies of users what has followed from loads.
    fn follow_up(&self, noted: Noted) {
        for (key, is_over) in noted.alerts {
            // A location without an alert sheds no load.
            let _ = self.set_alert(&key, is_over);
        }
        for (id, group, strategy) in noted.custom {
            let is_first = self.with(|state| state.asked.insert(format!("strategy {id}").into()));
            if is_first {
                self.call(move |engine| engine.have_analysed(id, &group, &strategy));
            }
        }
    }

    /// Calls a strategy of a user's to analyse the loads of a group.
    fn have_analysed(&self, id: u64, group: &Group, strategy: &lb::Strategy) {
        let call = self.with(|state| state.limits.call);
        let strategy: lb::Strategy = bounded(strategy, call);
        let reference = self.reference(id, group).ok();
        if let Err(error) = strategy.analyze_loads(reference.as_ref(), self.0.balancing.get()) {
            tracing::debug!("group {id}: its strategy cannot be called: {error}");
        }
        self.with(|state| state.asked.remove(&*format!("strategy {id}")));
    }

    /// Returns the loads of a location.
    ///
    /// # Errors
    /// LocationNotFound.
    pub(crate) fn loads(&self, key: &Key) -> Refused<lb::LoadList> {
        let loads = self.with(|state| state.loads.get(key).cloned());
        loads.ok_or(Refusal::LocationNotFound(lb::LocationNotFound))
    }

    /// Tells a location's alert to shed load, or to accept it again, if it was not told so last.
    ///
    /// # Errors
    /// LoadAlertNotFound.
    pub(crate) fn set_alert(&self, key: &Key, is_enabled: bool) -> Refused<()> {
        let to_call = self.with(|state| {
            let call = state.limits.call;
            let alert = state.alerts.get_mut(key);
            let alert = alert.ok_or(Refusal::LoadAlertNotFound(lb::LoadAlertNotFound))?;
            let was_enabled = std::mem::replace(&mut alert.is_enabled, is_enabled);
            let to_call = (was_enabled != is_enabled).then(|| (alert.object.clone(), call));
            if to_call.is_some() {
                for id in state.at(key) {
                    state.revisions.touch(id);
                }
            }
            Ok::<_, Refusal>(to_call)
        })?;
        if let Some((object, call)) = to_call {
            let key = key.clone();
            self.call(move |engine| {
                let object: lb::LoadAlert = bounded(&object, call);
                let done = match is_enabled {
                    true => object.enable_alert(),
                    false => object.disable_alert(),
                };
                if let Err(exception) = done {
                    tracing::info!("the alert of {key} cannot be called: {exception}");
                    engine.with(|state| {
                        // It is called again with the next loads.
                        if let Some(alert) = state.alerts.get_mut(&key)
                            && alert.is_enabled == is_enabled
                        {
                            alert.is_enabled = !is_enabled;
                        }
                    });
                }
            });
        }
        Ok(())
    }

    /// Registers the alert of a location.
    ///
    /// # Errors
    /// LoadAlertAlreadyPresent; IMP_LIMIT.
    pub(crate) fn add_alert(&self, key: Key, object: &lb::LoadAlert) -> Refused<()> {
        self.with(|state| {
            if state.alerts.contains_key(&key) {
                return Err(Refusal::LoadAlertAlreadyPresent(
                    lb::LoadAlertAlreadyPresent,
                ));
            }
            if state.alerts.len() >= state.limits.locations {
                return Err(Refusal::limit("locations"));
            }
            let alert = Alert {
                object: object.clone(),
                is_enabled: false,
            };
            state.alerts.insert(key, alert);
            Ok(())
        })
    }

    pub(crate) fn alert(&self, key: &Key) -> Refused<lb::LoadAlert> {
        let alert = self.with(|state| state.alerts.get(key).map(|alert| alert.object.clone()));
        alert.ok_or(Refusal::LoadAlertNotFound(lb::LoadAlertNotFound))
    }

    /// Removes the alert of a location, which accepts load from then on.
    ///
    /// # Errors
    /// LoadAlertNotFound.
    pub(crate) fn remove_alert(&self, key: &Key) -> Refused<()> {
        self.set_alert(key, false)?;
        self.with(|state| state.alerts.remove(key));
        Ok(())
    }

    /// Registers the monitor of a location.
    ///
    /// # Errors
    /// MonitorAlreadyPresent; IMP_LIMIT.
    pub(crate) fn add_monitor(&self, key: Key, monitor: &lb::LoadMonitor) -> Refused<()> {
        self.with(|state| {
            if state.monitors.contains_key(&key) {
                return Err(Refusal::MonitorAlreadyPresent(lb::MonitorAlreadyPresent));
            }
            if state.monitors.len() >= state.limits.locations {
                return Err(Refusal::limit("locations"));
            }
            state.monitors.insert(key, monitor.clone());
            Ok(())
        })?;
        self.ask_new_monitors();
        Ok(())
    }

    pub(crate) fn monitor(&self, key: &Key) -> Refused<lb::LoadMonitor> {
        let monitor = self.with(|state| state.monitors.get(key).cloned());
        monitor.ok_or(Refusal::LocationNotFound(lb::LocationNotFound))
    }

    /// Removes the monitor of a location, and its loads.
    ///
    /// # Errors
    /// LocationNotFound.
    pub(crate) fn remove_monitor(&self, key: &Key) -> Refused<()> {
        let removed = self.with(|state| {
            state.loads.remove(key);
            state.monitors.remove(key)
        });
        removed
            .map(drop)
            .ok_or(Refusal::LocationNotFound(lb::LocationNotFound))
    }

    /// Asks all monitors that are not being asked, and notes when that is due again.
    pub(super) fn ask_monitors(&self) {
        let interval = self.with(|state| state.limits.monitor_interval);
        self.due_at(Instant::now() + interval, Due::Monitors);
        self.ask(|_| true);
    }

    /// Asks the monitors whose loads are not known.
    fn ask_new_monitors(&self) {
        let known: HashSet<Key> = self.with(|state| state.loads.keys().cloned().collect());
        self.ask(|key| !known.contains(key));
    }

    fn ask(&self, which: impl Fn(&Key) -> bool) {
        let (monitors, call) = self.with(|state| {
            let monitors: Vec<_> = state
                .monitors
                .iter()
                .filter(|(key, _)| which(key) && !state.asked.contains(*key))
                .map(|(key, monitor)| (key.clone(), monitor.clone()))
                .collect();
            state
                .asked
                .extend(monitors.iter().map(|(key, _)| key.clone()));
            (monitors, state.limits.call)
        });
        for (key, monitor) in monitors {
            self.call(move |engine| {
                let monitor: lb::LoadMonitor = bounded(&monitor, call);
                let pushed = match monitor.loads() {
                    Ok(loads) => engine
                        .push_loads(&key, &loads)
                        .map_err(|refusal| format!("{refusal:?}")),
                    Err(exception) => Err(exception.to_string()),
                };
                if let Err(why) = pushed {
                    tracing::info!("the monitor of {key} gives no loads: {why}");
                }
                engine.with(|state| state.asked.remove(&key));
            });
        }
    }
}

/// Returns for each location of a group whether it is to shed load, if that has changed.
fn analysed(state: &State, id: u64, group: &Group, strategy: &Strategy) -> Vec<(Key, bool)> {
    let live = state.live.get(&id);
    let loads = group.members.keys().filter_map(|key| {
        let load = live?.get(key)?.load?;
        Some((key.clone(), load))
    });
    let (keys, loads): (Vec<Key>, Vec<f32>) = loads.unzip();
    let mut overloaded = strategy.overloaded(&loads).unwrap_or_default();
    if overloaded.iter().all(|is_over| *is_over) {
        // If all have too much, none can take what another one sheds.
        overloaded.fill(false);
    }
    let all = keys.into_iter().zip(overloaded);
    let is_new = |(key, is_over): &(Key, bool)| {
        let alert = state.alerts.get(key);
        alert.is_some_and(|alert| alert.is_enabled != *is_over)
    };
    all.filter(is_new).collect()
}

fn no_member() -> Route {
    Route::Refused(Kind::Transient.because("the group has no member that takes clients"))
}
