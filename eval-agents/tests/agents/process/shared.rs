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
    /// Programs in shell, each for a number of conversations. They answer `started`, and then each turn with what `turn` writes for the
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

/// No case shows the end of a program that cases share.
#[tokio::test]
async fn a_shared_program_is_ended_after_the_last_conversation_and_its_end_is_checked() {
    let ends = |before: &str, last: &str| {
        let script = format!(
            r#"echo '{{"type": "hello", "protocol": 1}}'
            while read -r line; do
                id=$(echo "$line" | sed 's/.*"session_id":"\([^"]*\)".*/\1/')
                case $line in
                    *'"type":"start"'*) echo "{{\"type\": \"started\", \"session_id\": \"$id\"}}";;
                    *'"type":"turn"'*) {ANSWER};;
                    *'"type":"end"'*) {before};;
                esac
            done; {last}"#
        );
        Process::new(Command::new("sh").args(["-c", &script]))
            .concurrency(2)
            .end_within(Duration::from_millis(if last.contains("sleep") { 300 } else { 20_000 }))
    };
    let late = r#"echo "{\"type\": \"text\", \"text\": \"late\", \"session_id\": \"$id\"}""#;
    for (before, last, told) in [
        (":", ":", ""),
        ("exit 0", "", ""),
        (
            ":",
            "echo bye >&2; exit 3",
            "the program ended with exit status: 3; it wrote to its standard error",
        ),
        (":", "exec sleep 600", "the program did not end within 300ms"),
        ("exit 3", ":", "the program ended with exit status: 3"),
        (late, ":", "the program wrote `text` for the conversation `s1`, which is over"),
    ] {
        let agent = ends(before, last);
        let session = Session::new("a", "u").with_session_id("s1");
        let mut talk = Conversation::new(agent.clone()).with_session(session);
        talk.say("hi").await.unwrap();
        talk.finish().await.unwrap();
        let error = agent.end_shared().await.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with(told) && error.is_empty() == told.is_empty(), "{before}, {last}: {error}");
        assert!(agent.end_shared().await.is_ok(), "it is told once");
    }
}

#[tokio::test]
async fn a_shared_program_that_ended_badly_between_two_conversations_is_not_forgotten() {
    let script = r#"echo '{"type": "hello", "protocol": 1}'; read -r _; echo '{"type": "started", "session_id": "s1"}'
        read -r _; echo '{"type": "text", "text": "hi", "session_id": "s1"}'; echo '{"type": "turn_end", "session_id": "s1"}'
        read -r _; exit 3"#;
    let agent = Process::new(Command::new("sh").args(["-c", script])).concurrency(1);
    for _ in 0..2 {
        let session = Session::new("a", "u").with_session_id("s1");
        let mut talk = Conversation::new(agent.clone()).with_session(session);
        talk.say("hi").await.unwrap();
        talk.finish().await.unwrap();
        // The next conversation begins once the end of its program is known.
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let error = agent.end_shared().await.unwrap_err().to_string();
    assert!(
        error.contains("exit status: 3") && error.ends_with("1 other program failed at the end, too"),
        "{error}"
    );
}
