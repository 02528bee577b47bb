//! Points at which a case says what may vary.

use eval_format::Value;
use eval_format::expect::Point;

/// A point at which a case says what may vary: a rule of its key `_expect`, as a metric applied it to a turn.
///
/// ```
/// use eval_core::metric::LoosenedPoint;
///
/// # fn show(score: &eval_core::Score) {
/// for LoosenedPoint { call, path, matcher, needed, .. } in score.loosened() {
///     println!("{call:?} {path:?}: {matcher}{}", if *needed { ", and it was needed" } else { "" });
/// }
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LoosenedPoint {
    /// The expected call, as `_expect` names it: `search#2`; `None` for a rule of the whole turn.
    pub call: Option<String>,
    /// The argument, as `_expect` names it: `steps[0].order`; `None` for a rule of the whole call or turn.
    pub path: Option<String>,
    /// The rule, in the notation of `_expect`: `any`, `{"within":0.5}`; for a rule of a turn with its key: `order: any`.
    pub matcher: String,
    /// Whether the call or the turn, as it was, does not match without the rule. It is `true` for each rule of a call that
    /// does not match at all.
    pub needed: bool,
}

impl LoosenedPoint {
    /// A point of an expected call or response, by its name in `_expect`.
    pub(crate) fn of(name: &str, point: &Point, needed: bool) -> Self {
        Self {
            call: Some(name.to_owned()),
            path: Some(point.path.clone()).filter(|path| !path.is_empty()),
            matcher: word(&point.matcher.to_value()),
            needed,
        }
    }

    /// The point in one line: `search#2 q: {"contains":"visa"}`.
    pub fn name(&self) -> String {
        let place: Vec<&str> = [&self.call, &self.path].into_iter().flatten().map(String::as_str).collect();
        if place.is_empty() { self.matcher.clone() } else { format!("{}: {}", place.join(" "), self.matcher) }
    }
}

/// A matcher in the notation; a word without its quotes.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
