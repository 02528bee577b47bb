//! Instructions for a simulated user: templates with variables.
//!
//! ADK renders them with Jinja. Here a part of Jinja is read: variables, comments, and control of white space. A whole
//! engine would take longer to build than the rest of this crate. Everything else of Jinja is an error.

use std::fmt;

use eval_support::message::truncated;

/// Instructions for a simulated user: a template with variables.
///
/// ```
/// use eval_format::config::{InstructionTemplate, TemplateVariable};
///
/// let instructions = InstructionTemplate::parse("Plan: {{ conversation_plan }} {# or so #}")?;
/// assert!(instructions.uses(TemplateVariable::ConversationPlan));
/// assert_eq!(instructions.render(|_| "a trip".to_owned()), "Plan: a trip ");
///
/// let error = InstructionTemplate::parse("{% for b in persona.behaviors %}").unwrap_err();
/// assert!(error.to_string().contains("{% for b in persona.behaviors %}"));
/// # Ok::<_, eval_format::config::InstructionsError>(())
/// ```
///
/// The syntax is the part of Jinja's that ADK's own templates use: `{{ name }}`, `{# comment #}`, and `-` inside the
/// brackets, which removes white space on that side. One line break at the very end is dropped. Filters, expressions
/// and `{% .. %}` are errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionTemplate {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    TemplateVariable(TemplateVariable),
}

/// A variable of [`InstructionTemplate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TemplateVariable {
    /// `stop_signal`: the text with which the simulated user ends the conversation.
    StopSignal,
    /// `conversation_plan`: the plan of the scenario.
    ConversationPlan,
    /// `conversation_history`: the messages so far.
    ConversationHistory,
    /// `persona`: the description and the behaviors of the persona; empty without one.
    Persona,
    /// `persona.id`: the id of the persona; empty without one.
    PersonaId,
    /// `persona.description`: the description of the persona; empty without one.
    PersonaDescription,
}

impl TemplateVariable {
    /// Every variable there is.
    pub const ALL: [Self; 6] = [
        Self::StopSignal,
        Self::ConversationPlan,
        Self::ConversationHistory,
        Self::Persona,
        Self::PersonaId,
        Self::PersonaDescription,
    ];

    /// The name in a template.
    pub fn name(self) -> &'static str {
        match self {
            Self::StopSignal => "stop_signal",
            Self::ConversationPlan => "conversation_plan",
            Self::ConversationHistory => "conversation_history",
            Self::Persona => "persona",
            Self::PersonaId => "persona.id",
            Self::PersonaDescription => "persona.description",
        }
    }

    pub(super) fn list(variables: &[Self]) -> String {
        let names = variables.iter().map(|variable| format!("`{{{{ {} }}}}`", variable.name()));
        names.collect::<Vec<_>>().join(", ")
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variable| variable.name() == name)
    }
}

/// A tag in a template that cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionsError {
    message: String,
}

impl fmt::Display for InstructionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InstructionsError {}

impl InstructionsError {
    /// The help text: the variables that are filled in.
    pub(crate) fn help() -> String {
        let names = TemplateVariable::list(&TemplateVariable::ALL);
        format!("what is filled in: {names}; `{{{{ persona }}}}` holds its behaviors too")
    }

    fn of(tag: &str, what: &str) -> Self {
        let line = tag.lines().next().unwrap_or_default();
        Self { message: format!("`{}` {what}", truncated(line, MAX_TAG_CHARS, "..")) }
    }
}

const TAGS: [(&str, &str); 3] = [("{{", "}}"), ("{#", "#}"), ("{%", "%}")];
const MAX_TAG_CHARS: usize = 60;

impl InstructionTemplate {
    /// Reads a template.
    pub fn parse(template: &str) -> Result<Self, InstructionsError> {
        let template = template.replace("\r\n", "\n").replace('\r', "\n");
        let mut rest = template.strip_suffix('\n').unwrap_or(&template);
        let mut instructions = Self::default();
        let mut trim = false;
        while let Some((at, close)) = next_tag(rest) {
            let tag = &rest[at..];
            let inner = &tag[2..];
            let Some(end) = inner.find(close) else {
                return Err(InstructionsError::of(tag, "is never closed"));
            };
            let whole = &tag[..end + 4];
            let (inner, before, after) = white_space(&inner[..end]);
            instructions.push(&rest[..at], trim, before);
            if close != "#}" {
                let variable = match TemplateVariable::named(inner.trim()) {
                    _ if close == "%}" => Err("is a statement of Jinja, which is not available here"),
                    variable => variable.ok_or("is not one of the variables that are filled in"),
                };
                let variable = variable.map_err(|what| InstructionsError::of(whole, what))?;
                instructions.pieces.push(Piece::TemplateVariable(variable));
            }
            trim = after;
            rest = &rest[at + whole.len()..];
        }
        instructions.push(rest, trim, false);
        Ok(instructions)
    }

    fn push(&mut self, text: &str, trim_start: bool, trim_end: bool) {
        let text = if trim_start { text.trim_start() } else { text };
        let text = if trim_end { text.trim_end() } else { text };
        if !text.is_empty() {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    /// Whether a variable is used. An attribute of the persona counts as [`Persona`](TemplateVariable::Persona) too.
    pub fn uses(&self, variable: TemplateVariable) -> bool {
        let is_persona = |other: TemplateVariable| other.name().starts_with("persona");
        self.pieces.iter().any(|piece| match piece {
            Piece::TemplateVariable(used) => {
                *used == variable || variable == TemplateVariable::Persona && is_persona(*used)
            }
            Piece::Text(_) => false,
        })
    }

    /// The text with each variable replaced by its value. Values are not read as templates.
    pub fn render(&self, value: impl Fn(TemplateVariable) -> String) -> String {
        self.pieces.iter().fold(String::new(), |mut text, piece| {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::TemplateVariable(variable) => text.push_str(&value(*variable)),
            }
            text
        })
    }
}

/// The offset of the next tag, and its closing bracket.
fn next_tag(text: &str) -> Option<(usize, &'static str)> {
    text.match_indices('{').find_map(|(at, _)| {
        let (_, close) = TAGS.iter().find(|(open, _)| text[at..].starts_with(open))?;
        Some((at, *close))
    })
}

/// The inside of a tag without its `-` and `+`, and whether the tag removes the white space before and after
/// it.
fn white_space(inner: &str) -> (&str, bool, bool) {
    let before = inner.starts_with('-');
    let inner = inner.strip_prefix(['-', '+']).unwrap_or(inner);
    let after = inner.ends_with('-');
    (inner.strip_suffix(['-', '+']).unwrap_or(inner), before, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(template: &str) -> Result<String, String> {
        InstructionTemplate::parse(template)
            .map(|instructions| instructions.render(|variable| format!("<{}>", variable.name())))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn variables_comments_and_white_space_are_jinjas() {
        for (template, expected) in [
            ("", ""),
            ("plain } text }} %} #}", "plain } text }} %} #}"),
            (
                "{{stop_signal}}|{{ conversation_plan }}|{{\n persona }}",
                "<stop_signal>|<conversation_plan>|<persona>",
            ),
            ("{{ persona.description }}: {{ persona.id }}", "<persona.description>: <persona.id>"),
            ("a {# {{ stop_signal }} #} b", "a  b"),
            ("a \n {{- stop_signal -}} \n b", "a<stop_signal>b"),
            ("a {#- x -#} b", "ab"),
            ("a {{+ stop_signal +}} b", "a <stop_signal> b"),
            ("{ {stop_signal}}", "{ {stop_signal}}"),
            ("one\r\ntwo\rthree\n\n", "one\ntwo\nthree\n"),
            ("é{{ stop_signal }}é", "é<stop_signal>é"),
        ] {
            assert_eq!(rendered(template).as_deref(), Ok(expected), "{template:?}");
        }
    }

    #[test]
    fn what_is_not_filled_in_is_an_error_that_shows_it() {
        for (template, expected) in [
            ("a {{ stop_signal", "`{{ stop_signal` is never closed"),
            ("a {# x", "`{# x` is never closed"),
            ("{{ plan }}", "`{{ plan }}` is not one of the variables that are filled in"),
            (
                "{{ stop_signal | upper }}",
                "`{{ stop_signal | upper }}` is not one of the variables that are filled in",
            ),
            (
                "{{ persona.behaviors }}",
                "`{{ persona.behaviors }}` is not one of the variables that are filled in",
            ),
            ("{{}}", "`{{}}` is not one of the variables that are filled in"),
            (
                "{% for b in persona.behaviors %}",
                "`{% for b in persona.behaviors %}` is a statement of Jinja, which is not available here",
            ),
            ("{{ a\nb }}", "`{{ a` is not one of the variables that are filled in"),
        ] {
            assert_eq!(rendered(template), Err(expected.to_owned()), "{template:?}");
        }
        let long = rendered(&format!("{{{{ {} }}}}", "é".repeat(100))).unwrap_err();
        assert!(long.contains("éé..`"), "{long}");
    }

    #[test]
    fn many_brackets_are_read_in_one_pass() {
        let hostile = "{".repeat(100_000);
        assert!(rendered(&hostile).is_err());
        let tags = "{{ stop_signal }} { ".repeat(20_000);
        assert!(rendered(&tags).is_ok());
    }

    #[test]
    fn an_attribute_of_the_persona_is_a_use_of_the_persona() {
        let uses = |template: &str, variable| InstructionTemplate::parse(template).unwrap().uses(variable);
        assert!(uses("{{ persona.id }}", TemplateVariable::Persona));
        assert!(!uses("{{ persona }}", TemplateVariable::PersonaId));
        assert!(!uses("{{ stop_signal }} persona", TemplateVariable::Persona));
    }
}
