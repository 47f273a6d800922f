//! Report on the claims, as Markdown, as a page and as data, and a summary for the terminal.

use super::claim::Verdict;
use super::measurement::{Kept, Measurement};
use super::{Judged, shown};
use crate::Result;
use crate::machine::Machine;
use serde::Serialize;
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

type Measured<'m> = (&'m Measurement, std::result::Result<Kept, String>);

/// Row of the report: a claim, with what became of it in words.
#[derive(Serialize)]
struct Line<'j> {
    paper: &'static str,
    place: &'static str,
    claim: &'static str,
    theirs: &'static str,
    ours: &'j str,
    /// Class of the verdict, a word for style sheets.
    class: &'static str,
    verdict: String,
    command: &'j str,
}

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
    let lines: Vec<Line<'_>> = judged.iter().map(Line::of).collect();
    let introduction = introduction(kept, quick);
    let drawings: Vec<[String; 3]> = drawings(folder, kept).collect();
    let data = json!({ "about": introduction, "claims": lines });
    let texts = [
        ("report.md", markdown(&introduction, &lines, &drawings)?),
        ("report.html", html(&introduction, &lines, &drawings)?),
        ("papers.json", serde_json::to_string_pretty(&data)? + "\n"),
    ];
    let mut files = Vec::new();
    for (name, text) in texts {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        files.push(file.display().to_string());
    }
    Ok(files)
}

impl<'j> Line<'j> {
    fn of(judged: &'j Judged) -> Self {
        let (class, verdict) = match &judged.found {
            Ok(found) => {
                let (class, verdict) = match &found.verdict {
                    Verdict::Holds => ("holds", "holds".to_owned()),
                    Verdict::Differently(why) => ("differs", format!("holds differently: {why}")),
                    Verdict::OfItsTime => {
                        ("time", "a time of its machines, for comparison".to_owned())
                    }
                };
                let doubt = found.doubt.map(|doubt| format!(" ({doubt})"));
                (class, verdict + &doubt.unwrap_or_default())
            }
            Err(reason) => ("absent", format!("not reproduced: {reason}")),
        };
        let claim = judged.claim;
        Self {
            paper: claim.paper,
            place: claim.place,
            claim: claim.claim,
            theirs: claim.theirs,
            ours: judged.found.as_ref().map_or("–", |found| &found.ours),
            class,
            verdict,
            command: &judged.command,
        }
    }
}

/// Returns how many claims hold, in one line for each paper.
pub(super) fn summary(judged: &[Judged]) -> String {
    let lines: Vec<Line<'_>> = judged.iter().map(Line::of).collect();
    let mut text = String::new();
    for its in by_paper(&lines) {
        let count = |wanted| its.iter().filter(|one| one.class == wanted).count();
        let _ = writeln!(
            text,
            "{}: of {} claims {} hold, {} hold differently, {} are times of its machines, {} are not reproduced",
            its[0].paper,
            its.len(),
            count("holds"),
            count("differs"),
            count("time"),
            count("absent")
        );
    }
    text
}

fn by_paper<'l, 'j>(lines: &'l [Line<'j>]) -> impl Iterator<Item = &'l [Line<'j>]> {
    lines.chunk_by(|one, next| one.paper == next.paper)
}

/// Returns the name, the subject and the file of each drawing that the folder has.
fn drawings(folder: &Path, kept: &[Measured<'_>]) -> impl Iterator<Item = [String; 3]> {
    let drawn = kept.iter().filter(|(_, kept)| kept.is_ok());
    drawn.filter_map(|(one, _)| {
        Some([
            one.name.to_owned(),
            one.about.to_owned(),
            one.drawn(folder)?,
        ])
    })
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
         Figures of the papers are of the machines of their time: what is compared are their proportions. \
         omniORB's figures stand beside ours where both have the same: it has no GIOPlite, shared memory, time probes, priorities, \
         reliable or buffered one-ways, and its DII and its event service were not measured.",
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

fn markdown(introduction: &str, lines: &[Line<'_>], drawings: &[[String; 3]]) -> Result<String> {
    let mut text = format!("# The papers, reproduced\n{introduction}\n");
    for its in by_paper(lines) {
        writeln!(
            text,
            "\n## {}\n\n| place | claim | theirs | ours | | command |",
            its[0].paper
        )?;
        writeln!(text, "|---|---|---|---|---|---|")?;
        for one in its {
            let command = format!("`{}`", one.command);
            let cells = [
                one.place,
                one.claim,
                one.theirs,
                one.ours,
                &one.verdict,
                &command,
            ];
            let cells = cells.map(|cell| cell.replace('|', "\\|"));
            writeln!(text, "| {} |", cells.join(" | "))?;
        }
    }
    writeln!(text, "\n## Drawings")?;
    for [name, about, file] in drawings {
        writeln!(text, "\n### {name}\n![{about}]({file})")?;
    }
    Ok(text)
}

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:78rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;\
border-bottom:1px solid #ddd}.holds{color:#00572f}.differs{color:#8a4b00}.absent,.time{color:#666}\
img{max-width:100%}code{font-size:.85em}";

fn html(introduction: &str, lines: &[Line<'_>], drawings: &[[String; 3]]) -> Result<String> {
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>The papers, reproduced</title>\
         <style>{STYLE}</style>\n<h1>The papers, reproduced</h1>\n<p>{}</p>\n",
        escaped(introduction)
    );
    for its in by_paper(lines) {
        write!(
            text,
            "<h2>{}</h2>\n<table><tr><th>place<th>claim<th>theirs<th>ours<th><th>command</tr>\n",
            escaped(its[0].paper)
        )?;
        for one in its {
            let cells = [one.place, one.claim, one.theirs, one.ours].map(escaped);
            writeln!(
                text,
                "<tr><td>{}<td class={}>{}<td><code>{}</code></tr>",
                cells.join("<td>"),
                one.class,
                escaped(&one.verdict),
                escaped(one.command)
            )?;
        }
        writeln!(text, "</table>")?;
    }
    for [name, about, file] in drawings {
        let about = escaped(about);
        writeln!(
            text,
            "<h3>{name}</h3>\n<img src=\"{file}\" alt=\"{about}\">"
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
            doubt: None,
        }
    }

    #[test]
    fn each_verdict_is_counted_and_said_in_both_formats() {
        let all = [
            judged(Ok(found(Verdict::Holds))),
            judged(Ok(
                found(Verdict::Differently("it is late")).doubted(Some("rounds lay apart"))
            )),
            judged(Ok(found(Verdict::OfItsTime))),
            judged(Err("the peer is missing".to_owned())),
        ];
        let summary = summary(&all);
        assert!(
            summary.contains("of 4 claims 1 hold, 1 hold differently, 1 are times of its machines, 1 are not reproduced"),
            "{summary}"
        );
        let lines: Vec<Line<'_>> = all.iter().map(Line::of).collect();
        let markdown = markdown("", &lines, &[]).unwrap();
        assert!(markdown.contains("| a < b \\| c | holds |"), "{markdown}");
        assert!(markdown.contains("holds differently: it is late (rounds lay"));
        assert!(markdown.contains("not reproduced: the peer is missing"));
        let page = html("", &lines, &[]).unwrap();
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
        fs::write(folder.path().join("ami.svg"), "<svg/>").unwrap();
        write(folder.path(), &[], &kept, true).unwrap();
        for file in ["report.md", "report.html"] {
            let text = fs::read_to_string(folder.path().join(file)).unwrap();
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
