//! State that outlives a session: ADK keeps it for the next session of the same user, or of the same app.

use eval_core::format::{Map, Value};
use eval_core::metric::arithmetic::values_equal;

use super::error::{AdkServerError, names};

const USER: &str = "user:";
const APP: &str = "app:";

/// The state of the user and of the app that a conversation asked for, and its own changes since.
#[derive(Debug)]
pub(super) struct KeptState(Map);

impl KeptState {
    pub(super) fn new(state: &Map) -> Self {
        let mut kept = Self(Map::new());
        kept.change(state);
        kept
    }

    pub(super) fn change(&mut self, delta: &Map) {
        self.0.extend(delta.iter().filter(|(key, _)| is_kept(key)).map(|(key, value)| (key, value.clone())));
    }

    pub(super) fn check_start(&self, state: &Map) -> Result<(), AdkServerError> {
        let Some((names, user_advice)) = self.foreign(state) else { return Ok(()) };
        Err(AdkServerError::Answer(format!(
            "the session begins with state of other conversations, which the case does not ask for: {names}. An earlier case of this server \
             set it, or the server stores state: name the keys in the `state` of the `session_input` of the case, {user_advice}or start \
             the server without stored state (Python's: `adk api_server --no_use_local_storage ..`)"
        )))
    }

    pub(super) fn check_end(&self, state: &Map) -> Result<(), AdkServerError> {
        let Some((names, user_advice)) = self.foreign(state) else { return Ok(()) };
        Err(AdkServerError::Answer(format!(
            "another conversation changed the state of this one meanwhile: {names}; {user_advice}run one case at a time (`--concurrency 1`) \
             against a server that only this run uses"
        )))
    }

    /// The keys that come from elsewhere, and advice on separate users if some keys belong to a user.
    fn foreign(&self, state: &Map) -> Option<(String, &'static str)> {
        let is_own = |key: &str, value| self.0.get(key).is_some_and(|own| holds(own, value));
        let foreign = state.iter().filter(|(key, value)| is_kept(key) && !is_own(key, value));
        let keys: Vec<&str> = foreign.map(|(key, _)| key).collect();
        let of_user = keys.iter().any(|key| key.starts_with(USER));
        let user_advice = if of_user { "give the case a `user_id` of its own, " } else { "" };
        (!keys.is_empty()).then(|| (names(&keys), user_advice))
    }
}

fn is_kept(key: &str) -> bool {
    key.starts_with(USER) || key.starts_with(APP)
}

/// Whether `own` has everything that `value` has. Servers leave out credentials and `null`.
fn holds(own: &Value, value: &Value) -> bool {
    match (own, value) {
        (Value::Object(own), Value::Object(value)) => {
            value.iter().all(|(key, value)| own.get(key).is_some_and(|own| holds(own, value)))
        }
        (Value::Array(own), Value::Array(value)) => {
            own.len() == value.len() && own.iter().zip(value).all(|(own, value)| holds(own, value))
        }
        _ => values_equal(own, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> Map {
        Value::parse(text).unwrap().as_object().unwrap().clone()
    }

    #[test]
    fn state_of_users_and_apps_that_was_not_asked_for_is_foreign() {
        let mut kept = KeptState::new(&map(
            r#"{"unit": "C", "user:name": "Anna", "app:limit": 1, "user:login": {"token": "t", "at": [1]}}"#,
        ));
        for state in [
            "{}",
            r#"{"unit": "F", "city": "Oslo", "temp:x": 1}"#,
            r#"{"user:name": "Anna", "app:limit": 1.0, "user:login": {"at": [1]}}"#,
        ] {
            kept.check_start(&map(state)).unwrap();
        }
        for (state, names) in [
            (r#"{"user:name": "Bert"}"#, "`user:name`"),
            (r#"{"user:age": 3, "user:name": "Anna", "app:x": null}"#, "`user:age`, `app:x`"),
            (r#"{"user:login": {"token": "t", "at": [1, 2]}}"#, "`user:login`"),
        ] {
            let error = kept.check_start(&map(state)).unwrap_err().to_string();
            assert!(error.contains(&format!("does not ask for: {names}. ")), "{error}");
        }
        kept.change(&map(r#"{"user:name": "Bert", "city": "Oslo"}"#));
        kept.check_end(&map(r#"{"user:name": "Bert", "city": "Rome"}"#)).unwrap();
        let error = kept.check_end(&map(r#"{"user:name": "Anna"}"#)).unwrap_err().to_string();
        assert!(error.contains("meanwhile: `user:name`; give the case a `user_id`"), "{error}");
    }
}
