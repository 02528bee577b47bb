//! Plots: their shapes in the units of an SVG, and a sentence that says the same.

use std::collections::BTreeMap;

use eval_format::Bound;
use eval_support::words;
use serde::Serialize;

pub(super) const WIDTH: f64 = 240.0;
pub(super) const HEIGHT: f64 = 60.0;
const BAR_COUNT: usize = 20;

#[derive(Clone, Debug)]
pub struct Histogram {
    pub metric: String,
    pub bars: Vec<Bar>,
    /// The thresholds: one, or several if cases have different ones.
    pub thresholds: Vec<f64>,
    pub below: usize,
    pub low: String,
    pub high: String,
    pub summary: String,
}

/// A bar of cases that miss their threshold, or of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub below: bool,
    /// `3 cases from 0.5 to 0.55`.
    pub label: String,
}

/// The most thresholds that are drawn. More of them would hide the bars.
const MAX_THRESHOLDS: usize = 4;

impl Histogram {
    /// `scores` has the score of each case, and its bound if it has one. `None` if there is no score. Scores
    /// that are not finite are left out.
    pub fn new(metric: String, scores: &[(f64, Option<Bound>)]) -> Option<Self> {
        let finite = |bound: &Option<Bound>| bound.filter(|it| it.threshold.is_finite());
        let scores = scores.iter().filter(|(score, _)| score.is_finite());
        let scores: Vec<(f64, Option<Bound>)> = scores.map(|(score, it)| (*score, finite(it))).collect();
        if scores.is_empty() {
            return None;
        }
        let bounds = || scores.iter().filter_map(|(_, bound)| *bound);
        let mut thresholds: Vec<f64> = bounds().map(|bound| bound.threshold).collect();
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        let ends = scores.iter().map(|(score, _)| *score).chain(thresholds.iter().copied());
        let low = ends.clone().fold(0.0, f64::min);
        let high = ends.fold(1.0, f64::max);
        let place = |score: f64| (score / (high - low) - low / (high - low)).clamp(0.0, 1.0);
        let is_below = |(score, bound): &(f64, Option<Bound>)| bound.is_some_and(|it| !it.is_met(*score));
        let side = bounds().next().map_or("below", Bound::missed);
        let mut counts = [[0_usize; 2]; BAR_COUNT];
        for score in &scores {
            counts[bar_at(place(score.0))][usize::from(is_below(score))] += 1;
        }
        let most = counts.iter().map(|[reached, below]| reached + below).max().unwrap_or(1);
        let width = WIDTH / as_f64(BAR_COUNT);
        let mut bars = Vec::new();
        for (at, [reached, below]) in counts.into_iter().enumerate() {
            let mut top = HEIGHT;
            for (count, below) in [(below, true), (reached, false)].into_iter().filter(|it| it.0 > 0) {
                let height = HEIGHT * as_f64(count) / as_f64(most);
                top -= height;
                let from = |at: usize| end(low + (high - low) * (as_f64(at) / as_f64(BAR_COUNT)));
                let label = format!("{} from {} to {}", words::count(count, "case"), from(at), from(at + 1));
                let x = as_f64(at) * width + 0.5;
                bars.push(Bar { x, y: top, width: width - 1.0, height, below, label });
            }
        }
        let (below, of) =
            (scores.iter().filter(|it| is_below(it)).count(), words::count(scores.len(), "case"));
        let summary = match thresholds.as_slice() {
            [] => format!("{of}, no threshold"),
            [threshold] => format!("{below} of {of} {side} the threshold {threshold}"),
            [first, .., last] => format!("{below} of {of} {side} their thresholds, {first} to {last}"),
        };
        Some(Self {
            metric,
            bars,
            thresholds: thresholds.iter().take(MAX_THRESHOLDS).map(|it| place(*it) * WIDTH).collect(),
            below,
            low: end(low),
            high: end(high),
            summary,
        })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the place is from 0 to 1")]
fn bar_at(place: f64) -> usize {
    ((place * as_f64(BAR_COUNT)) as usize).min(BAR_COUNT - 1)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn as_f64(count: usize) -> f64 {
    count as f64
}

/// The end of an axis, with few digits.
pub(super) fn end(value: f64) -> String {
    if value.abs() >= 1e6 { format!("{value:.1e}") } else { ((value * 100.0).round() / 100.0).to_string() }
}

/// The pass rate of the last runs, the oldest first.
#[derive(Clone, Debug)]
pub struct PassRate {
    pub points: Vec<Past>,
    pub line: String,
    pub summary: String,
}

#[derive(Clone, Debug)]
pub struct Past {
    pub x: f64,
    pub y: f64,
    /// `2026-11-22 02:31:07 UTC: 3/4 cases`.
    pub label: String,
}

impl PassRate {
    /// `runs` has the label of each run, its passed cases and all its cases. `last` is the name of the last run in a
    /// sentence. `None` for fewer than two runs with cases.
    pub fn new(runs: &[(String, usize, usize)], last: &str) -> Option<Self> {
        let runs: Vec<_> = runs.iter().filter(|(.., of)| *of > 0).collect();
        let [.., (_, before, of_before), (_, now, of_now)] = runs.as_slice() else { return None };
        let step = (WIDTH - 10.0) / as_f64(runs.len() - 1);
        let points: Vec<Past> = runs
            .iter()
            .enumerate()
            .map(|(at, (label, passed, of))| Past {
                x: 5.0 + as_f64(at) * step,
                y: 4.0 + (HEIGHT - 8.0) * (1.0 - as_f64(*passed) / as_f64(*of)),
                label: format!("{label}: {passed}/{of} cases passed"),
            })
            .collect();
        let mut line = String::new();
        line.extend(points.iter().map(|Past { x, y, .. }| format!("{x:.1},{y:.1} ")));
        let summary =
            format!("{now}/{of_now} cases passed in {last}, {before}/{of_before} in the one before");
        Some(Self { points, line, summary })
    }
}

/// The states of a case in the last runs: a bar for each run, the oldest first. A full bar passed, a low bar did not pass, and a
/// dot is a run without the case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spark {
    pub passed: String,
    pub others: String,
    pub absent: String,
    pub width: usize,
    pub label: String,
}

impl Spark {
    /// `runs` tells whether the case passed in each run, and its state in a word; `None` for a run without the case.
    pub fn new(runs: &[Option<(bool, &'static str)>]) -> Self {
        let (mut passed, mut others, mut absent) = (String::new(), String::new(), String::new());
        let mut words = Vec::new();
        for (at, run) in runs.iter().enumerate() {
            let x = at * 6;
            match run {
                Some((true, _)) => passed.push_str(&format!("M{x} 1h4v14h-4z")),
                Some((false, _)) => others.push_str(&format!("M{x} 9h4v6h-4z")),
                None => absent.push_str(&format!("M{} 13h2v2h-2z", x + 1)),
            }
            words.push(run.map_or("not run", |(_, word)| word));
        }
        Self { passed, others, absent, width: runs.len() * 6, label: words.join(", ") }
    }
}

/// A point for each case: time or cost from left to right, the score from bottom to top.
#[derive(Clone, Debug)]
pub struct Scatter {
    pub title: &'static str,
    pub dots: Vec<Dot>,
    pub low: String,
    pub high: String,
    pub summary: String,
}

#[derive(Clone, Debug)]
pub struct Dot {
    pub x: f64,
    pub y: f64,
    pub passed: bool,
    /// The case, and how many others share the point.
    pub label: String,
    /// The anchor of the case, or of the first one.
    pub anchor: String,
}

#[derive(Clone, Debug)]
pub struct Point {
    pub took: f64,
    pub score: f64,
    pub passed: bool,
    pub name: String,
    pub anchor: String,
}

/// The most cases with points of their own. More cases share points.
const MAX_SINGLE_POINTS: usize = 300;
/// The columns and rows of shared points.
const SHARED_GRID: (f64, f64) = (48.0, 16.0);

impl Scatter {
    /// `None` for fewer than two cases: a point alone says less than its row. `unit` prints a time or a cost.
    pub fn new(title: &'static str, points: Vec<Point>, unit: impl Fn(f64) -> String) -> Option<Self> {
        let mut points: Vec<Point> = points;
        points.retain(|it| it.took.is_finite() && it.took >= 0.0 && it.score.is_finite());
        if points.len() < 2 {
            return None;
        }
        let right = points.iter().map(|it| it.took).fold(0.0, f64::max);
        let low = points.iter().map(|it| it.score).fold(0.0, f64::min);
        let high = points.iter().map(|it| it.score).fold(1.0, f64::max);
        let x = |took: f64| if right > 0.0 { (took / right).clamp(0.0, 1.0) } else { 0.0 };
        let y = |score: f64| (score / (high - low) - low / (high - low)).clamp(0.0, 1.0);
        let dot = |(x, y): (f64, f64), of: &Point, label| Dot {
            x: 3.0 + x * (WIDTH - 6.0),
            y: 3.0 + (1.0 - y) * (HEIGHT - 6.0),
            passed: of.passed,
            label,
            anchor: of.anchor.clone(),
        };
        let said = |it: &Point| format!("{}: {}, score {}", it.name, unit(it.took), end(it.score));
        let dots = if points.len() <= MAX_SINGLE_POINTS {
            points.iter().map(|it| dot((x(it.took), y(it.score)), it, said(it))).collect()
        } else {
            let mut places: BTreeMap<(u16, u16), (&Point, usize)> = BTreeMap::new();
            for point in &points {
                let place = (place(x(point.took), SHARED_GRID.0), place(y(point.score), SHARED_GRID.1));
                let (first, count) = places.entry(place).or_insert((point, 0));
                // A passed case must not hide one that did not pass.
                if first.passed && !point.passed {
                    *first = point;
                }
                *count += 1;
            }
            let shared = places.into_iter().map(|((x, y), (first, count))| {
                let label = match count - 1 {
                    0 => said(first),
                    others => format!("{}, and {others} more", said(first)),
                };
                dot((f64::from(x) / SHARED_GRID.0, f64::from(y) / SHARED_GRID.1), first, label)
            });
            shared.collect()
        };
        let mut all: Vec<f64> = points.iter().map(|it| it.took).collect();
        all.sort_by(f64::total_cmp);
        let total = all.iter().sum::<f64>();
        let (median, mean) = (unit(all[all.len() / 2]), unit(total / as_f64(all.len())));
        let summary = format!("median {median}, most {}, mean {mean}", unit(right));
        Some(Self { title, dots, low: unit(0.0), high: unit(right), summary })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the share is from 0 to 1")]
fn place(share: f64, places: f64) -> u16 {
    (share * places).round() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_inside_of_the_plot_whatever_the_scores() {
        for (scores, threshold) in [
            (vec![0.0, 0.5, 0.5, 1.0], Some(0.8)),
            (vec![f64::NAN, f64::INFINITY, 0.3], Some(f64::NAN)),
            (vec![-1e300, 1e300], None),
            (vec![f64::MAX, f64::MIN], Some(0.0)),
            (vec![7.0], Some(5.0)),
        ] {
            let scores: Vec<_> = scores.into_iter().map(|score| (score, threshold)).collect();
            let plot = Histogram::new(
                "m".into(),
                &scores.iter().map(|(score, it)| (*score, it.map(Bound::at_least))).collect::<Vec<_>>(),
            )
            .unwrap();
            for bar in &plot.bars {
                assert!(bar.x >= 0.0 && bar.x + bar.width <= WIDTH, "{plot:?}");
                assert!(bar.y >= -1e-9 && bar.y + bar.height <= HEIGHT + 1e-9, "{plot:?}");
            }
            assert!(plot.thresholds.iter().all(|at| (0.0..=WIDTH).contains(at)), "{plot:?}");
        }
        assert!(Histogram::new("m".into(), &[(f64::NAN, None)]).is_none());
    }

    /// The bars as their places, heights and words.
    fn bars(scores: &[(f64, Option<Bound>)]) -> Vec<(f64, f64, f64, bool, String)> {
        let plot = Histogram::new("m".into(), scores).unwrap();
        assert!(plot.bars.iter().all(|bar| (bar.width - 11.0).abs() < 1e-9), "{plot:?}");
        plot.bars.into_iter().map(|bar| (bar.x, bar.y, bar.height, bar.below, bar.label)).collect()
    }

    #[test]
    fn bars_stand_at_their_scores_and_are_as_high_as_their_share_of_the_most() {
        let at_least = |threshold| Some(Bound::at_least(threshold));
        let told = |text: &str| text.to_owned();
        let of = [0.5, 0.52, 0.8, 1.0].map(|score| (score, at_least(0.8)));
        assert_eq!(
            bars(&of),
            [
                (120.5, 0.0, 60.0, true, told("2 cases from 0.5 to 0.55")),
                (192.5, 30.0, 30.0, false, told("1 case from 0.8 to 0.85")),
                (228.5, 30.0, 30.0, false, told("1 case from 0.95 to 1")),
            ]
        );
        // Points that miss their threshold are drawn below the others.
        let stacked = [(0.82, at_least(0.9)), (0.82, at_least(0.8)), (0.82, None)];
        let label = |count: &str| format!("{count} from 0.8 to 0.85");
        assert_eq!(
            bars(&stacked),
            [(192.5, 40.0, 20.0, true, label("1 case")), (192.5, 0.0, 40.0, false, label("2 cases"))]
        );
        // The axis reaches from the lowest score or threshold to the highest, and at least from 0 to 1.
        let wide = Histogram::new("m".into(), &[(-1.0, at_least(2.0)), (3.0, at_least(2.0))]).unwrap();
        assert_eq!(
            (wide.low.as_str(), wide.high.as_str(), wide.thresholds.as_slice()),
            ("-1", "3", &[180.0][..])
        );
        assert_eq!(wide.bars.iter().map(|bar| bar.x).collect::<Vec<_>>(), [0.5, 228.5]);
        let many: Vec<_> = [0.1, 0.2, 0.3, 0.4, 0.5].map(|threshold| (0.9, at_least(threshold))).into();
        assert_eq!(Histogram::new("m".into(), &many).unwrap().thresholds, [24.0, 48.0, 72.0, 96.0]);
    }

    #[test]
    fn the_end_of_an_axis_has_few_digits() {
        for (value, shown) in [
            (0.256, "0.26"),
            (1.0, "1"),
            (-0.5, "-0.5"),
            (999_999.0, "999999"),
            (1e6, "1.0e6"),
            (-2.5e7, "-2.5e7"),
        ] {
            assert_eq!(end(value), shown);
        }
    }

    #[test]
    fn runs_of_the_past_stand_from_left_to_right_and_as_high_as_their_rate() {
        let run = |name: &str, passed, of| (name.to_owned(), passed, of);
        let rate = PassRate::new(&[run("a", 1, 4), run("b", 2, 2), run("c", 0, 3)], "this run").unwrap();
        let points: Vec<_> = rate.points.iter().map(|it| (it.x, it.y, it.label.as_str())).collect();
        assert_eq!(
            points,
            [
                (5.0, 43.0, "a: 1/4 cases passed"),
                (120.0, 4.0, "b: 2/2 cases passed"),
                (235.0, 56.0, "c: 0/3 cases passed"),
            ]
        );
        assert_eq!(rate.line, "5.0,43.0 120.0,4.0 235.0,56.0 ");
    }

    #[test]
    fn a_spark_has_a_bar_for_each_run_and_a_dot_for_a_run_without_the_case() {
        let spark =
            Spark::new(&[Some((true, "passed")), None, Some((false, "failed")), Some((true, "passed"))]);
        assert_eq!(spark.passed, "M0 1h4v14h-4zM18 1h4v14h-4z");
        assert_eq!((spark.absent.as_str(), spark.others.as_str()), ("M7 13h2v2h-2z", "M12 9h4v6h-4z"));
        assert_eq!(spark.width, 24);
    }

    #[test]
    fn a_plot_says_in_words_what_it_shows() {
        let plot =
            Histogram::new("m".into(), &[0.5, 0.8, 0.9].map(|score| (score, Some(Bound::at_least(0.8)))))
                .unwrap();
        assert_eq!(plot.summary, "1 of 3 cases below the threshold 0.8");
        assert_eq!(plot.bars.iter().filter(|bar| bar.below).count(), 1);
        let costs = [3.0, 10.0].map(|score| (score, Some(Bound::at_most(5.0))));
        let costs = Histogram::new("m".into(), &costs).unwrap();
        assert_eq!((costs.below, costs.summary.as_str()), (1, "1 of 2 cases above the threshold 5"));
        let several = Histogram::new(
            "m".into(),
            &[(0.85, Some(Bound::at_least(0.8))), (0.85, Some(Bound::at_least(0.9)))],
        )
        .unwrap();
        assert_eq!(several.summary, "1 of 2 cases below their thresholds, 0.8 to 0.9");
        assert_eq!((several.bars.len(), several.thresholds.len()), (2, 2));
        let runs = [("a".to_owned(), 1, 4), ("b".to_owned(), 0, 0), ("c".to_owned(), 4, 4)];
        let rate = PassRate::new(&runs, "this run").unwrap();
        assert_eq!(rate.summary, "4/4 cases passed in this run, 1/4 in the one before");
        assert!(PassRate::new(&runs[..2], "this run").is_none());
        let spark = Spark::new(&[Some((true, "passed")), None, Some((false, "failed"))]);
        assert_eq!(spark.label, "passed, not run, failed");
    }
}

#[cfg(test)]
mod scatter_tests {
    use super::*;

    fn point(took: f64, score: f64, passed: bool) -> Point {
        Point { took, score, passed, name: "a".to_owned(), anchor: "case-a".to_owned() }
    }

    fn seconds(value: f64) -> String {
        format!("{value:.1} s")
    }

    #[test]
    fn dots_are_inside_of_the_plot_whatever_the_numbers() {
        let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, f64::MIN_POSITIVE];
        let points: Vec<Point> =
            odd.iter().flat_map(|took| odd.iter().map(|score| point(*took, *score, true))).collect();
        let plot = Scatter::new("t", points, seconds).unwrap();
        assert!(!plot.dots.is_empty());
        for Dot { x, y, .. } in &plot.dots {
            assert!((0.0..=WIDTH).contains(x) && (0.0..=HEIGHT).contains(y), "{plot:?}");
        }
        assert!(Scatter::new("t", vec![point(1.0, 1.0, true)], seconds).is_none());
    }

    #[test]
    fn dots_stand_at_what_a_case_took_and_at_its_score() {
        let places = |points: &[(f64, f64)]| {
            let points = points.iter().map(|(took, score)| point(*took, *score, true)).collect();
            let plot = Scatter::new("t", points, seconds).unwrap();
            let dots = plot.dots.iter().map(|dot| (dot.x, dot.y, dot.label.clone())).collect::<Vec<_>>();
            (dots, plot.low, plot.high, plot.summary)
        };
        let (dots, low, high, summary) = places(&[(1.0, 0.0), (4.0, 1.0), (2.0, 0.5), (1.0, 0.0)]);
        let dot = |x, y, label: &str| (x, y, label.to_owned());
        let first = dot(61.5, 57.0, "a: 1.0 s, score 0");
        assert_eq!(
            dots,
            [
                first.clone(),
                dot(237.0, 3.0, "a: 4.0 s, score 1"),
                dot(120.0, 30.0, "a: 2.0 s, score 0.5"),
                first
            ]
        );
        assert_eq!((low.as_str(), high.as_str()), ("0.0 s", "4.0 s"));
        assert_eq!(summary, "median 2.0 s, most 4.0 s, mean 2.0 s");
        // Nothing took any time, and scores below 0 and above 1 widen the axis.
        let (dots, ..) = places(&[(0.0, -1.0), (0.0, 3.0), (0.0, 1.0)]);
        assert_eq!(
            dots.iter().map(|(x, y, _)| (*x, *y)).collect::<Vec<_>>(),
            [(3.0, 57.0), (3.0, 3.0), (3.0, 30.0)]
        );
        // What is no time and no score is left out, and one point alone is no plot.
        assert_eq!(
            places(&[(-0.5, 1.0), (0.0, 1.0), (1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)]).0.len(),
            2
        );
        assert!(Scatter::new("t", vec![point(1.0, 1.0, true), point(-1.0, 1.0, true)], seconds).is_none());
    }

    #[test]
    fn points_are_shared_where_there_are_more_than_can_be_told_apart() {
        let plot = |count| {
            let mut points = vec![point(2.0, 1.0, true); count - 1];
            points.push(point(1.0, 0.5, true));
            Scatter::new("t", points, seconds).unwrap().dots
        };
        assert_eq!(plot(MAX_SINGLE_POINTS).len(), MAX_SINGLE_POINTS);
        let shared = plot(MAX_SINGLE_POINTS + 1);
        let told: Vec<_> = shared.iter().map(|dot| (dot.x, dot.y, dot.label.as_str())).collect();
        assert_eq!(
            told,
            [(120.0, 30.0, "a: 1.0 s, score 0.5"), (237.0, 3.0, "a: 2.0 s, score 1, and 299 more")]
        );
    }

    #[test]
    fn many_cases_share_points_and_none_that_failed_is_hidden() {
        let mut points: Vec<Point> =
            (0..10_000_u32).map(|at| point(f64::from(at % 7), f64::from(at % 3) / 2.0, true)).collect();
        points.push(point(3.0, 0.5, false));
        let plot = Scatter::new("t", points, seconds).unwrap();
        assert!(plot.dots.len() <= 21, "{}", plot.dots.len());
        assert_eq!(plot.dots.iter().filter(|dot| !dot.passed).count(), 1);
        assert_eq!(plot.summary, "median 3.0 s, most 6.0 s, mean 3.0 s");
        assert!(plot.dots.iter().all(|dot| dot.label.contains(" more")));
    }
}
