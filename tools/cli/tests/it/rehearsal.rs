//! Tests of `punctual schedule rehearse`.

use crate::support::punctual;

const LOOP: &str = "
    [operation.'sensor.read']
    wcet = '200us'
    period = '20ms'
    calls = [{ operation = 'control.compute', kind = 'one-way' }]

    [operation.'control.compute']
    wcet = '100us'
";

fn rehearsed(options: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("loop.toml");
    std::fs::write(&file, LOOP).unwrap();
    let file = file.to_str().unwrap();
    let fixed = [
        "schedule",
        "rehearse",
        file,
        "--for",
        "1s",
        "--without-priorities",
    ];
    punctual(&[&fixed, options].concat())
}

#[test]
fn a_rehearsal_measures_each_operation_beside_what_is_computed() {
    let output = rehearsed(&["--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let operations = json["operations"].as_array().unwrap();
    let names: Vec<_> = operations.iter().map(|one| &one["operation"]).collect();
    assert_eq!(names, ["sensor.read", "control.compute"]);
    for one in operations {
        assert_eq!(one["jobs"], operations[0]["jobs"]);
        assert!(
            one["deadline"] == "20ms" && one["response"].is_string(),
            "{one}"
        );
    }
    // Whether deadlines were met depends on the machine; the status says so.
    let is_as_planned = json["is_as_planned"].as_bool().unwrap();
    assert_eq!(output.status.success(), is_as_planned);
}

#[test]
fn a_rehearsal_prints_a_table() {
    let output = rehearsed(&["--load", "50"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert!(
        lines[0].starts_with("operation ") && lines[0].ends_with(" deadline"),
        "{text}"
    );
    assert!(lines[0].contains(" over wcet "), "{text}");
    assert!(lines[1].starts_with("sensor.read "), "{text}");
    assert!(lines[2].starts_with("control.compute "), "{text}");
}

#[test]
fn a_rehearsal_draws_the_measured_responses_beside_the_computed_ones() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("responses.svg");
    let output = rehearsed(&["--json", "--draw", picture.to_str().unwrap()]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for one in json["operations"].as_array().unwrap() {
        let counts = one["responses"].as_array().unwrap();
        let sum: u64 = counts.iter().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(one["jobs"].as_u64().unwrap(), sum, "{one}");
    }
    let svg = std::fs::read_to_string(picture).unwrap();
    assert!(
        svg.starts_with("<svg ") && svg.contains("sensor.read"),
        "{svg}"
    );
    assert!(svg.contains("without real-time priorities"), "{svg}");
}

#[test]
fn a_host_of_several_is_chosen_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hosts.toml");
    let text = "
        [host.near]\n[host.far]
        [[message]]\nfrom = 'near'\nto = 'far'\ntime = '1ms'
        [operation.sample]\nhost = 'near'\nwcet = '200us'\nperiod = '20ms'
        calls = [{ operation = 'steer', kind = 'one-way' }]
        [operation.steer]\nhost = 'far'\nwcet = '100us'
    ";
    std::fs::write(&file, text).unwrap();
    let rehearse = |options: &[&str]| {
        let fixed = [
            "schedule",
            "rehearse",
            file.to_str().unwrap(),
            "--for",
            "1s",
            "--json",
            "--without-priorities",
        ];
        punctual(&[&fixed, options].concat())
    };
    let refused = rehearse(&[]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("the model has several hosts, near, far") && said.contains("--host near"),
        "{said}"
    );
    let said = String::from_utf8(rehearse(&["--host", "middle"]).stderr).unwrap();
    assert!(
        said.contains("no host `middle`") && said.contains("--host near"),
        "{said}"
    );
    let output = rehearse(&["--host", "far"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let operations = json["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 1);
    assert_eq!(operations[0]["operation"], "steer");
    assert!(operations[0]["jobs"].as_u64().unwrap() > 0);
}

#[test]
fn what_is_not_executed_as_planned_is_told_before_a_rehearsal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("levels.toml");
    let text = "
        strategy = 'MUF'
        [operation.high]\nwcet = '100us'\nperiod = '20ms'\ncriticality = 'high'
        [operation.low]\nwcet = '100us'\nperiod = '20ms'
    ";
    std::fs::write(&file, text).unwrap();
    let fixed = ["schedule", "rehearse", file.to_str().unwrap()];
    let output = punctual(&[&fixed[..], &["--for", "100ms", "--without-priorities"]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    for name in ["high", "low"] {
        let warning = format!("warning: operation `{name}` is not executed as planned: a queue");
        assert!(said.contains(&warning), "{said}");
    }
}
