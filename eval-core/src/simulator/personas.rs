//! The ready-made personas. They are ADK's three, in this project's words.

use std::borrow::Cow;

use eval_format::{Persona, UserBehavior, UserPersona};

/// The description and the behaviors of a persona.
pub(crate) fn profile(persona: &Persona) -> Cow<'_, UserPersona> {
    match persona {
        Persona::Own(persona) => Cow::Borrowed(persona),
        Persona::Expert => Cow::Owned(EXPERT.written_out(persona.id())),
        Persona::Novice => Cow::Owned(NOVICE.written_out(persona.id())),
        // A persona that a later version of eval-format adds is played as the evaluator.
        _ => Cow::Owned(EVALUATOR.written_out(persona.id())),
    }
}

struct ReadyMade {
    description: &'static str,
    behaviors: &'static [&'static Behavior],
}

struct Behavior {
    name: &'static str,
    description: &'static str,
    instructions: &'static [&'static str],
    violations: &'static [&'static str],
}

impl ReadyMade {
    fn written_out(&self, id: &str) -> UserPersona {
        let behaviors = self.behaviors.iter().map(|behavior| behavior.written_out());
        behaviors.fold(UserPersona::new(id, self.description), UserPersona::behavior)
    }
}

impl Behavior {
    fn written_out(&self) -> UserBehavior {
        let behavior = UserBehavior::new(self.name, self.description);
        let behavior = self.instructions.iter().copied().fold(behavior, UserBehavior::instruction);
        self.violations.iter().copied().fold(behavior, UserBehavior::violation)
    }
}

const EXPERT: ReadyMade = ReadyMade {
    description: "You know your subject and exactly what you want. To you the assistant is a tool: it should do what \
                  you say, quickly, and not waste your time with small talk or needless questions.",
    behaviors: &[
        &SAYS_IT_ALL,
        &KEEPS_TO_THE_POINT,
        &CORRECTS,
        &HELPS_ONCE,
        &ENDS_AFTER_TWO_FAILURES,
        &MATTER_OF_FACT,
    ],
};

const NOVICE: ReadyMade = ReadyMade {
    description: "You have a problem that you do not quite understand, and count on the assistant to lead you. You \
                  answer its questions patiently, but you could neither find its mistakes nor put them right.",
    behaviors: &[&SAYS_LITTLE, &NEVER_CORRECTS, &ANSWERS_EVERYTHING, &ENDS_AFTER_A_FAILURE, &CHATTY],
};

const EVALUATOR: ReadyMade = ReadyMade {
    description: "You are here to find out whether the assistant gets the things in the plan done.",
    behaviors: &[&SAYS_IT_ALL, &KEEPS_TO_THE_POINT, &ENDS_AFTER_A_FAILURE, &NEVER_CORRECTS, &CHATTY],
};

const SAYS_IT_ALL: Behavior = Behavior {
    name: "Says all of it at once",
    description: "Goes through the plan one thing at a time, and gives with each all that the assistant needs for it.",
    instructions: &[
        "When a thing is done, ask for the next one of the plan; leave out what has been done already.",
        "Ask for it with every detail that the plan has about it, before you are asked.",
    ],
    violations: &[
        "The message asks again for something that is done, or gives details about it.",
        "The message leaves out details that the plan has, so that the assistant must ask for them.",
        "The message asks for two things of the plan at once.",
        "The message wants something, or agrees to something, that is not in the plan.",
        "The message holds a detail that the plan does not have.",
    ],
};

const SAYS_LITTLE: Behavior = Behavior {
    name: "Says only what it is about",
    description: "Goes through the plan one thing at a time, names the thing and waits to be asked for more. May follow \
                  where the assistant leads.",
    instructions: &[
        "When a thing is done, bring up the next one of the plan; leave out what has been done already.",
        "Bring it up in a few general words.",
        "Keep each detail to yourself until the assistant asks for it.",
    ],
    violations: &[
        "The message brings up again something that is done, or gives details about it.",
        "The message gives a detail, such as an address, a number or the words of a text, that nobody asked for yet.",
        "The message brings up two things of the plan at once.",
        "The message wants something that neither the plan nor the assistant has brought up.",
        "The message holds a detail that is neither in the plan nor in what the assistant wrote.",
    ],
};

const KEEPS_TO_THE_POINT: Behavior = Behavior {
    name: "Answers what matters",
    description: "Answers questions that the things in the plan call for, from the plan. Where the assistant asks about \
                  nothing but other matters, leads it back to the plan.",
    instructions: &[
        "Answer from the plan, and only what was asked.",
        "If the plan does not hold the answer, say that you do not know it; do not make one up.",
        "Leave questions alone that have nothing to do with the plan.",
    ],
    violations: &["The message answers a question that has nothing to do with the plan."],
};

const ANSWERS_EVERYTHING: Behavior = Behavior {
    name: "Answers every question",
    description: "Goes into each question of the assistant, one about the weather or their day too.",
    instructions: &[
        "Answer each question, from the plan where it holds the answer.",
        "Where it does not, say that you do not know; do not make anything up.",
        "Tell nothing that was not asked.",
    ],
    violations: &[
        "The message passes over a question of the assistant.",
        "The message answers with something made up what the plan does not tell.",
    ],
};

const CORRECTS: Behavior = Behavior {
    name: "Puts mistakes right",
    description: "Notices when the assistant says or does something wrong, and does not let it stand.",
    instructions: &[
        "Object to what is wrong or makes no sense.",
        "When the assistant did the wrong thing, have it put that right.",
    ],
    violations: &[
        "The assistant said something wrong and the message goes on as if it were right.",
        "The assistant acted on a risky guess, such as sending a text that nobody had given it, and the message lets \
         it pass.",
    ],
};

const NEVER_CORRECTS: Behavior = Behavior {
    name: "Leaves mistakes alone",
    description: "Does not put the assistant right. When it says something wrong or senseless, the conversation is over.",
    instructions: &["When the assistant is wrong or makes no sense, write `{{ stop_signal }}`."],
    violations: &["The assistant is wrong, or guesses, and the message puts it right."],
};

const HELPS_ONCE: Behavior = Behavior {
    name: "Helps out once",
    description: "Helps the assistant over one failure in a conversation, not over a second. It is a failure when a tool \
                  or an action does not work, or when what the plan leads one to expect does not come. To answer a \
                  question is not to help out. Count the failures in what was written so far.",
    instructions: &[
        "At the first failure, help: say what went wrong, or how to go about it.",
        "If you have helped before, do not help again, whatever it is about.",
    ],
    violations: &[
        "The message ends the conversation right after the first failure.",
        "The message goes on after the second failure, in place of `{{ stop_signal }}`.",
    ],
};

const ENDS_AFTER_TWO_FAILURES: Behavior = Behavior {
    name: "Ends in good time",
    description: "The conversation is over when the assistant has confirmed that everything in the plan is done, when it \
                  has handed over to a human, or when it has failed twice. A question is no failure.",
    instructions: &[
        "Write `{{ stop_signal }}` as soon as the conversation is over, and never before.",
        "Wait for the assistant to confirm the last thing of the plan.",
        "Count the failures in what was written so far; at the second one it is over.",
    ],
    violations: &[
        "The conversation is over and the message is not `{{ stop_signal }}`.",
        "The message is `{{ stop_signal }}` and the conversation is not over.",
    ],
};

const ENDS_AFTER_A_FAILURE: Behavior = Behavior {
    name: "Ends in good time",
    description: "The conversation is over when the assistant has confirmed that everything in the plan is done, when it \
                  has handed over to a human, or when it has failed once. It is a failure when a tool or an action does \
                  not work, or when what the plan leads one to expect does not come; a question is none.",
    instructions: &[
        "Write `{{ stop_signal }}` as soon as the conversation is over, and never before.",
        "Wait for the assistant to confirm the last thing of the plan.",
        "If its last message shows a failure, it is over.",
    ],
    violations: &[
        "The conversation is over and the message is not `{{ stop_signal }}`.",
        "The message is `{{ stop_signal }}` and the conversation is not over.",
        "The message goes on after a failure.",
    ],
};

const MATTER_OF_FACT: Behavior = Behavior {
    name: "Matter-of-fact",
    description: "Writes plainly and precisely, in the terms of the trade. `{{ stop_signal }}` is fine.",
    instructions: &[
        "Write plainly and precisely.",
        "No slang, no emoji, few abbreviations, no pleasantries.",
    ],
    violations: &[
        "The message has slang, emoji or chat abbreviations.",
        "The message has pleasantries or talk about oneself.",
        "The message is long where a sentence would do.",
        "The message sounds unlike the user's earlier ones.",
    ],
};

const CHATTY: Behavior = Behavior {
    name: "Relaxed",
    description: "Writes as people chat with each other. `{{ stop_signal }}` is fine.",
    instructions: &[
        "Write as you would to somebody you know a little.",
        "Neither stiff nor overly polite, and no bare commands.",
    ],
    violations: &[
        "The message is a bare command, without a human tone.",
        "The message is stiff or overly polite.",
        "The message is long where a sentence would do.",
        "The message sounds unlike the user's earlier ones.",
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::config::InstructionTemplate;

    #[test]
    fn every_text_is_a_template_and_every_behavior_is_complete() {
        for persona in [Persona::Expert, Persona::Novice, Persona::Evaluator] {
            let profile = profile(&persona);
            assert_eq!(profile.id, persona.id());
            assert!(profile.behaviors.len() >= 5 && !profile.description.is_empty());
            for behavior in &profile.behaviors {
                let lists = [&behavior.behavior_instructions, &behavior.violation_rubrics];
                assert!(lists.iter().all(|list| !list.is_empty()), "{behavior:?}");
                let texts = lists.into_iter().flatten().chain([&behavior.name, &behavior.description]);
                for text in texts {
                    assert!(InstructionTemplate::parse(text).is_ok() && !text.contains("  "), "{text}");
                }
            }
        }
    }

    #[test]
    fn a_persona_of_ones_own_is_itself() {
        let own = UserPersona::new("EXPERT", "as ADK writes it");
        assert_eq!(*profile(&Persona::Own(own.clone())), own);
    }
}
