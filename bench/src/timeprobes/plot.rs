//! Plot of stacked bars: each call from end to end, and each side's stages beside the paper's.

use super::report::Run;
use super::stages::{Stage, Stages};
use crate::Result;
use crate::drawing::{self, Area, entry, not_drawn};
use crate::machine::Machine;
use crate::placement::Placement;
use plotters::prelude::*;
use std::path::Path;

/// Sizes in pixels: of a bar with the space below it, of a bar, of a line of the legend, of the
/// margin.
const STEP: i32 = 30;
const BAR: i32 = 22;
const LINE: i32 = 20;
const MARGIN: i32 = 16;
/// Left edge of the bars, length of the longest, and width of the picture.
const LEFT: i32 = 220;
const LENGTH: i32 = 760;
const WIDTH: i32 = 1140;
/// Number of the legend's entries side by side.
const ENTRIES: usize = 4;

/// Colours without green beside red, in an order in which neighbours differ.
const COLOURS: [RGBColor; 13] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xf0, 0xe4, 0x42),
    RGBColor(0x88, 0x88, 0x88),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0x33, 0x22, 0x88),
    RGBColor(0xdd, 0xcc, 0x77),
    RGBColor(0x88, 0x22, 0x55),
    RGBColor(0x99, 0xdd, 0xff),
    RGBColor(0x44, 0x44, 0x44),
];

/// Bars with a common scale and legend.
struct Panel {
    title: String,
    parts: Vec<&'static str>,
    bars: Vec<Bar>,
}

struct Bar {
    name: String,
    /// Lengths of the parts, as fractions of the longest bar.
    parts: Vec<f64>,
    /// Text behind the bar.
    total: String,
}

/// Draws the runs.
pub(super) fn draw(title: &str, runs: &[Run], path: &Path) -> Result<()> {
    let panels = panels(runs);
    let height = MARGIN * 2 + LINE + panels.iter().map(Panel::height).sum::<i32>();
    let size = (u32::try_from(WIDTH)?, u32::try_from(height)?);
    let title = format!("{title}: {}", Machine::this());
    drawing::sheet(path, size, |area| {
        write(area, &title, (MARGIN, MARGIN))?;
        let mut top = MARGIN + LINE;
        for panel in &panels {
            panel.draw(area, top)?;
            top += panel.height();
        }
        Ok(())
    })
}

fn panels(runs: &[Run]) -> Vec<Panel> {
    let sides = [
        side(runs, "client (Schmidt et al. 2001, table 1)", |run| {
            &run.client
        }),
        side(runs, "server (Schmidt et al. 2001, table 2)", |run| {
            &run.server
        }),
    ];
    let ways = [Placement::Same, Placement::Cross].map(|placement| end_to_end(runs, placement));
    let panels = ways.into_iter().chain(sides.into_iter().flatten());
    panels.filter(|panel| !panel.bars.is_empty()).collect()
}

/// Returns a placement's panel. Each placement has a scale of its own: a wake-up takes longer than
/// all the rest.
fn end_to_end(runs: &[Run], placement: Placement) -> Panel {
    let with_legs = runs
        .iter()
        .filter(|run| run.placement == placement)
        .filter_map(|run| Some((run, run.legs.as_ref()?)));
    let ways: Vec<_> = with_legs
        .map(|(run, legs)| (run, legs, legs.iter().map(|leg| leg.time).sum::<f64>()))
        .collect();
    let longest = ways.iter().map(|(_, _, sum)| *sum).fold(1.0, f64::max);
    let names = ways
        .first()
        .map(|(_, legs, _)| legs.iter().map(|leg| leg.name).collect());
    Panel {
        title: format!("one call from end to end, {placement}"),
        parts: names.unwrap_or_default(),
        bars: ways
            .iter()
            .map(|(run, legs, sum)| Bar {
                name: run.name(),
                parts: legs.iter().map(|leg| leg.time / longest).collect(),
                total: format!("{:.1} µs", sum / 1000.0),
            })
            .collect(),
    }
}

/// Returns the panels of a side, with and without I/O: the system calls and the wait hide the rest.
fn side(runs: &[Run], title: &str, of: fn(&Run) -> &Stages) -> [Panel; 2] {
    let panel = |title: String, wanted: fn(&Stage) -> bool| {
        let first = runs.first().map(of);
        let parts = first.map_or(&[][..], |stages| &stages.stages);
        let paper = first.map(|stages| {
            let micros = |stage: &Stage| stage.paper.unwrap_or_default();
            bar("paper".to_owned(), stages, wanted, micros, "µs")
        });
        let ours = |run: &Run| bar(run.name(), of(run), wanted, |stage| stage.time, "ns");
        Panel {
            title,
            parts: parts
                .iter()
                .filter(|stage| wanted(stage))
                .map(|stage| stage.name)
                .collect(),
            bars: paper.into_iter().chain(runs.iter().map(ours)).collect(),
        }
    };
    [
        panel(format!("{title}: all of it"), |_| true),
        panel(format!("{title}: without I/O"), |stage| !stage.is_io()),
    ]
}

fn bar(
    name: String,
    stages: &Stages,
    wanted: fn(&Stage) -> bool,
    time: impl Fn(&Stage) -> f64,
    unit: &str,
) -> Bar {
    let parts: Vec<f64> = stages
        .stages
        .iter()
        .filter(|stage| wanted(stage))
        .map(time)
        .collect();
    let sum: f64 = parts.iter().sum();
    Bar {
        name,
        parts: parts
            .iter()
            .map(|part| part / sum.max(f64::MIN_POSITIVE))
            .collect(),
        total: format!("{sum:.0} {unit}"),
    }
}

impl Panel {
    fn legend(&self) -> i32 {
        LINE * i32::try_from(self.parts.len().div_ceil(ENTRIES)).unwrap_or(1)
    }

    fn height(&self) -> i32 {
        let bars = i32::try_from(self.bars.len()).unwrap_or(1);
        MARGIN + LINE + bars * STEP + self.legend() + MARGIN
    }

    fn draw(&self, area: &Area<'_>, top: i32) -> Result<()> {
        write(area, &self.title, (MARGIN, top + MARGIN))?;
        let mut top = top + MARGIN + LINE;
        for bar in &self.bars {
            bar.draw(area, top)?;
            top += STEP;
        }
        for (at, name) in self.parts.iter().enumerate() {
            let column = i32::try_from(at % ENTRIES)?;
            let left = LEFT + column * (WIDTH - LEFT - MARGIN) / i32::try_from(ENTRIES)?;
            let line = top + LINE * i32::try_from(at / ENTRIES)?;
            entry(area, *colour(at), name, (left, line))?;
        }
        Ok(())
    }
}

impl Bar {
    fn draw(&self, area: &Area<'_>, top: i32) -> Result<()> {
        write(area, &self.name, (MARGIN, top + 4))?;
        let mut sum = 0.0;
        for (at, part) in self.parts.iter().enumerate() {
            let corners = [(place(sum), top), (place(sum + part), top + BAR)];
            sum += part;
            area.draw(&Rectangle::new(corners, colour(at).filled()))
                .map_err(not_drawn)?;
        }
        write(area, &self.total, (place(sum) + 8, top + 4))
    }
}

fn colour(at: usize) -> &'static RGBColor {
    &COLOURS[at % COLOURS.len()]
}

fn write(area: &Area<'_>, words: &str, place: (i32, i32)) -> Result<()> {
    drawing::write(area, words, 13, place)
}

/// Returns where a part of the longest bar ends, in pixels.
#[allow(clippy::cast_possible_truncation)]
fn place(part: f64) -> i32 {
    // The value is far below the limit of an i32.
    LEFT + (part.clamp(0.0, 1.0) * f64::from(LENGTH)).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stay_within_the_picture_and_every_part_has_a_colour_of_its_own() {
        assert_eq!((place(0.0), place(1.0)), (LEFT, LEFT + LENGTH));
        assert_eq!(place(f64::INFINITY), place(1.0));
        assert!(place(1.0) < WIDTH - 100);
        let most = super::super::paper::SERVER.len();
        assert!(most <= COLOURS.len());
    }
}
