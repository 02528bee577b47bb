//! Golden values against their own matchers: a rule that the golden value breaks is a mistake.

use super::fault::Faults;
use super::matcher::{Matcher, Tolerance, finite, show};
use crate::problem::ProblemCode;
use crate::value::Value;

const CODE: ProblemCode = ProblemCode::Matcher;

/// Checks a matcher against the golden values that its path names; none if the golden call has no such argument.
pub(super) fn check(faults: &mut Faults, matcher: &Matcher, golden: &[&Value]) {
    let inner = matcher.unwrapped();
    if golden.is_empty() && inner.reads_golden() {
        let message = format!("`{}` compares with the expected value, and there is none", inner.name());
        faults
            .value(CODE, message, "nothing to compare with")
            .help("write another matcher, or the expected value");
        return;
    }
    for value in golden {
        if let Some(reason) = misfit(inner, value) {
            let fault = faults.value(CODE, reason, "the expected value does not fulfil this");
            fault.help(format!("change the matcher, or the expected value in the turn: {}", show(value)));
            return;
        }
        if let Matcher::Within(Tolerance::Percent(share)) = inner
            && value.as_f64() == Some(0.0)
        {
            let message = format!("{share} % of the expected value 0 is 0");
            let fault = faults.value(CODE, message, "takes 0 alone").warning();
            fault.help("write the distance as a number");
            return;
        }
    }
}

fn misfit(matcher: &Matcher, golden: &Value) -> Option<String> {
    let wanted = match (matcher, golden) {
        (Matcher::Optional(_), _)
        | (Matcher::Unordered | Matcher::AtLeast, Value::Array(_))
        | (Matcher::AtLeast, Value::Object(_)) => return None,
        (Matcher::Unordered, _) => "no list",
        (Matcher::AtLeast, _) => "no list and no object",
        (Matcher::Within(_), golden) if finite(golden).is_none() => "no number",
        (Matcher::IgnoreCase, golden) if golden.as_str().is_none() => "no text",
        _ if matcher.takes(Some(golden), golden) => return None,
        _ => {
            let reason = matcher.reason(Some(golden), golden);
            return Some(format!("the expected value does not fulfil `{}`: it {reason}", matcher.name()));
        }
    };
    Some(format!("`{}` cannot hold: the expected value is {wanted}", matcher.name()))
}
