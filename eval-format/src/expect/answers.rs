//! Checks of demands: whether they contradict each other, and whether the golden answer fulfils them.

use super::answer::{Demands, Unfulfilled, json_in};
use super::fault::Faults;
use super::matcher::{fold, quoted};
use super::pattern::Pattern;
use crate::problem::ProblemCode;

const CODE: ProblemCode = ProblemCode::Matcher;

pub(super) fn check(demands: &Demands, golden: &str, faults: &mut Faults) {
    let before = faults.found.len();
    contradictions(demands, faults);
    if faults.found.len() > before || golden.trim().is_empty() {
        return;
    }
    for unfulfilled in demands.check(golden) {
        faults.at(unfulfilled.demand, |faults| {
            let message =
                format!("the expected answer does not fulfil `{}`: it {unfulfilled}", unfulfilled.demand);
            let fault = faults.value(CODE, message, "the expected answer would fail").warning();
            fault.help("change the demand, or the `final_response` of the turn");
        });
    }
}

fn contradictions(demands: &Demands, faults: &mut Faults) {
    let lacks: Vec<String> = demands.lacks.iter().map(|text| fold(text)).collect();
    let hit = |text: &String| {
        let folded = fold(text);
        lacks.iter().position(|lacked| folded.contains(lacked)).map(|at| &demands.lacks[at])
    };
    let all_hit =
        !demands.contains_any.is_empty() && demands.contains_any.iter().all(|text| hit(text).is_some());
    let of_any = demands.contains_any.iter().filter(|_| all_hit);
    if let Some((wanted, unwanted)) =
        demands.contains.iter().chain(of_any).find_map(|text| Some((text, hit(text)?)))
    {
        let (wanted, unwanted) = (std::slice::from_ref(wanted), std::slice::from_ref(unwanted));
        let message = format!("no answer has {} and lacks {}", quoted(wanted), quoted(unwanted));
        faults.at("lacks", |faults| {
            faults.value(CODE, message, "contradicts what is demanded too").help("remove one of the two");
        });
        return;
    }
    let others = Demands { is: Vec::new(), ..demands.clone() };
    let refused: Option<Vec<Unfulfilled>> =
        demands.is.iter().map(|text| unfulfilled(&others, text)).collect();
    if let Some(reason) = refused.as_ref().and_then(|refused| refused.first()) {
        let message = format!("no answer is {} and fulfils `{}`", quoted(&demands.is), reason.demand);
        faults.at("is", |faults| {
            faults.value(CODE, message, "contradicts what is demanded too").help("remove one of the two");
        });
    }
}

/// A demand that a text does not fulfil in any case and with any white space, as `is` takes it; `None` if it may fulfil all.
fn unfulfilled(others: &Demands, text: &str) -> Option<Unfulfilled> {
    let in_cases = [text.to_owned(), text.to_lowercase(), text.to_uppercase()];
    let spellings: Vec<String> =
        in_cases.iter().flat_map(|text| [" ", "\n", "  "].map(|blank| text.replace(' ', blank))).collect();
    let in_any_case = |pattern: &Pattern| Pattern::new(&format!("(?i){}", pattern.as_str())).ok();
    let finds = |pattern: &Pattern| {
        let loose = in_any_case(pattern);
        spellings
            .iter()
            .any(|text| pattern.finds(text) || loose.as_ref().is_none_or(|loose| loose.finds(text)))
    };
    let is_json = || spellings.iter().any(|text| json_in(text).is_ok());
    let others = Demands {
        regex: others.regex.iter().filter(|pattern| !finds(pattern)).cloned().collect(),
        // JSON has keys and texts in either case.
        json: if is_json() { Vec::new() } else { others.json.clone() },
        ..others.clone()
    };
    others.check(text).into_iter().next()
}
