//! Offset of one clock from another, by what causality allows.
//!
//! A request that both sides have recorded bounds the offset of the server's clock: it was read after the client began to
//! send it (`offset <= read - sending`), and its reply was had after its upcall ended (`offset >= end - received`). All
//! requests together leave the lines `offset + drift × time` between the points of both kinds; the mean of the extreme
//! ones is taken, and their distance from it is the uncertainty. (Duda, Harrus, Haddad and Bernard 1987, *Estimating
//! global time in distributed systems*.) Where no line is left, a clock has changed its rate, and pieces have lines of
//! their own.

/// Maximum drift of a clock that is considered: what NTP corrects at most, in seconds for each second.
const MOST_DRIFT: f64 = 500e-6;
/// Number of bounds below which a piece is not split further.
const FEWEST: usize = 8;
/// Maximum number of pieces.
const MOST_PIECES: usize = 256;

/// Bounds that one request sets to the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    /// Moment of the first clock, in nanoseconds.
    pub(super) at: i64,
    /// Least offset; none for a one-way, or before its reply.
    pub(super) least: Option<i64>,
    /// Largest offset.
    pub(super) most: Option<i64>,
}

/// Offset as a line over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    /// Moment of the first clock from which the piece holds.
    from: i64,
    to: i64,
    /// Offset in the middle, in nanoseconds.
    offset: i64,
    /// Nanoseconds a nanosecond.
    drift: f64,
    drift_uncertainty: f64,
    /// Uncertainty at both ends, in nanoseconds.
    uncertainty: (f64, f64),
}

/// Offset of a second clock from a first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Offset(Vec<Line>);

impl Offset {
    /// Makes the offset that is known at two moments with an uncertainty.
    pub(super) fn between(
        (from, first): (i64, i64),
        (to, last): (i64, i64),
        uncertainty: i64,
    ) -> Self {
        let drift = match to - from {
            0 => 0.0,
            span => float(last - first) / float(span),
        };
        let uncertainty = float(uncertainty);
        Self(vec![Line {
            from,
            to,
            offset: first.midpoint(last),
            drift,
            drift_uncertainty: match to - from {
                0 => MOST_DRIFT,
                span => 2.0 * uncertainty / float(span),
            },
            uncertainty: (uncertainty, uncertainty),
        }])
    }

    /// Returns the offset that is between all bounds; `None` without bounds of both kinds.
    pub(super) fn within(bounds: &[Bound]) -> Option<Self> {
        let mut bounds = bounds.to_vec();
        bounds.sort_by_key(|bound| bound.at);
        if bounds.iter().all(|bound| bound.least.is_none())
            || bounds.iter().all(|bound| bound.most.is_none())
        {
            return None;
        }
        let mut lines = Vec::new();
        split(&bounds, &mut lines);
        (!lines.is_empty()).then_some(Self(lines))
    }

    /// Returns the offset at a moment of the first clock, in nanoseconds.
    pub(super) fn at(&self, at: i64) -> i64 {
        self.line(at).map_or(0, |line| line.at(at))
    }

    /// Returns the moment of the first clock that is this moment of the second.
    pub(super) fn first_of(&self, second: i64) -> i64 {
        let mut first = second.saturating_sub(self.0.first().map_or(0, |line| line.offset));
        // Each round leaves the drift's share of the last one's error.
        for _ in 0..4 {
            first = second.saturating_sub(self.at(first));
        }
        first
    }

    /// Returns the uncertainty at a moment of the first clock, in nanoseconds.
    pub(super) fn uncertainty(&self, at: i64) -> i64 {
        self.line(at).map_or(0, |line| line.uncertainty(at))
    }

    /// Returns the largest uncertainty.
    pub(super) fn largest_uncertainty(&self) -> i64 {
        let of = |line: &Line| rounded(line.uncertainty.0.max(line.uncertainty.1));
        self.0.iter().map(of).max().unwrap_or(0)
    }

    /// Returns the drift of the longest piece and its uncertainty, in nanoseconds a nanosecond.
    pub(super) fn drift(&self) -> (f64, f64) {
        let longest = self.0.iter().max_by_key(|line| line.to - line.from);
        longest.map_or((0.0, 0.0), |line| (line.drift, line.drift_uncertainty))
    }

    /// Returns the number of pieces: more than one where a clock has changed its rate.
    pub(super) fn pieces(&self) -> usize {
        self.0.len()
    }

    fn line(&self, at: i64) -> Option<&Line> {
        let next = self.0.partition_point(|line| line.from <= at);
        self.0.get(next.saturating_sub(1))
    }
}

impl Line {
    fn at(&self, at: i64) -> i64 {
        let since = at.saturating_sub(self.from.midpoint(self.to));
        let drifted = rounded(self.drift * float(since));
        self.offset.saturating_add(drifted)
    }

    fn uncertainty(&self, at: i64) -> i64 {
        let (begin, end) = self.uncertainty;
        let part = match self.to - self.from {
            0 => 0.0,
            span => (float(at.saturating_sub(self.from)) / float(span)).clamp(0.0, 1.0),
        };
        // Outside of the piece the drift is not bounded by more than what it was inside.
        let outside = at.saturating_sub(at.max(self.from).min(self.to));
        let further = self.drift_uncertainty * float(outside).abs();
        rounded(begin + (end - begin) * part + further)
    }
}

/// Adds the lines of these bounds, in order of time: one, or those of both halves.
fn split(bounds: &[Bound], lines: &mut Vec<Line>) {
    if let Some(line) = line_within(bounds) {
        lines.push(line);
        return;
    }
    if bounds.len() < FEWEST || lines.len() >= MOST_PIECES {
        lines.extend(best_of(bounds));
        return;
    }
    let (earlier, later) = bounds.split_at(bounds.len() / 2);
    split(earlier, lines);
    split(later, lines);
}

/// Returns the line of a few bounds that contradict each other: the middle of the narrowest, whose uncertainty reaches to
/// the others.
fn best_of(bounds: &[Bound]) -> Option<Line> {
    let both = |bound: &Bound| Some((bound.least?, bound.most?));
    let (least, most) = bounds
        .iter()
        .filter_map(both)
        .min_by_key(|(least, most)| most - least)?;
    let offset = least.midpoint(most);
    let miss = |bound: &Bound| {
        let below = bound.least.map_or(0, |least| least - offset);
        let above = bound.most.map_or(0, |most| offset - most);
        below.max(above)
    };
    let miss = bounds.iter().map(miss).max().unwrap_or(0);
    let uncertainty = float((most - least) / 2 + miss.max(0));
    Some(Line {
        from: bounds.first()?.at,
        to: bounds.last()?.at,
        offset,
        drift: 0.0,
        drift_uncertainty: MOST_DRIFT,
        uncertainty: (uncertainty, uncertainty),
    })
}

/// Point of a bound: time and offset, relative to the middle of all.
type Point = (f64, f64);

/// Returns the line between bounds, if there is one.
fn line_within(bounds: &[Bound]) -> Option<Line> {
    let (from, to) = (bounds.first()?.at, bounds.last()?.at);
    let middle = from.midpoint(to);
    let about = bounds.iter().find_map(|bound| bound.least.or(bound.most))?;
    let points = |of: fn(&Bound) -> Option<i64>| -> Vec<Point> {
        let relative = |bound: &Bound| Some((float(bound.at - middle), float(of(bound)? - about)));
        bounds.iter().filter_map(relative).collect()
    };
    // A line is below all points if it is below their lower hull.
    let above = hull(points(|bound| bound.most), 1.0);
    let below = hull(points(|bound| bound.least), -1.0);
    // With bounds of one kind alone, the offset may be any beyond them.
    if above.is_empty() || below.is_empty() {
        return None;
    }
    let corners = corners(&below, &above)?;
    let (begin, end) = (float(from - middle), float(to - middle));
    #[expect(clippy::cast_precision_loss, reason = "there are few")]
    let count = corners.len() as f64;
    let mean = |of: fn(&Point) -> f64| corners.iter().map(of).sum::<f64>() / count;
    let (offset, drift) = (mean(|one| one.0), mean(|one| one.1));
    let reach = |at: f64| {
        let apart = |&(a, b): &Point| (a + b * at - offset - drift * at).abs();
        corners.iter().map(apart).fold(0.0, f64::max)
    };
    Some(Line {
        from,
        to,
        offset: about + rounded(offset),
        drift,
        drift_uncertainty: corners
            .iter()
            .map(|one| (one.1 - drift).abs())
            .fold(0.0, f64::max),
        uncertainty: (reach(begin), reach(end)),
    })
}

/// Returns the lower hull of points in order of time, for a sign of 1, or the upper one for -1.
fn hull(points: Vec<Point>, sign: f64) -> Vec<Point> {
    let mut hull: Vec<Point> = Vec::new();
    for point in points {
        while let [.., before, last] = hull[..]
            && sign * turn(before, last, point) <= 0.0
        {
            hull.pop();
        }
        // Of several at one time only the outermost counts.
        if let Some(last) = hull.last_mut()
            && last.0 >= point.0
        {
            if sign * (point.1 - last.1) < 0.0 {
                *last = point;
            }
            continue;
        }
        hull.push(point);
    }
    hull
}

/// Returns a number above 0 if the way from `a` by `b` to `c` turns upwards.
fn turn(a: Point, b: Point, c: Point) -> f64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}

/// Points of both hulls, at most, whose lines are looked at. Hulls of measured times have some dozens.
const MOST_POINTS: usize = 200;

/// Returns the corners of the lines (offset in the middle, drift) between the points; `None` if no line is, or there are too many
/// points, as only made-up times have.
fn corners(below: &[Point], above: &[Point]) -> Option<Vec<Point>> {
    let limits = [MOST_DRIFT, -MOST_DRIFT];
    // Half a nanosecond for rounding.
    let fits = |&(a, b): &Point| {
        b.abs() <= MOST_DRIFT * (1.0 + 1e-9)
            && below.iter().all(|(t, least)| a + b * t >= least - 0.5)
            && above.iter().all(|(t, most)| a + b * t <= most + 0.5)
    };
    let points: Vec<Point> = below.iter().chain(above).copied().collect();
    if points.len() > MOST_POINTS {
        return None;
    }
    let mut corners: Vec<Point> = Vec::new();
    for (index, &(t1, o1)) in points.iter().enumerate() {
        // Through a point with the largest drift, and through two points.
        corners.extend(
            limits
                .map(|b| (o1 - b * t1, b))
                .iter()
                .filter(|one| fits(one)),
        );
        for &(t2, o2) in points.iter().skip(index + 1) {
            if t1 != t2 {
                let b = (o2 - o1) / (t2 - t1);
                corners.extend(Some((o1 - b * t1, b)).filter(fits));
            }
        }
    }
    (!corners.is_empty()).then_some(corners)
}

/// Returns a number of nanoseconds for computing with differences.
#[expect(clippy::cast_precision_loss, reason = "differences of times are short")]
pub(super) fn float(nanos: i64) -> f64 {
    nanos as f64
}

#[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
fn rounded(nanos: f64) -> i64 {
    nanos.round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds of a request each millisecond, by a clock of this offset, and delays from 10 to 200 microseconds.
    fn bounds(count: i64, offset: impl Fn(i64) -> i64) -> Vec<Bound> {
        let delay = |number: i64| 10_000 + (number * 7_919) % 190_000;
        (0..count)
            .map(|number| {
                let at = number * 1_000_000;
                Bound {
                    at,
                    least: Some(offset(at) - delay(number + 3)),
                    most: Some(offset(at) + delay(number * 5)),
                }
            })
            .collect()
    }

    #[test]
    fn an_offset_and_its_drift_are_found_within_the_uncertainty_that_is_told() {
        for (begin, drift) in [(0, 0.0), (-5_000_000_000_000, 80e-6), (123_456_789, -35e-6)] {
            let true_at = |at: i64| begin + rounded(float(at) * drift);
            let offset = Offset::within(&bounds(10_000, true_at)).unwrap();
            assert_eq!(offset.pieces(), 1);
            for at in [0, 1_000_000_000, 5_000_000_000, 9_999_000_000] {
                let error = (offset.at(at) - true_at(at)).abs();
                assert!(error <= offset.uncertainty(at) && error < 15_000, "{error}");
                assert!((offset.first_of(at + offset.at(at)) - at).abs() <= 1);
            }
            let (found, uncertainty) = offset.drift();
            assert!((found - drift).abs() <= uncertainty && uncertainty < 3e-6);
            assert!(offset.largest_uncertainty() < 20_000);
        }
    }

    #[test]
    fn a_clock_that_changes_its_rate_gets_a_piece_for_each() {
        // The clock is slewed by 400 ppm for the second half.
        let true_at = |at: i64| (at - 5_000_000_000).max(0) / 2_500;
        let offset = Offset::within(&bounds(10_000, true_at)).unwrap();
        assert!(offset.pieces() > 1);
        for at in [1_000_000_000, 4_000_000_000, 6_000_000_000, 9_000_000_000] {
            let error = (offset.at(at) - true_at(at)).abs();
            assert!(error <= offset.uncertainty(at), "{at} {error}");
        }
    }

    #[test]
    fn a_step_of_a_clock_is_between_two_pieces() {
        let true_at = |at: i64| if at < 3_000_000_000 { 0 } else { 700_000_000 };
        let offset = Offset::within(&bounds(10_000, true_at)).unwrap();
        for at in [0, 2_000_000_000, 4_000_000_000, 9_000_000_000] {
            let error = (offset.at(at) - true_at(at)).abs();
            assert!(error < 200_000, "{at} {error}");
        }
    }

    #[test]
    fn one_request_gives_half_its_delay_as_uncertainty_and_one_ways_alone_give_nothing() {
        let one = Bound {
            at: 77,
            least: Some(1_000),
            most: Some(3_000),
        };
        let offset = Offset::within(&[one]).unwrap();
        assert_eq!((offset.at(77), offset.uncertainty(77)), (2_000, 1_000));
        let one_way = Bound { least: None, ..one };
        assert_eq!(Offset::within(&[one_way]), None);
        assert_eq!(Offset::within(&[]), None);
        // Bounds that contradict each other leave an uncertainty that reaches to both.
        let other = Bound {
            least: Some(10_000),
            most: Some(12_000),
            ..one
        };
        let offset = Offset::within(&[one, other]).unwrap();
        assert!(offset.uncertainty(77) >= 9_000);
    }
    #[test]
    fn a_piece_of_one_ways_alone_makes_no_line_and_the_uncertainty_grows_with_the_distance() {
        // The second clock steps, and after that only one-ways are sent.
        let step = 700_000_000;
        let true_at = |at: i64| if at < 4_000_000_000 { 0 } else { step };
        let mut all = bounds(10_000, true_at);
        for bound in all.iter_mut().filter(|bound| bound.at >= 4_000_000_000) {
            bound.least = None;
            // They wait for two seconds.
            bound.most = bound.most.map(|most| most + 2_000_000_000);
        }
        // Something that contradicts, so that pieces are needed.
        all[100].least = Some(5_000_000);
        let offset = Offset::within(&all).unwrap();
        for at in [5_000_000_000, 9_999_000_000] {
            assert!(offset.at(at) < 1_000_000_000, "{}", offset.at(at));
        }
        let (near, far) = (
            offset.uncertainty(3_000_000_000),
            offset.uncertainty(90_000_000_000),
        );
        assert!(far > near, "{near} {far}");
    }

    #[test]
    fn absurd_clocks_saturate() {
        let most = i64::MAX / 2;
        let offset = Offset::between((0, -most), (1, most), most);
        assert_eq!(offset.at(i64::MAX), i64::MAX);
        assert_eq!(offset.at(i64::MIN), i64::MIN);
        assert!(offset.uncertainty(i64::MIN) > 0);
        let _ = offset.first_of(i64::MIN);
    }
}
