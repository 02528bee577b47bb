//! `review --accept`: choices by their names and the hashes of what was shown.

use eval_support::untrusted::one_line;
use eval_support::words::did_you_mean;
use serde::Serialize;

use crate::edited::after;
use crate::output::{Answer, CommandError, Format, GOOD, Outcome, styled};
use crate::review::{Choice, Hunk, Item, Offer, Queue};

#[derive(Serialize)]
struct Document {
    accepted: Vec<Accepted>,
}

#[derive(Serialize)]
struct Accepted {
    id: String,
    change: Vec<Hunk>,
}

/// Accepts each choice, in the order of the command line. Nothing is written unless all of them are as they were shown.
pub(super) fn accept(queue: &Queue<'_>, names: &[String], format: Format) -> Result<Answer, CommandError> {
    let mut chosen: Vec<Choice> = Vec::new();
    for name in names {
        let choice = named(queue, name)?;
        let case_of = |choice: &Choice| (choice.edit.path().to_owned(), choice.edit.eval_id().to_owned());
        if chosen.iter().any(|known| case_of(known) == case_of(&choice)) {
            let message = format!("two choices are named for the case `{}`", one_line(choice.edit.eval_id()));
            return Err(CommandError::new(
                message,
                "name one of them; then list what is left: `cargo evalset review --list`",
            ));
        }
        chosen.push(choice);
    }
    let mut text = String::new();
    let mut document = Document { accepted: Vec::new() };
    for choice in &chosen {
        choice.edit.write().map_err(|error| {
            let written: Vec<String> = document.accepted.iter().map(|it| it.id.clone()).collect();
            after(error, &written)
        })?;
        let (id, what) = (one_line(&choice.id), &choice.what);
        text += &format!("{} {what} of `{id}`\n{}", styled(GOOD, "accepted"), choice.edit.shown());
        document.accepted.push(Accepted { id: choice.id.clone(), change: choice.edit.hunks() });
    }
    if format == Format::Json {
        return Answer::results("review", Outcome::Passed, &document);
    }
    Ok(Answer::new(Outcome::Passed, text))
}

/// The choice that is named by `ID@HASH`.
fn named(queue: &Queue<'_>, name: &str) -> Result<Choice, CommandError> {
    let shown = one_line(name);
    let Some((id, hash)) = name.rsplit_once('@') else {
        let message = format!("`{shown}` has no hash of what was shown");
        return Err(CommandError::new(
            message,
            "take the name with its hash from the list: `cargo evalset review --list`",
        ));
    };
    let is_of =
        |item: &&Item| id == item.id || id.strip_prefix(&item.id).is_some_and(|it| it.starts_with(':'));
    let (mut known, mut has_other_hash): (Vec<String>, bool) = (Vec::new(), false);
    let mut not_offered = None;
    // An id may end as a part does, so all entries are looked at.
    for item in queue.items.iter().filter(is_of) {
        if let (Offer::Not(not), true) = (&item.offer, id == item.id) {
            not_offered = Some(not);
        }
        let choices = queue.choices(item);
        for choice in choices.accepting()?.into_iter().chain(choices.loosening()?) {
            if choice.id != id {
                known.push(choice.id);
            } else if choice.hash() == hash {
                return Ok(choice);
            } else {
                has_other_hash = true;
            }
        }
    }
    if has_other_hash {
        // The hash is not told here: a script would accept what it has not seen.
        let message = format!(
            "`{}` is not as it was shown: `{}` is the hash of something else",
            one_line(id),
            one_line(hash)
        );
        return Err(CommandError::new(message, "look at it as it is now: `cargo evalset review --list`"));
    }
    if let Some(not) = not_offered {
        return Err(CommandError::new(format!("`{}`: {}", one_line(id), not.why), not.help.clone()));
    }
    known.extend(queue.items.iter().map(|item| item.id.clone()));
    let help = did_you_mean(id, known.iter().map(String::as_str));
    let help = help.unwrap_or_else(|| "`cargo evalset review --list` shows the choices".to_owned());
    Err(CommandError::new(format!("there is no choice `{}`", one_line(id)), help))
}
