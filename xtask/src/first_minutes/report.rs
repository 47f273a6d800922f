//! Report of the times and the goals.

use super::Part;
use super::measure::{Cost, Machine};
use crate::run::Result;
use serde_json::{Value, json};
use std::fmt;

/// Average number of cores that a build uses on a machine with two, as measured.
const BUSY: f64 = 1.8;
/// Number of running processes above which the machine counts as busy.
const QUIET: f64 = 0.5;

#[derive(Debug)]
pub(super) struct Step {
    pub(super) part: Part,
    pub(super) name: &'static str,
    pub(super) command: String,
    pub(super) cost: Cost,
    /// Set if the step's time counts towards the goal.
    pub(super) counts: bool,
}

#[derive(Debug)]
pub(super) struct Report {
    machine: Machine,
    pub(super) steps: Vec<Step>,
}

impl Report {
    pub(super) fn new(machine: Machine) -> Self {
        Self {
            machine,
            steps: Vec::new(),
        }
    }

    /// Returns the total cost of the counted steps of each measured part.
    fn parts(&self) -> impl Iterator<Item = (Part, Cost)> {
        [Part::Demo, Part::Tests, Part::New]
            .into_iter()
            .filter_map(|part| {
                let steps = self.steps.iter().filter(|step| step.part == part);
                let counted = steps.filter(|step| step.counts).map(|step| step.cost);
                Some((part, counted.reduce(|sum, cost| sum + cost)?))
            })
    }

    /// Returns whether the machine is one for which the goals hold: two cores without other load.
    fn is_of_two_quiet_cores(&self) -> bool {
        self.machine.processors == 2 && self.machine.load <= QUIET
    }

    pub(super) fn json(&self) -> Result<String> {
        let steps = self.steps.iter().map(|step| {
            json!({
                "part": step.part.name(), "step": step.name, "command": step.command,
                "wall_s": step.cost.wall, "processor_s": step.cost.processor, "counts": step.counts,
            })
        });
        let goals = self.parts().map(|(part, cost)| {
            json!({
                "part": part.name(), "goal_s": part.goal(), "wall_s": cost.wall,
                "processor_s": cost.processor, "two_cores_s": cost.processor / BUSY, "met": is_met(part, cost),
            })
        });
        let report = json!({
            "machine": self.machine,
            "two_quiet_cores": self.is_of_two_quiet_cores(),
            "steps": steps.collect::<Vec<Value>>(),
            "goals": goals.collect::<Vec<Value>>(),
        });
        serde_json::to_string_pretty(&report).map_err(|error| error.to_string())
    }
}

fn is_met(part: Part, cost: Cost) -> bool {
    cost.wall <= part.goal()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "part   step           wall s  processor s")?;
        for step in &self.steps {
            let (part, Cost { wall, processor }) = (step.part.name(), step.cost);
            writeln!(
                f,
                "{part:<6} {:<13} {wall:>7.1} {processor:>12.1}  {}",
                step.name, step.command
            )?;
        }
        writeln!(f)?;
        for (part, cost) in self.parts() {
            let verdict = if is_met(part, cost) { "met" } else { "missed" };
            writeln!(
                f,
                "{:<6} {:.0} s, goal {:.0} s: {verdict}; by processor time {:.0} s on two cores",
                part.name(),
                cost.wall,
                part.goal(),
                cost.processor / BUSY
            )?;
        }
        if !self.is_of_two_quiet_cores() {
            let Machine { processors, load } = self.machine;
            writeln!(
                f,
                "the goals are for two cores that do nothing else; here are {processors}, and {load} processes ran before"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(part: Part, name: &'static str, wall: f64, counts: bool) -> Step {
        let processor = wall * 1.5;
        Step {
            part,
            name,
            command: "cargo build".into(),
            cost: Cost { wall, processor },
            counts,
        }
    }

    fn report(load: f64) -> Report {
        let machine = Machine {
            processors: 2,
            load,
        };
        let mut report = Report::new(machine);
        report.steps = vec![
            step(Part::Demo, "download", 10.0, true),
            step(Part::Demo, "build and run", 140.0, true),
            step(Part::New, "download", 100.0, false),
            step(Part::New, "build", 60.5, true),
        ];
        report
    }

    #[test]
    fn goals_count_what_belongs_to_them_and_say_met_or_missed() {
        let text = report(0.0).to_string();
        assert!(
            text.contains("demo   150 s, goal 150 s: met; by processor time 125 s"),
            "{text}"
        );
        assert!(text.contains("new    60 s, goal 60 s: missed"), "{text}");
        assert!(!text.contains("tests"), "{text}");
    }

    #[test]
    fn a_machine_that_does_something_else_is_named() {
        assert!(!report(0.2).to_string().contains("nothing else"));
        assert!(report(3.0).to_string().contains("nothing else"));
    }

    #[test]
    fn programs_read_the_same() {
        let json: Value = serde_json::from_str(&report(0.0).json().unwrap()).unwrap();
        assert_eq!(json["two_quiet_cores"], true);
        assert_eq!(json["goals"][0]["met"], true);
        assert_eq!(json["goals"][1]["met"], false);
        assert_eq!(json["goals"][1]["wall_s"], 60.5);
        assert_eq!(json["steps"][2]["counts"], false);
    }
}
