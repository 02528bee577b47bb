//! Programs that serve several conversations: how many there are, and which of them gets the next conversation.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use eval_agents::Process;
use eval_core::Session;
use eval_core::testing::Conversation;

/// Programs that write down each of their starts.
struct Counted {
    agent: Process,
    starts: PathBuf,
}

impl Counted {
    /// Programs in shell for so many conversations each. They answer `started`, and then each turn with what `turn` writes for the
    /// session `$id`.
    fn new(name: &str, conversations: usize, turn: &str) -> Self {
        let starts = std::env::temp_dir().join(format!("eval-agents-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&starts);
        let script = format!(
            r#"echo x >> "$STARTS"; echo '{{"type": "hello", "protocol": 1}}'
            while read -r line; do
                id=$(echo "$line" | sed 's/.*"session_id":"\([^"]*\)".*/\1/')
                case $line in
                    *'"type":"start"'*) echo "{{\"type\": \"started\", \"session_id\": \"$id\"}}";;
                    *'"type":"turn"'*) {turn};;
                esac
            done"#
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).env("STARTS", &starts);
        Self { agent: Process::new(&command).concurrency(conversations), starts }
    }

    fn talk(&self, id: &str) -> Conversation<Process> {
        let session = Session::new("a", "u").with_session_id(id);
        Conversation::new(self.agent.clone()).with_session(session).with_timeout(Duration::from_secs(10))
    }

    fn count(&self) -> usize {
        std::fs::read_to_string(&self.starts).unwrap().lines().count()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.starts);
    }
}

/// Answers a turn.
const ANSWER: &str = r#"echo "{\"type\": \"text\", \"text\": \"hi\", \"session_id\": \"$id\"}"
    echo "{\"type\": \"turn_end\", \"session_id\": \"$id\"}""#;

#[tokio::test]
async fn a_program_has_as_many_conversations_as_it_may_and_further_ones_start_another() {
    let programs = Counted::new("room", 2, ANSWER);
    let mut talks = Vec::new();
    for (number, started) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)] {
        let mut talk = programs.talk(&number.to_string());
        assert_eq!(talk.say("hi").await.unwrap().invocation.response_text(), "hi");
        assert_eq!(programs.count(), started, "with {number} conversations");
        talks.push(talk);
    }
    // Those that are over leave room.
    talks.remove(0).finish().await.unwrap();
    programs.talk("6").say("hi").await.unwrap();
    assert_eq!(programs.count(), 3);
}

#[tokio::test]
async fn a_program_that_lets_a_turn_run_out_of_time_keeps_its_conversations_and_gets_no_other() {
    let slow_for_s1 = format!(r#"if [ "$id" = s1 ]; then continue; fi; {ANSWER}"#);
    let programs = Counted::new("hangs", 2, &slow_for_s1);
    let mut slow = programs.talk("s1").with_timeout(Duration::from_secs(2));
    let mut other = programs.talk("s2");
    other.say("hi").await.unwrap();
    let error = slow.say("hi").await.unwrap_err().to_string();
    assert!(error.contains("timed out after 2s"), "{error}");
    let _ = slow.finish().await;
    other.say("still there").await.unwrap();
    programs.talk("s3").say("hi").await.unwrap();
    assert_eq!(programs.count(), 2, "the third conversation has a program of its own");
    other.finish().await.unwrap();
}

#[tokio::test]
async fn what_a_shared_program_wrote_is_said_to_be_of_all_its_conversations() {
    let fails = r#"echo "bye $id" >&2; echo "{\"type\": \"error\", \"message\": \"no key\", \"session_id\": \"$id\"}""#;
    let programs = Counted::new("logs", 2, fails);
    for id in ["s1", "s2"] {
        let mut talk = programs.talk(id);
        let error = talk.say("hi").await.unwrap_err().to_string();
        let said =
            "the agent failed: no key\nit wrote to its standard error, in all its conversations:\n| bye s1";
        assert!(error.contains(said), "{error}");
        let _ = talk.finish().await;
    }
}

#[tokio::test]
async fn a_program_that_answers_with_the_wrong_message_gets_no_other_conversation() {
    let wrong = r#"echo "{\"type\": \"started\", \"session_id\": \"$id\"}""#;
    let failing = r#"echo "{\"type\": \"error\", \"message\": \"no key\", \"session_id\": \"$id\"}""#;
    for (name, turn, told, started) in [
        ("wrong", wrong, "where an event, `turn_end` or `error` is expected", 2),
        // An error of the agent is one of the conversation.
        ("failing", failing, "the agent failed: no key", 1),
    ] {
        let programs = Counted::new(name, 2, turn);
        for id in ["s1", "s2"] {
            let mut talk = programs.talk(id);
            let error = talk.say("hi").await.unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
            let _ = talk.finish().await;
        }
        assert_eq!(programs.count(), started, "{name}");
    }
}
