//! Programs whose clients of models ask the gateway: the variables of their launch.

use eval_core::group::Launch;
use eval_support::words::short_code_list;

/// The launch with variables that redirect its clients, and a note on the ones that its command sets itself: these stay.
pub(crate) fn redirected(
    launch: &Launch,
    variables: Vec<(&'static str, String)>,
) -> (Launch, Option<String>) {
    let mut redirected = launch.clone();
    let mut own = Vec::new();
    for (name, value) in variables {
        if launch.names(name) {
            own.push(name);
        } else {
            redirected.set_variable(name, value.into());
        }
    }
    let note = (!own.is_empty()).then(|| {
        let names = short_code_list(&own);
        format!("the command of the agent sets {names} itself, so calls of models by them are neither recorded nor replayed")
    });
    (redirected, note)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_the_command_sets_itself_stays_and_is_noted() {
        let launch = Launch::new(Command::new("agent").env("OPENAI_BASE_URL", "http://mine"));
        let variables =
            vec![("OPENAI_BASE_URL", "http://g/v1".to_owned()), ("PYTHONHASHSEED", "0".to_owned())];
        let (redirected, note) = redirected(&launch, variables);
        assert_eq!(redirected.variable("OPENAI_BASE_URL").as_deref(), Some("http://mine".as_ref()));
        assert_eq!(redirected.variable("PYTHONHASHSEED").as_deref(), Some("0".as_ref()));
        assert!(
            note.is_some_and(
                |note| note.starts_with("the command of the agent sets `OPENAI_BASE_URL` itself")
            )
        );
    }
}
