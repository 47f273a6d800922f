//! Figures of the time probes: stages of a call.

use crate::papers::evidence::Evidence;
use crate::timeprobes::END_TO_END;
use serde_json::json;

/// Sides of a call, as the report of the time probes names them.
pub(crate) const CLIENT: &str = "client (table 1)";
pub(crate) const SERVER: &str = "server (table 2)";

/// Returns the names and times of the stages of one side of a call over TCP.
fn stages_of<'r>(e: &Evidence<'r>, side: &str) -> Vec<(&'r str, f64)> {
    let wanted = [
        ("side", json!(side)),
        ("run", json!("punctual same")),
        ("part", json!(true)),
    ];
    let rows = e.rows("stages", &wanted).into_iter();
    rows.filter_map(|row| Some((row["what"].as_str()?, row["time"].as_f64()?)))
        .collect()
}

/// Returns the percentages that stages of one side take, of all but those of waiting.
pub(crate) fn stage_shares<const N: usize>(
    e: &Evidence<'_>,
    side: &str,
    wanted: [&str; N],
) -> Result<[f64; N], String> {
    let mut stages = stages_of(e, side);
    stages.retain(|(name, _)| !name.contains("waiting"));
    let all: f64 = stages.iter().map(|(_, time)| time).sum();
    match wanted.map(|name| stages.iter().find(|(one, _)| one.ends_with(name))) {
        found if found.iter().all(Option::is_some) => {
            Ok(found.map(|stage| stage.map_or(0.0, |(_, time)| time / all * 100.0)))
        }
        _ => Err(format!("no such stages of {side}")),
    }
}

/// Describes the stages of one side of a call over TCP, without those of the operating system: the least, the greatest,
/// and their sum.
pub(crate) fn stages(e: &Evidence<'_>, side: &str) -> Result<String, String> {
    let own = stages_of(e, side)
        .into_iter()
        .filter(|(name, _)| !name.contains("I/O"));
    let times: Vec<f64> = own.map(|(_, time)| time).collect();
    let least = times.iter().copied().reduce(f64::min);
    let most = times.iter().copied().reduce(f64::max);
    let (Some(least), Some(most)) = (least, most) else {
        return Err(format!("no stages of {side}"));
    };
    let sum: f64 = times.iter().sum();
    Ok(format!(
        "{least:.0} to {most:.0} ns a stage, {sum:.0} ns in all"
    ))
}

/// Returns the percentage of a call during which its messages are under way.
pub(crate) fn system_share(e: &Evidence<'_>, run: &str) -> Result<f64, String> {
    let time = |what: &str| {
        let wanted = [
            ("side", json!(END_TO_END)),
            ("run", json!(run)),
            ("what", json!(what)),
        ];
        e.figure("stages", &wanted, "time")
    };
    let under_way = time("request under way")? + time("reply under way")?;
    Ok(under_way / time("all of these")? * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn stage(side: &str, what: &str, time: f64) -> Value {
        json!({"side": side, "what": what, "run": "punctual same", "part": true, "time": time})
    }

    #[test]
    fn stages_are_those_of_the_orb_and_the_rest_of_a_call_is_the_system_s() {
        let report = json!({"stages": [
            stage(CLIENT, " 1 initialise", 3.0),
            stage(CLIENT, " 6 I/O: send", 8000.0),
            stage(CLIENT, "   I/O: receive, waiting included", 9000.0),
            stage(CLIENT, " 8 parameter marshal", 1997.0),
            stage(END_TO_END, "request under way", 60.0),
            stage(END_TO_END, "reply under way", 30.0),
            stage(END_TO_END, "all of these", 100.0),
        ]});
        let e = Evidence::of(&report);
        let said = "3 to 1997 ns a stage, 2000 ns in all".to_owned();
        assert_eq!(stages(&e, CLIENT), Ok(said));
        assert!(stages(&e, SERVER).unwrap_err().contains("server"));
        let shares = stage_shares(&e, CLIENT, ["I/O: send", "parameter marshal"]);
        assert_eq!(shares, Ok([80.0, 19.97]));
        assert!(stage_shares(&e, CLIENT, ["parameter demarshal"]).is_err());
        assert_eq!(system_share(&e, "punctual same"), Ok(90.0));
        assert!(system_share(&e, "punctual-uiop same").is_err());
    }
}
