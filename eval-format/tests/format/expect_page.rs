//! The examples of `docs/expect.md`: each is a case without a problem.

use std::fs;
use std::path::Path;

use eval_format::expect::Loosened;
use eval_format::reader::check_set;

#[test]
fn each_example_of_the_page_is_a_case_without_a_problem() {
    // The package of the crate is without the pages of the project.
    let Ok(page) = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/expect.md")) else {
        return;
    };
    let examples: Vec<&str> =
        page.split("```json\n").skip(1).filter_map(|rest| Some(rest.split_once("```\n")?.0)).collect();
    let mut cases = Vec::new();
    for example in &examples {
        let text = format!(r#"{{"eval_set_id": "s", "eval_cases": [{example}]}}"#);
        let checked = check_set("docs/expect.md", text.as_bytes(), None);
        assert!(checked.problems.is_empty(), "{example}\n{:?}", checked.problems);
        cases.extend(checked.set.expect("it has no problems").eval_cases);
    }
    let wishes = cases.iter().filter(|case| case.eval_id.starts_with("wish "));
    assert_eq!(wishes.count(), 20);
    assert!(cases.iter().all(|case| case.expect().is_some()));
    let counted = Loosened::in_cases(&cases[..1]).to_string();
    assert!(page.contains(&format!("`loosened: {counted}`")), "{counted}");
}
