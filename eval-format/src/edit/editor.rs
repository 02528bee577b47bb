//! The editor of sets.

use std::collections::HashSet;

use eval_support::spelling::suggest;

use super::edit_error::EditError;
use super::layout::{self, Slot};
use super::redraft;
use super::sections::{Item, Sections, without};
use super::spelling::Style;
use crate::meaning::Meaning;
use crate::model::{DRAFT, EvalCase, EvalSet};
use crate::problem::{Problem, ProblemCode, Problems};
use crate::reader::{CheckedSet, NO_FILE, SetFormat, check_set, model_of};
use crate::schema::EVAL_CASE;
use crate::syntax::{Entry, Node, parse};
use crate::value::{Value, print};

/// Changes the cases of a set in its text, and no other byte of it: text in, text out.
///
/// A new case takes the layout and the spelling of the case before it: indentation, ends of lines, everything
/// on one line, camelCase. The [module](crate::edit) has an example.
#[derive(Clone, Debug)]
pub struct SetEditor {
    file: String,
    form: SetFormat,
    eval_set_id: String,
    cases: Sections<EvalCase>,
    ids: HashSet<String>,
}

impl SetEditor {
    /// An editor of the text of a set, in any of the forms that are read.
    ///
    /// It fails as [`EvalSet::parse`](crate::EvalSet::parse) does, with one exception: a set without cases is accepted,
    /// as cases can be added to it.
    ///
    /// ```
    /// use eval_format::SetEditor;
    ///
    /// assert!(SetEditor::new(r#"{"eval_set_id": "s", "eval_cases": []}"#).is_ok());
    /// let problems = SetEditor::new(r#"{"eval_set_id": "s"}"#).unwrap_err();
    /// assert!(problems.to_string().contains("`eval_cases`"));
    /// ```
    pub fn new(text: &str) -> Result<Self, Problems> {
        Self::of_file(NO_FILE, text.as_bytes())
    }

    /// An editor of the bytes of a file. `file` is its name in messages; the case of an old test file is named after
    /// it.
    pub fn of_file(file: &str, bytes: &[u8]) -> Result<Self, Problems> {
        let mut checked = check_set(file, bytes, None);
        let is_fit = |problem: &Problem| {
            !problem.is_error() || problem.code == ProblemCode::NoCases && checked.form == SetFormat::EvalSet
        };
        if !checked.problems.iter().all(is_fit) {
            return Err(refused(checked));
        }
        let set = checked.set.take();
        let cut = parse(&checked.text, &mut Vec::new()).ok().and_then(|root| cut(&checked, set, &root));
        let Some((eval_set_id, cases)) = cut else { return Err(refused(checked)) };
        let ids = cases.items.iter().map(|item| item.meaning.eval_id.clone()).collect();
        Ok(Self { file: checked.file, form: checked.form, eval_set_id, cases, ids })
    }

    /// A set without cases, as ADK lays it out.
    ///
    /// ```
    /// use eval_format::SetEditor;
    ///
    /// let text = "{\n  \"eval_set_id\": \"weather\",\n  \"eval_cases\": []\n}\n";
    /// assert_eq!(SetEditor::create("weather").text(), text);
    /// ```
    pub fn create(eval_set_id: impl Into<String>) -> Self {
        let eval_set_id = eval_set_id.into();
        let head = format!("{{\n  \"eval_set_id\": {},\n  \"eval_cases\": [", Value::from(&eval_set_id));
        Self {
            file: NO_FILE.to_owned(),
            form: SetFormat::EvalSet,
            eval_set_id,
            cases: Sections { head, items: Vec::new(), tail: "]\n}\n".to_owned() },
            ids: HashSet::new(),
        }
    }

    /// The id of the set.
    pub fn eval_set_id(&self) -> &str {
        &self.eval_set_id
    }

    /// The form that the file is written in.
    pub fn form(&self) -> SetFormat {
        self.form
    }

    /// The cases, in the order of the file.
    pub fn cases(&self) -> impl DoubleEndedIterator<Item = &EvalCase> + ExactSizeIterator {
        self.cases.items.iter().map(|item| &item.meaning)
    }

    /// The case with an id.
    pub fn case(&self, eval_id: &str) -> Option<&EvalCase> {
        self.cases().find(|case| case.eval_id == eval_id)
    }

    /// The ids of the cases, in the order of the file.
    pub fn case_ids(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.cases().map(|case| case.eval_id.as_str())
    }

    /// The ids of the cases that are drafts, in the order of the file. See [`EvalCase::draft`].
    pub fn drafts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.cases().filter(|case| case.draft().is_some()).map(|case| case.eval_id.as_str())
    }

    /// An id that no case has: this one, or else one with a number: `sunny_2`.
    ///
    /// ```
    /// use eval_format::{EvalCase, Invocation, SetEditor};
    ///
    /// let mut editor = SetEditor::create("weather");
    /// assert_eq!(editor.free_id("sunny"), "sunny");
    /// editor.add_case(&EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?")))?;
    /// assert_eq!(editor.free_id("sunny"), "sunny_2");
    /// # Ok::<(), eval_format::EditError>(())
    /// ```
    pub fn free_id(&self, eval_id: &str) -> String {
        if !self.ids.contains(eval_id) {
            return eval_id.to_owned();
        }
        let numbered = |number: usize| format!("{eval_id}_{number}");
        let is_taken = |number: usize| self.ids.contains(&numbered(number));
        // Many cases may have ids with this beginning, so the numbers are not tried one by one.
        let (mut taken, mut free) = (1, 2);
        while is_taken(free) {
            (taken, free) = (free, free * 2);
        }
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2;
            if is_taken(middle) { taken = middle } else { free = middle }
        }
        numbered(free)
    }

    /// Adds a case at the end. Its id must be free; it must have no errors.
    ///
    /// A case cannot be added to a file in one of ADK's old forms.
    pub fn add_case(&mut self, case: &EvalCase) -> Result<(), EditError> {
        self.expect_present_form()?;
        self.expect_free(&case.eval_id)?;
        case.check().map_err(EditError::Case)?;
        let (slot, style, end) = self.slot();
        let text = print(&style.spell(case.clone().with_finite_times().to_value()), &slot.layout);
        // The case is kept as a reader of the file will read it.
        let meaning = EvalCase::parse(&text).map_err(EditError::Case)?;
        let after = match self.cases.items.last_mut() {
            Some(last) => std::mem::replace(&mut last.after, slot.after_last),
            None => {
                self.cases.tail = self.cases.tail.trim_start().to_owned();
                end
            }
        };
        self.ids.insert(meaning.eval_id.clone());
        self.cases.items.push(Item { before: slot.before, text, after, meaning });
        Ok(())
    }

    /// Takes a case out. A set may be left without cases; its tests do not compile until it has some.
    ///
    /// ```
    /// use eval_format::{EvalCase, Invocation, SetEditor};
    ///
    /// let mut editor = SetEditor::create("weather");
    /// editor.add_case(&EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?")))?;
    /// let error = editor.remove_case("suny").unwrap_err();
    /// assert_eq!(error.to_string(), "the set has no case `suny`; did you mean `sunny`?");
    /// editor.remove_case("sunny")?;
    /// assert_eq!(editor.case_ids().len(), 0);
    /// # Ok::<(), eval_format::EditError>(())
    /// ```
    pub fn remove_case(&mut self, eval_id: &str) -> Result<EvalCase, EditError> {
        self.expect_cases()?;
        let at = self.position(eval_id)?;
        if self.form == SetFormat::OldEvalSet && self.cases.items.len() == 1 {
            // An empty array would be read as a test file.
            return Err(self.old_form());
        }
        self.ids.remove(eval_id);
        let removed = self.cases.remove(at);
        Ok(removed)
    }

    /// Gives a case another id, which must be free.
    pub fn rename_case(&mut self, eval_id: &str, new_id: &str) -> Result<(), EditError> {
        self.expect_cases()?;
        let at = self.position(eval_id)?;
        if eval_id == new_id {
            return Ok(());
        }
        if new_id.is_empty() {
            return Err(EditError::EmptyId);
        }
        self.expect_free(new_id)?;
        let item = &mut self.cases.items[at];
        let root = parse(&item.text, &mut Vec::new()).ok();
        let entry = root.as_ref().and_then(|case| match self.form {
            SetFormat::OldEvalSet => case.get("name"),
            SetFormat::EvalSet | SetFormat::TestFile => EVAL_CASE.entry(case.object()?, "eval_id"),
        });
        let Some(range) = entry.map(|entry| entry.value.range.clone()) else {
            return Err(unknown(eval_id, None));
        };
        item.text.replace_range(range, &Value::from(new_id).to_string());
        new_id.clone_into(&mut item.meaning.eval_id);
        self.ids.remove(eval_id);
        self.ids.insert(new_id.to_owned());
        Ok(())
    }

    /// Makes a draft a golden: takes its key `_draft` out. See [`EvalCase::draft`].
    ///
    /// ```
    /// use eval_format::{EvalCase, Invocation, SetEditor};
    ///
    /// let mut editor = SetEditor::create("weather");
    /// editor.add_case(&EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?")))?;
    /// assert_eq!(editor.accept("sunny").unwrap_err().to_string(), "the case `sunny` is no draft");
    /// # Ok::<(), eval_format::EditError>(())
    /// ```
    pub fn accept(&mut self, eval_id: &str) -> Result<(), EditError> {
        let at = self.position(eval_id)?;
        let item = &mut self.cases.items[at];
        let accepted = item.meaning.draft().is_some().then(|| without(&item.text, DRAFT)).flatten();
        item.text = accepted.ok_or_else(|| EditError::NotADraft { eval_id: eval_id.to_owned() })?;
        item.meaning.extra.remove(DRAFT);
        Ok(())
    }

    /// Gives the case with the same id other expectations, as a draft: answers, what happened on the way to them, the state at
    /// the end, and the mark of the draft. All other bytes of the case stay.
    ///
    /// The case must be a draft, and ask the same. It must have no errors.
    ///
    /// ```
    /// use eval_format::{EvalCase, Invocation, Map, SetEditor};
    ///
    /// let text = r#"{"eval_set_id": "s", "eval_cases": [
    ///   {"eval_id": "a", "_note": "ours", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "Hello!"}]}}]}
    /// ]}"#;
    /// let mut editor = SetEditor::new(text)?;
    /// let mut case = editor.case("a").unwrap().clone().with_draft(Map::from([("from", "run 7")]));
    /// case.conversation[0] = case.conversation[0].clone().response("Good day!");
    /// editor.redraft(&case)?;
    /// assert_eq!(editor.drafts().collect::<Vec<_>>(), ["a"]);
    /// editor.accept("a")?;
    /// assert!(editor.text().contains(r#""_note": "ours""#) && editor.text().contains("Good day!"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn redraft(&mut self, case: &EvalCase) -> Result<(), EditError> {
        self.expect_present_form()?;
        let at = self.position(&case.eval_id)?;
        let old = &self.cases.items[at];
        if case.draft().is_none() || Meaning::from_case(case).asks != Meaning::from_case(&old.meaning).asks {
            return Err(EditError::NotTheSame { eval_id: case.eval_id.clone() });
        }
        self.rewrite(at, case)
    }

    /// Gives the draft with the same id other messages of the user and other expectations, as [`redraft`](Self::redraft) does.
    /// Its turns are as many as before. It must have no errors.
    ///
    /// ```
    /// use eval_format::{Content, SetEditor};
    ///
    /// let text = r#"{"eval_set_id": "s", "eval_cases": [
    ///   {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}], "_draft": {"from":  "chat"}}
    /// ]}"#;
    /// let mut editor = SetEditor::new(text)?;
    /// let mut case = editor.case("a").unwrap().clone();
    /// case.conversation[0].user_content = Content::user("Good day");
    /// editor.edit_draft(&case)?;
    /// assert!(editor.text().contains("Good day") && editor.text().contains(r#""_draft": {"from":  "chat"}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn edit_draft(&mut self, case: &EvalCase) -> Result<(), EditError> {
        self.expect_present_form()?;
        let at = self.position(&case.eval_id)?;
        if case.draft().is_none() || self.cases.items[at].meaning.draft().is_none() {
            return Err(EditError::NotADraft { eval_id: case.eval_id.clone() });
        }
        self.rewrite(at, case)
    }

    /// Gives the golden with the same id other expectations: answers, what happened on the way to them, the state at the end, what
    /// may vary (`_expect`) and the criteria of the case (`_criteria`). All other bytes of the case stay.
    ///
    /// The case must be no draft before or after, and ask the same. It must have no errors.
    ///
    /// ```
    /// use eval_format::SetEditor;
    ///
    /// let text = r#"{"eval_set_id": "s", "eval_cases": [
    ///   {"eval_id": "a", "_note":  "ours", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "Hello!"}], "role": "model"}}]}
    /// ]}"#;
    /// let mut editor = SetEditor::new(text)?;
    /// let mut case = editor.case("a").unwrap().clone();
    /// case.conversation[0] = case.conversation[0].clone().response("Good day!");
    /// editor.revise(&case)?;
    /// assert_eq!(editor.text(), text.replace("Hello!", "Good day!"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn revise(&mut self, case: &EvalCase) -> Result<(), EditError> {
        self.expect_present_form()?;
        let at = self.position(&case.eval_id)?;
        let old = &self.cases.items[at].meaning;
        let is_draft = case.draft().is_some() || old.draft().is_some();
        if is_draft || Meaning::from_case(case).asks != Meaning::from_case(old).asks {
            return Err(EditError::NotTheSame { eval_id: case.eval_id.clone() });
        }
        self.rewrite(at, case)
    }

    /// The text of the case with an id, as the file has it.
    pub fn case_text(&self, eval_id: &str) -> Option<&str> {
        self.cases.items.iter().find(|item| item.meaning.eval_id == eval_id).map(|item| item.text.as_str())
    }

    /// Puts another text in place of the case with an id. The text is a case with this id, and has no errors.
    ///
    /// ```
    /// use eval_format::SetEditor;
    ///
    /// let text = r#"{"eval_set_id": "s", "eval_cases": [
    ///   {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}
    /// ]}"#;
    /// let mut editor = SetEditor::new(text)?;
    /// let case = editor.case_text("a").unwrap().replace("Hi", "Good day");
    /// editor.set_case_text("a", &case)?;
    /// assert_eq!(editor.text(), text.replace("Hi", "Good day"));
    /// assert!(editor.set_case_text("a", &case.replace(r#""a""#, r#""b""#)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_case_text(&mut self, eval_id: &str, text: &str) -> Result<(), EditError> {
        self.expect_present_form()?;
        let at = self.position(eval_id)?;
        let meaning = EvalCase::parse(text).map_err(EditError::Case)?;
        if meaning.eval_id != eval_id {
            return Err(unknown(&meaning.eval_id, Some(eval_id)));
        }
        let item = &mut self.cases.items[at];
        (item.text, item.meaning) = (text.to_owned(), meaning);
        Ok(())
    }

    fn rewrite(&mut self, at: usize, case: &EvalCase) -> Result<(), EditError> {
        case.check().map_err(EditError::Case)?;
        let old = &self.cases.items[at];
        let text = redraft::text(&old.text, &old.meaning, case)
            .ok_or_else(|| EditError::NotTheSame { eval_id: case.eval_id.clone() })?;
        // The case is kept as a reader of the file will read it.
        let meaning = EvalCase::parse(&text).map_err(EditError::Case)?;
        let item = &mut self.cases.items[at];
        (item.text, item.meaning) = (text, meaning);
        Ok(())
    }

    /// The text of the set.
    pub fn text(&self) -> String {
        self.cases.text()
    }

    /// The text of the set.
    pub fn into_text(self) -> String {
        self.text()
    }

    fn position(&self, eval_id: &str) -> Result<usize, EditError> {
        let found = self.case_ids().position(|id| id == eval_id);
        found.ok_or_else(|| unknown(eval_id, suggest(eval_id, self.case_ids())))
    }

    fn expect_free(&self, eval_id: &str) -> Result<(), EditError> {
        if !self.ids.contains(eval_id) {
            return Ok(());
        }
        Err(EditError::DuplicateId { eval_id: eval_id.to_owned(), free: self.free_id(eval_id) })
    }

    /// An old test file is one case, which has neither an id in the file nor bytes of its own.
    fn expect_cases(&self) -> Result<(), EditError> {
        if self.form == SetFormat::TestFile { Err(self.old_form()) } else { Ok(()) }
    }

    fn expect_present_form(&self) -> Result<(), EditError> {
        if self.form == SetFormat::EvalSet { Ok(()) } else { Err(self.old_form()) }
    }

    fn old_form(&self) -> EditError {
        EditError::OldForm { file: self.file.clone() }
    }

    /// The layout and spelling of the next case, and the white space after it if it is the first one.
    fn slot(&self) -> (Slot, Style, String) {
        let items = &self.cases.items;
        if let Some(last) = items.last() {
            let before_last = items.len().checked_sub(2).map(|at| items[at].after.as_str());
            let slot = layout::after(
                before_last.map(|after| (after, last.before.as_str())),
                &last.before,
                &last.text,
            );
            let case = parse(&last.text, &mut Vec::new()).ok();
            let entries = case.as_ref().and_then(Node::object).unwrap_or_default();
            return (slot, Style::of_keys(entries.iter().map(|entry| &*entry.key)), String::new());
        }
        let text = self.text();
        let root = parse(&text, &mut Vec::new()).ok();
        let (slot, after) = match root.as_ref().and_then(|root| Some((root, cases_of(root)?))) {
            Some((root, cases)) => layout::first(&text, root, cases),
            None => (layout::after(None, "", ""), String::new()),
        };
        let camel = root.as_ref().is_some_and(|root| root.get("evalCases").is_some());
        (slot, if camel { Style::Camel } else { Style::Snake }, after)
    }
}

/// The id of a set, and its text cut at the cases. `set` is `None` if the set has no cases.
fn cut(checked: &CheckedSet, set: Option<EvalSet>, root: &Node<'_>) -> Option<(String, Sections<EvalCase>)> {
    let (id, cases) = match set {
        Some(set) => (set.eval_set_id, set.eval_cases),
        None => {
            let entry = model_of(root).entry(root.object()?, "eval_set_id")?;
            (entry.value.string()?.to_owned(), Vec::new())
        }
    };
    let array = match checked.form {
        SetFormat::EvalSet => &cases_of(root)?.value,
        SetFormat::OldEvalSet => root,
        SetFormat::TestFile => return Some((id, Sections::whole(&checked.text, cases.into_iter().next()?))),
    };
    let places = array.array()?.iter().map(|node| node.range.clone());
    Some((id, Sections::cut(&checked.text, &array.range, places.zip(cases).collect())))
}

/// The entry that holds the cases.
fn cases_of<'n, 'a>(root: &'n Node<'a>) -> Option<&'n Entry<'a>> {
    let entry = model_of(root).entry(root.object()?, "eval_cases")?;
    entry.value.array().map(|_| entry)
}

fn unknown(eval_id: &str, suggestion: Option<&str>) -> EditError {
    EditError::UnknownCase { eval_id: eval_id.to_owned(), suggestion: suggestion.map(str::to_owned) }
}

fn refused(checked: CheckedSet) -> Problems {
    Problems { file: checked.file, text: checked.text, items: checked.problems }
}
