//! Motion of an entity, and dead reckoning: a state is published when others' extrapolation of the last one is too far
//! from the truth, or too old.

use super::EntityState;

/// Entity that this host simulates; it drives in a circle.
#[derive(Clone, Debug)]
pub(super) struct Entity {
    number: u32,
    /// Radius of the circle in metres, angular velocity in 1/s, and angle at the beginning.
    radius: f64,
    turn: f64,
    phase: f64,
    /// State that was published last, and the time of it in seconds.
    published: Option<(EntityState, f64)>,
}

/// Rules of dead reckoning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reckoning {
    /// Error in metres above which a state is published.
    pub(super) threshold: f64,
    /// Age in seconds from which on a state is published all the same.
    pub(super) heartbeat: f64,
}

impl Entity {
    /// Makes an entity whose speed, from 10 to 29 m/s, and place come from its number.
    pub(super) fn new(number: u32) -> Self {
        let radius = 50.0 + f64::from(number % 7) * 25.0;
        Self {
            number,
            radius,
            turn: (10.0 + f64::from(number % 20)) / radius,
            phase: f64::from(number),
            published: None,
        }
    }

    /// Returns the state to be published at a time in seconds; `None` if others' extrapolation is good enough.
    pub(super) fn due(&mut self, now: f64, rules: Reckoning) -> Option<EntityState> {
        let is_good = self.published.as_ref().is_some_and(|(last, at)| {
            let age = now - at;
            age < rules.heartbeat
                && distance(&extrapolated(last, age), &self.at(now)) <= rules.threshold
        });
        (!is_good).then(|| self.publish(now))
    }

    /// Returns the next state, which counts as published.
    pub(super) fn publish(&mut self, now: f64) -> EntityState {
        let number = self.published.as_ref().map_or(0, |(last, _)| last.number);
        let state = EntityState {
            number: number + 1,
            ..self.at(now)
        };
        self.published = Some((state.clone(), now));
        state
    }

    fn at(&self, now: f64) -> EntityState {
        let (sin, cos) = (self.phase + self.turn * now).sin_cos();
        let speed = self.radius * self.turn;
        EntityState {
            entity: self.number,
            number: 0,
            x: self.radius * cos,
            y: self.radius * sin,
            vx: -speed * sin,
            vy: speed * cos,
        }
    }
}

/// Returns the position that others show a time in seconds after a state.
fn extrapolated(state: &EntityState, age: f64) -> EntityState {
    EntityState {
        x: state.vx.mul_add(age, state.x),
        y: state.vy.mul_add(age, state.y),
        ..state.clone()
    }
}

fn distance(one: &EntityState, other: &EntityState) -> f64 {
    (one.x - other.x).hypot(one.y - other.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Reckoning = Reckoning {
        threshold: 1.0,
        heartbeat: 5.0,
    };

    #[test]
    fn what_others_show_is_never_further_off_than_the_threshold_at_a_tick() {
        let mut entity = Entity::new(17);
        let mut published = 0;
        for tick in 0..1_000 {
            let now = f64::from(tick) / 10.0;
            published += usize::from(entity.due(now, RULES).is_some());
            let (last, at) = entity.published.clone().unwrap();
            let shown = extrapolated(&last, now - at);
            assert!(distance(&shown, &entity.at(now)) <= RULES.threshold);
        }
        assert!((20..500).contains(&published), "{published}");
    }

    #[test]
    fn states_have_numbers_without_gaps_and_come_at_the_heartbeat_at_the_latest() {
        let mut entity = Entity::new(3);
        let rules = Reckoning {
            threshold: f64::INFINITY,
            ..RULES
        };
        let times: Vec<_> = (0..=20).map(f64::from).collect();
        let due = times
            .iter()
            .filter_map(|now| Some((*now, entity.due(*now, rules)?.number)));
        let due: Vec<_> = due.collect();
        assert_eq!(due, [(0.0, 1), (5.0, 2), (10.0, 3), (15.0, 4), (20.0, 5)]);
    }
}
