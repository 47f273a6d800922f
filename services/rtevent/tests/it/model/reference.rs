//! Semantics of filters a second time: recursive, without anything that is computed ahead.

use super::spec::{Spec, Style};

/// Event of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) kind: i32,
    pub(crate) source: i32,
    pub(crate) data: u64,
    /// Number of the timer that made it.
    timer: Option<usize>,
}

impl Sample {
    pub(crate) fn of_supplier(kind: i32, source: i32, data: u64) -> Self {
        Self {
            kind,
            source,
            data,
            timer: None,
        }
    }
}

/// Consumer with a filter.
pub(crate) struct Model {
    root: Node,
    timers: Vec<Timer>,
    resolution: u64,
    /// Sets that the consumer received.
    pub(crate) received: Vec<Vec<Sample>>,
}

struct Node {
    rule: Spec,
    children: Vec<Node>,
    /// Number of the timer.
    timer: Option<usize>,
    /// Of a conjunction: which children have passed something, and all of it.
    passed: Vec<bool>,
    collected: Vec<Sample>,
}

struct Timer {
    style: Style,
    length: u64,
    /// Next expiry; `None` if there is none.
    at: Option<u64>,
}

impl Model {
    pub(crate) fn new(spec: &Spec, resolution: u64, now: u64) -> Self {
        let mut timers = Vec::new();
        let root = Node::new(spec, &mut timers);
        for timer in &mut timers {
            timer.at = Some(now + timer.length);
        }
        Self {
            root,
            timers,
            resolution,
            received: Vec::new(),
        }
    }

    /// Receives an event at a time.
    pub(crate) fn push(&mut self, event: Sample, now: u64) {
        if !self.root.accepts(&event) {
            return;
        }
        let Some(set) = self.root.pass(event) else {
            return;
        };
        self.received.push(set);
        self.root.clear();
        for timer in &mut self.timers {
            if timer.style == Style::Deadline {
                timer.at = Some(now + timer.length);
            }
        }
    }

    /// Returns the time of the next tick at which a timer is due.
    pub(crate) fn next(&self) -> Option<u64> {
        let at = self.timers.iter().filter_map(|timer| timer.at).min()?;
        Some(at.div_ceil(self.resolution) * self.resolution)
    }

    /// Expires the timers that are due at a tick.
    pub(crate) fn tick(&mut self, now: u64) {
        for number in 0..self.timers.len() {
            let timer = &mut self.timers[number];
            let Some(at) = timer.at.filter(|at| *at <= now) else {
                continue;
            };
            let mut next = at;
            while next <= now {
                next += timer.length;
            }
            timer.at = (timer.style != Style::Once).then_some(next);
            let event = Sample {
                kind: timer.style.code(),
                source: 0,
                data: 0,
                timer: Some(number),
            };
            self.push(event, now);
        }
    }
}

impl Node {
    fn new(spec: &Spec, timers: &mut Vec<Timer>) -> Self {
        let mut timer = None;
        let children = match spec {
            Spec::Any(specs) | Spec::All(specs) | Spec::Both(specs) => {
                specs.iter().map(|spec| Self::new(spec, timers)).collect()
            }
            Spec::Bitmask(_, _, child) | Spec::Not(child) => vec![Self::new(child, timers)],
            Spec::Timer(style, length) => {
                timer = Some(timers.len());
                timers.push(Timer {
                    style: *style,
                    length: *length,
                    at: None,
                });
                Vec::new()
            }
            Spec::Event(..) | Spec::Null | Spec::Masked(..) => Vec::new(),
        };
        Self {
            rule: spec.clone(),
            passed: vec![false; children.len()],
            children,
            timer,
            collected: Vec::new(),
        }
    }

    fn accepts(&self, event: &Sample) -> bool {
        let mut children = self.children.iter().map(|child| child.accepts(event));
        match &self.rule {
            Spec::Event(kind, source) => {
                [0, event.kind].contains(kind) && [0, event.source].contains(source)
            }
            Spec::Null => true,
            Spec::Masked(masks, values) => {
                (event.kind & masks.0, event.source & masks.1) == *values
            }
            Spec::Bitmask(kind, source, _) => {
                event.kind & kind != 0 && event.source & source != 0 && children.all(|one| one)
            }
            Spec::Any(_) | Spec::All(_) => children.any(|one| one),
            Spec::Both(_) => children.all(|one| one),
            Spec::Not(_) => !children.all(|one| one),
            Spec::Timer(..) => self.timer == event.timer,
        }
    }

    /// Passes an event that it accepts.
    fn pass(&mut self, event: Sample) -> Option<Vec<Sample>> {
        match &self.rule {
            Spec::Any(_) | Spec::Bitmask(..) => {
                let mut children = self.children.iter_mut();
                let child = children.find(|child| child.accepts(&event)).unwrap();
                child.pass(event)
            }
            Spec::All(_) => {
                let accepting = |index: &usize| self.children[*index].accepts(&event);
                let mut accepting = (0..self.children.len()).filter(accepting);
                let index = accepting.find(|index| !self.passed[*index])?;
                let set = self.children[index].pass(event)?;
                self.collected.extend(set);
                self.passed[index] = true;
                let is_complete = self.passed.iter().all(|passed| *passed);
                is_complete.then(|| self.collected.clone())
            }
            _ => Some(vec![event]),
        }
    }

    fn clear(&mut self) {
        self.passed.fill(false);
        self.collected.clear();
        self.children.iter_mut().for_each(Self::clear);
    }
}
