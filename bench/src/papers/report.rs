//! Report on the claims, as Markdown and as a page, and a summary for the terminal.

use super::claim::Verdict;
use super::measurement::{Kept, Measurement};
use super::{Judged, shown};
use crate::Result;
use crate::machine::Machine;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

type Measured<'m> = (&'m Measurement, std::result::Result<Kept, String>);

/// Writes the report to the folder, and returns the names of its files.
///
/// # Errors
/// A file cannot be written.
pub(super) fn write(
    folder: &Path,
    judged: &[Judged],
    kept: &[Measured<'_>],
    quick: bool,
) -> Result<Vec<String>> {
    let texts = [
        ("report.md", markdown(folder, judged, kept, quick)?),
        ("report.html", html(folder, judged, kept, quick)?),
    ];
    let mut files = Vec::new();
    for (name, text) in texts {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        files.push(file.display().to_string());
    }
    Ok(files)
}

impl Judged {
    /// Returns our figures, and whether the claim holds, in one sentence each.
    fn texts(&self) -> (String, String) {
        match &self.found {
            Ok(found) => {
                let verdict = match &found.verdict {
                    Verdict::Holds => "holds".to_owned(),
                    Verdict::Differently(why) => format!("holds differently: {why}"),
                    Verdict::OfItsTime => "a time of its machines, for comparison".to_owned(),
                };
                let mark = match found.is_restless {
                    true => " (rounds lay more than 10 % apart)",
                    false => "",
                };
                (found.ours.clone(), format!("{verdict}{mark}"))
            }
            Err(reason) => ("–".to_owned(), format!("not reproduced: {reason}")),
        }
    }

    /// Returns the class of the verdict, a word for style sheets.
    fn class(&self) -> &'static str {
        match self.found.as_ref().map(|found| &found.verdict) {
            Ok(Verdict::Holds) => "holds",
            Ok(Verdict::Differently(_)) => "differs",
            Ok(Verdict::OfItsTime) => "time",
            Err(_) => "absent",
        }
    }
}

/// Returns how many claims hold, in one line for each paper.
pub(super) fn summary(judged: &[Judged]) -> String {
    let mut text = String::new();
    for paper in papers(judged) {
        let its = || judged.iter().filter(|one| one.claim.paper == paper);
        let count = |wanted| its().filter(|one| one.class() == wanted).count();
        let _ = writeln!(
            text,
            "{paper}: of {} claims {} hold, {} hold differently, {} are times of its machines, {} are not reproduced",
            its().count(),
            count("holds"),
            count("differs"),
            count("time"),
            count("absent")
        );
    }
    text
}

fn papers(judged: &[Judged]) -> Vec<&'static str> {
    let mut papers: Vec<&str> = judged.iter().map(|one| one.claim.paper).collect();
    papers.dedup();
    papers
}

/// Returns the introduction, without markup.
fn introduction(kept: &[Measured<'_>], quick: bool) -> String {
    let took = kept.iter().filter_map(|(_, kept)| kept.as_ref().ok());
    let took = took.map(|kept| kept.took).sum();
    let effort = match quick {
        true => "a quick run, with few rounds",
        false => "a whole run",
    };
    format!(
        "What five papers on TAO claim, and what becomes of it with Punctual. Measured on {}, by {effort} of {}. \
         Figures of the papers are of the machines of their time: what is compared are their proportions.",
        Machine::this(),
        shown(took)
    ) + &others(kept)
}

/// Says which reports were taken from the folder, and on which machines those were made, if they are others.
fn others(kept: &[Measured<'_>]) -> String {
    let this = Machine::this();
    let mut text = String::new();
    for (measurement, kept) in kept {
        let Ok(kept) = kept else { continue };
        if !measurement.is_elsewhere() {
            continue;
        }
        let on = match kept.machine() {
            Some(machine) if machine == this => "made on this machine".to_owned(),
            Some(machine) => format!("made on {machine}"),
            None => "which does not say on which machine it was made".to_owned(),
        };
        let _ = write!(
            text,
            " The report of {} is another program's, {on}.",
            measurement.name
        );
    }
    text
}

fn markdown(
    folder: &Path,
    judged: &[Judged],
    kept: &[Measured<'_>],
    quick: bool,
) -> Result<String> {
    let mut text = String::new();
    writeln!(
        text,
        "# The papers, reproduced\n{}",
        introduction(kept, quick)
    )?;
    for paper in papers(judged) {
        writeln!(
            text,
            "\n## {paper}\n\n| place | claim | theirs | ours | | command |"
        )?;
        writeln!(text, "|---|---|---|---|---|---|")?;
        for one in judged.iter().filter(|one| one.claim.paper == paper) {
            let (ours, verdict) = one.texts();
            let command = match one.command.is_empty() {
                true => String::new(),
                false => format!("`{}`", one.command),
            };
            let claim = one.claim;
            let cells = [
                claim.place,
                claim.claim,
                claim.theirs,
                &ours,
                &verdict,
                &command,
            ];
            let cells = cells.map(|cell| cell.replace('|', "\\|"));
            writeln!(text, "| {} |", cells.join(" | "))?;
        }
    }
    writeln!(text, "\n## Drawings")?;
    for (measurement, _) in kept.iter().filter(|(_, kept)| kept.is_ok()) {
        let Some(drawing) = measurement.drawn(folder) else {
            continue;
        };
        let (name, about) = (measurement.name, measurement.about);
        writeln!(text, "\n### {name}\n![{about}]({drawing})")?;
    }
    Ok(text)
}

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:78rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;\
border-bottom:1px solid #ddd}.holds{color:#00572f}.differs{color:#8a4b00}.absent,.time{color:#666}\
img{max-width:100%}code{font-size:.85em}";

fn html(folder: &Path, judged: &[Judged], kept: &[Measured<'_>], quick: bool) -> Result<String> {
    let mut text = String::new();
    write!(
        text,
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>The papers, reproduced</title>\
         <style>{STYLE}</style>\n<h1>The papers, reproduced</h1>\n<p>{}</p>\n",
        escaped(&introduction(kept, quick))
    )?;
    for paper in papers(judged) {
        write!(
            text,
            "<h2>{}</h2>\n<table><tr><th>place<th>claim<th>theirs<th>ours<th><th>command</tr>\n",
            escaped(paper)
        )?;
        for one in judged.iter().filter(|one| one.claim.paper == paper) {
            let (ours, verdict) = one.texts();
            let class = one.class();
            let claim = one.claim;
            let cells = [claim.place, claim.claim, claim.theirs, &ours].map(escaped);
            writeln!(
                text,
                "<tr><td>{}<td class={class}>{}<td><code>{}</code></tr>",
                cells.join("<td>"),
                escaped(&verdict),
                escaped(&one.command)
            )?;
        }
        writeln!(text, "</table>")?;
    }
    for (measurement, _) in kept.iter().filter(|(_, kept)| kept.is_ok()) {
        let Some(drawing) = measurement.drawn(folder) else {
            continue;
        };
        let (name, about) = (measurement.name, escaped(measurement.about));
        writeln!(
            text,
            "<h3>{name}</h3>\n<img src=\"{drawing}\" alt=\"{about}\">"
        )?;
    }
    Ok(text)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::claim::Found;
    use super::super::claims;
    use super::super::measurements::ALL;
    use super::*;

    fn judged(found: std::result::Result<Found, String>) -> Judged {
        Judged {
            claim: claims::all().next().unwrap(),
            found,
            command: "punctual bench x".to_owned(),
        }
    }

    fn found(verdict: Verdict) -> Found {
        Found {
            ours: "a < b | c".to_owned(),
            verdict,
            is_restless: false,
        }
    }

    #[test]
    fn each_verdict_is_counted_and_said_in_both_formats() {
        let all = [
            judged(Ok(found(Verdict::Holds))),
            judged(Ok(found(Verdict::Differently("it is late")).restless(true))),
            judged(Ok(found(Verdict::OfItsTime))),
            judged(Err("the peer is missing".to_owned())),
        ];
        let summary = summary(&all);
        assert!(
            summary.contains("of 4 claims 1 hold, 1 hold differently, 1 are times of its machines, 1 are not reproduced"),
            "{summary}"
        );
        let nowhere = Path::new("/nonexistent");
        let markdown = markdown(nowhere, &all, &[], true).unwrap();
        assert!(markdown.contains("| a < b \\| c | holds |"), "{markdown}");
        assert!(markdown.contains("holds differently: it is late (rounds lay"));
        assert!(markdown.contains("not reproduced: the peer is missing"));
        let page = html(nowhere, &all, &[], true).unwrap();
        assert!(page.contains("<td>a &lt; b | c<td class=holds>"), "{page}");
        assert!(page.contains("<td class=absent>"));
    }
    #[test]
    fn drawings_are_those_of_the_folder_and_reports_of_others_name_their_machine() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = |machine: Option<&str>| {
            let mut report = serde_json::json!({});
            if let Some(processor) = machine {
                report["machine"] = serde_json::to_value(Machine {
                    processor: processor.to_owned(),
                    ..Machine::this()
                })
                .unwrap();
            }
            Kept::of_another_program(report)
        };
        let named = |name| ALL.iter().find(|one| one.name == name).unwrap();
        let kept = [
            (named("timeprobes"), Ok(elsewhere(Some("A Processor")))),
            (named("footprint"), Ok(elsewhere(None))),
            (named("ami"), Ok(elsewhere(None))),
        ];
        std::fs::write(folder.path().join("ami.svg"), "<svg/>").unwrap();
        for text in [
            markdown(folder.path(), &[], &kept, true).unwrap(),
            html(folder.path(), &[], &kept, true).unwrap(),
        ] {
            assert!(text.contains("of timeprobes is another program's, made on A Processor"));
            assert!(text.contains("footprint is another program's, which does not say"));
            assert!(
                text.contains("ami.svg") && !text.contains("timeprobes.svg"),
                "{text}"
            );
        }
        let here = Machine::this().processor;
        let same = [(named("timeprobes"), Ok(elsewhere(Some(&here))))];
        assert!(others(&same).ends_with("made on this machine."));
    }
}
