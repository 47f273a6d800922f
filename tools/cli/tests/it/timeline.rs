//! A plan beside the time line of a server that has run.

use crate::support::{Process, SOME, punctual, serve, text};
use serde_json::Value;
use std::fs;
use std::process::Stdio;

const PLAN: &str = "
    [operation.'CosNaming::NamingContext::bind']
    wcet = '1ms'
    period = '1s'
    deadline = '1s'
    [operation.'CosNaming::NamingContext::destroy']
    wcet = '1ms'
    period = '10s'
";

#[test]
fn a_plan_is_shown_beside_the_time_line_of_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [config, recorded, plan] = ["orb.toml", "timeline.json", "plan.toml"].map(path);
    fs::write(&config, format!("timeline = {recorded:?}\n")).unwrap();
    fs::write(&plan, PLAN).unwrap();

    let started = serve(&["--memory", "--config", &config]);
    let mut server = Process({ started }.stderr(Stdio::null()).spawn().unwrap());
    let service = server.reference();
    for name in ["pump", "valve", "tank"] {
        let bound = punctual(&["naming", "bind", "--service", &service, name, SOME]);
        assert!(bound.status.success(), "{}", text(bound.stderr));
    }
    server.signal("-TERM");
    assert!(server.0.wait().unwrap().success());

    let compared = punctual(&["schedule", "compare", &plan, &recorded, "--json"]);
    assert_eq!(compared.status.code(), Some(1), "{}", text(compared.stderr));
    let compared: Value = serde_json::from_slice(&compared.stdout).unwrap();
    assert_eq!(
        (&compared["source"], &compared["lost_records"]),
        (&"timeline".into(), &0.into())
    );
    let operations = compared["operations"].as_array().unwrap();
    let of = |name: &str| operations.iter().find(|one| one["operation"] == name);
    let bind = of("CosNaming::NamingContext::bind").unwrap();
    assert_eq!(bind["jobs"], 3, "{bind}");
    assert!(bind["response"].is_string() && bind["wait"].is_string());
    assert!(bind["distance"].is_string() && bind["missed_deadlines"].is_number());
    assert!(bind["execution"].is_null(), "{bind}");
    let destroy = of("CosNaming::NamingContext::destroy").unwrap();
    assert_eq!(destroy["findings"], Value::from(vec!["never-ran"]));
    let others = operations.iter().filter(|one| one["wcet"].is_null());
    let is_reported = |one: &Value| one["findings"] == Value::from(vec!["not-planned"]);
    assert!(others.clone().all(is_reported), "{operations:?}");

    let shown = text(punctual(&["schedule", "compare", &plan, &recorded]).stdout);
    assert!(
        shown.contains("NamingContext::bind") && shown.contains("no execution times"),
        "{shown}"
    );
}
