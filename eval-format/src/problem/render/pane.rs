//! Excerpts of the text: short lines around the places of a problem.

use std::ops::Range;

use super::place::Place;
use crate::problem::finding::Problem;

pub(super) const MAX_RELATED_PLACES: usize = 4;

/// Two places up to this many lines apart share a pane.
const MAX_LINES_APART: usize = 40;

/// The widest line that is shown whole. Rustc moves the block to the right by some ten columns.
const MAX_COLUMNS: usize = 110;

/// The most columns that a cut line shows before the marked part, and of that part. The remaining columns
/// show the text after it.
const WIDEST_LEAD: usize = 45;
const WIDEST_MARK: usize = 45;

const DOTS: &str = "...";

/// A few lines and the marks in them.
pub(super) struct Pane {
    /// Line and column of the first mark in the file.
    pub(super) place: (usize, usize),
    pub(super) first_line: usize,
    pub(super) source: String,
    pub(super) marks: Vec<Mark>,
    pub(super) cut: bool,
    lines: usize,
}

pub(super) struct Mark {
    pub(super) primary: bool,
    pub(super) range: Range<usize>,
    pub(super) label: String,
}

impl Pane {
    pub(super) fn last_line(&self) -> usize {
        self.first_line + self.lines - 1
    }
}

/// The panes of a problem. The pane with the primary place is first.
pub(super) fn of(problem: &Problem, text: &str) -> Vec<Pane> {
    let primary = Spot { place: Place::new(text, &problem.range), label: &problem.label, primary: true };
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for (range, label) in problem.related.iter().take(MAX_RELATED_PLACES) {
        let spot = Spot { place: Place::new(text, range), label, primary: false };
        if spot.shares_pane(&primary, text) { near.push(spot) } else { far.push(spot) }
    }
    let mut panes = Vec::with_capacity(1 + far.len());
    if near.is_empty() {
        panes.push(alone(primary, text));
    } else {
        near.insert(0, primary);
        panes.push(whole_lines(near, text));
    }
    for spot in far {
        panes.push(alone(spot, text));
    }
    panes
}

fn alone(spot: Spot<'_>, text: &str) -> Pane {
    if spot.is_whole(text) { whole_lines(vec![spot], text) } else { cut_line(&spot, text) }
}

struct Spot<'a> {
    place: Place,
    label: &'a str,
    primary: bool,
}

impl Spot<'_> {
    fn is_whole(&self, text: &str) -> bool {
        fitting(text[self.place.line_range.clone()].chars(), MAX_COLUMNS) == self.place.line_range.len()
    }

    /// The renderer drops an empty line at the end of its source, so a place in such a line gets a pane of its own.
    fn shares_pane(&self, other: &Self, text: &str) -> bool {
        let shares = |spot: &Self| !spot.place.line_range.is_empty() && spot.is_whole(text);
        self.place.line.abs_diff(other.place.line) <= MAX_LINES_APART && shares(self) && shares(other)
    }
}

/// The lines from the first to the last of some spots near each other.
fn whole_lines(spots: Vec<Spot<'_>>, text: &str) -> Pane {
    let first = spots.iter().map(|spot| spot.place.line).min().unwrap_or(1);
    let start = spots.iter().map(|spot| spot.place.line_range.start).min().unwrap_or(0);
    let end = spots.iter().map(|spot| spot.place.line_range.end).max().unwrap_or(0);
    let mut source = String::new();
    let mut line_starts = Vec::new();
    for (at, line) in text[start..end].split('\n').enumerate() {
        if at > 0 {
            source.push('\n');
        }
        line_starts.push(source.len());
        let line = line.trim_end_matches('\r');
        // Only a line between two marked ones can be too wide here.
        let shown = fitting(line.chars(), MAX_COLUMNS);
        source.push_str(&line[..shown]);
        if shown < line.len() {
            source.push_str(DOTS);
        }
    }
    let place = spots.first().map_or((1, 1), |spot| (spot.place.line, spot.place.column));
    let mut marks = Vec::with_capacity(spots.len());
    for Spot { place, label, primary } in spots {
        let line_start = line_starts.get(place.line - first).copied().unwrap_or(0);
        let in_source = |at: usize| line_start + (at - place.line_range.start);
        let range = in_source(place.mark.start)..in_source(place.mark.end);
        marks.push(Mark { primary, range, label: label.to_owned() });
    }
    Pane { place, first_line: first, source, marks, cut: false, lines: line_starts.len() }
}

/// The part of a long line around a spot, with `...` for the rest.
fn cut_line(spot: &Spot<'_>, text: &str) -> Pane {
    let Place { line, column, line_range, mark } = &spot.place;
    let start = mark.start - fitting(text[line_range.start..mark.start].chars().rev(), WIDEST_LEAD);
    let mark_end = mark.start + fitting(text[mark.clone()].chars(), WIDEST_MARK);
    // If the mark itself is cut, text after it would look like its end.
    let rest = if mark_end < mark.end { mark_end } else { line_range.end };
    let end = start + fitting(text[start..rest].chars(), MAX_COLUMNS);

    let mut source = String::new();
    if start > line_range.start {
        source.push_str(DOTS);
    }
    let moved = source.len();
    source.push_str(&text[start..end]);
    if end < line_range.end {
        source.push_str(DOTS);
    }
    let range = mark.start - start + moved..mark_end - start + moved;
    let marks = vec![Mark { primary: spot.primary, range, label: spot.label.to_owned() }];
    Pane { place: (*line, *column), first_line: *line, source, marks, cut: true, lines: 1 }
}

/// The length in bytes of the first characters that fit into a number of columns.
fn fitting(chars: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut used = 0;
    let fits = |c: &char| {
        used += char_width(*c);
        used <= columns
    };
    chars.take_while(fits).map(char::len_utf8).sum()
}

/// The most columns that a character may take on a terminal.
fn char_width(c: char) -> usize {
    match c {
        '\t' => 4,
        c if c.is_ascii() => 1,
        _ => 2,
    }
}
