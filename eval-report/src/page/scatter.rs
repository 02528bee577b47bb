//! What the cases took, against how well they did.

use std::collections::BTreeMap;

use super::plot::{HEIGHT, WIDTH, as_f64, end};

/// A point for each case: what it took from left to right, its score from the bottom to the top.
#[derive(Clone, Debug)]
pub struct Scatter {
    pub title: &'static str,
    pub dots: Vec<Dot>,
    /// The ends of the axis.
    pub low: String,
    pub high: String,
    /// The plot in a sentence.
    pub summary: String,
}

#[derive(Clone, Debug)]
pub struct Dot {
    pub x: f64,
    pub y: f64,
    pub passed: bool,
    /// The case, or how many.
    pub label: String,
    /// The anchor of the case, or of the first one.
    pub anchor: String,
}

/// A case of a plot.
#[derive(Clone, Debug)]
pub struct Point {
    pub took: f64,
    pub score: f64,
    pub passed: bool,
    pub name: String,
    pub anchor: String,
}

/// More cases than this share points.
const MOST: usize = 300;
/// The places of points that are shared.
const PLACES: (f64, f64) = (48.0, 16.0);

impl Scatter {
    /// `None` for fewer than two cases: a point alone says less than its row. `unit` shows what a case took.
    pub fn of(title: &'static str, points: Vec<Point>, unit: impl Fn(f64) -> String) -> Option<Self> {
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
        let dots = if points.len() <= MOST {
            points.iter().map(|it| dot((x(it.took), y(it.score)), it, said(it))).collect()
        } else {
            let mut places: BTreeMap<(u16, u16), (&Point, usize)> = BTreeMap::new();
            for point in &points {
                let place = (place(x(point.took), PLACES.0), place(y(point.score), PLACES.1));
                let (first, count) = places.entry(place).or_insert((point, 0));
                // A case that did not pass is not to hide behind one that did.
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
                dot((f64::from(x) / PLACES.0, f64::from(y) / PLACES.1), first, label)
            });
            shared.collect()
        };
        let mut all: Vec<f64> = points.iter().map(|it| it.took).collect();
        all.sort_by(f64::total_cmp);
        let total = all.iter().sum::<f64>();
        let summary = format!(
            "median {}, most {}, mean {}",
            unit(all[all.len() / 2]),
            unit(right),
            unit(total / as_f64(all.len()))
        );
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
        let plot = Scatter::of("t", points, seconds).unwrap();
        assert!(!plot.dots.is_empty());
        for Dot { x, y, .. } in &plot.dots {
            assert!((0.0..=WIDTH).contains(x) && (0.0..=HEIGHT).contains(y), "{plot:?}");
        }
        assert!(Scatter::of("t", vec![point(1.0, 1.0, true)], seconds).is_none());
    }

    #[test]
    fn many_cases_share_points_and_none_that_failed_is_hidden() {
        let mut points: Vec<Point> =
            (0..10_000_u32).map(|at| point(f64::from(at % 7), f64::from(at % 3) / 2.0, true)).collect();
        points.push(point(3.0, 0.5, false));
        let plot = Scatter::of("t", points, seconds).unwrap();
        assert!(plot.dots.len() <= 21, "{}", plot.dots.len());
        assert_eq!(plot.dots.iter().filter(|dot| !dot.passed).count(), 1);
        assert_eq!(plot.summary, "median 3.0 s, most 6.0 s, mean 3.0 s");
        assert!(plot.dots.iter().all(|dot| dot.label.contains(" more")));
    }
}
