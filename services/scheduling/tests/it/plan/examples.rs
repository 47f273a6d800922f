//! Tests of the example models.

use punctual_scheduling::model::{Model, read};
use punctual_scheduling::plan::{Plan, plan};
use punctual_scheduling::strategy::by_name;

fn example(name: &str) -> Model {
    let path = format!(
        "{}/../../examples/schedule/{name}.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).unwrap();
    read(name, &text).unwrap()
}

fn planned(name: &str) -> Plan {
    let model = example(name);
    let strategy = by_name(model.strategy.as_deref().unwrap()).unwrap();
    plan(&model, strategy).unwrap()
}

#[test]
fn dump() {
    for name in ["fits", "overloaded", "two_hosts"] {
        let plan = planned(name);
        println!("{name} fits {}", plan.fits());
        for (i, s) in plan.streams.iter().enumerate() {
            println!(
                "  {:20} p{:?} l{:?} C={} T={} D={} J={} R={:?} {:?}",
                s.operation,
                s.processor,
                s.level,
                s.wcet,
                s.period,
                s.deadline,
                s.jitter,
                s.response.map(|r| r.to_string()),
                s.verdict
            );
            println!(
                "      {:?}",
                plan.explain(i)
                    .map(|e| (e.blocking, e.execution, e.interference))
            );
        }
    }
}
