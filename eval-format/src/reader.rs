//! Stand-in.
#![allow(missing_docs, clippy::all, clippy::pedantic)]
use crate::*;
use std::ops::Range;
#[derive(Debug)]
pub struct CheckedSet {
    pub file: String,
    pub text: String,
    pub form: Form,
    pub set: Option<EvalSet>,
    pub cases: Vec<CasePlace>,
    pub problems: Vec<Problem>,
    pub session_problems: Vec<Problem>,
}
#[derive(Clone, Debug)]
pub struct CasePlace {
    pub eval_id: String,
    pub id_range: Range<usize>,
    pub range: Range<usize>,
    pub line: usize,
    pub column: usize,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    EvalSet,
    TestFile,
    OldEvalSet,
}
pub fn check_set(file: &str, bytes: &[u8], _session: Option<(&str, &[u8])>) -> CheckedSet {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut problems = Vec::new();
    let mut cases = Vec::new();
    match crate::syntax::parse(&text, &mut problems) {
        Err(p) => problems.push(*p),
        Ok(node) => {
            for case in node.get("eval_cases").and_then(|e| e.value.array()).unwrap_or(&[]) {
                let id = case.get("eval_id").unwrap();
                let (line, column) = line_column(&text, case.range.start);
                cases.push(CasePlace {
                    eval_id: id.value.string().unwrap().into(),
                    id_range: id.value.range.clone(),
                    range: case.range.clone(),
                    line,
                    column,
                });
            }
        }
    }
    CheckedSet {
        file: file.into(),
        form: Form::EvalSet,
        set: None,
        cases,
        problems,
        text,
        session_problems: Vec::new(),
    }
}
pub fn file_stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".evalset.json")
        .or(name.strip_suffix(".test.json"))
        .or(name.strip_suffix(".json"))
        .unwrap_or(name)
}
