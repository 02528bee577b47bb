//! Programs in sh that answer, die, hang and write rubbish.

#![cfg(unix)]

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use eval_format::{Criterion, EvalCase, Invocation};

use super::*;
use crate::metric::Score;

/// The time limit of programs that answer: no test waits for it.
const AMPLE: Duration = Duration::from_mins(2);

fn shell(script: &str) -> CommandMetric {
    CommandMetric::new(Command::new("sh").args(["-c", script])).timeout(AMPLE)
}

async fn score(metric: &CommandMetric) -> Result<Score, String> {
    let case = EvalCase::new("c").turn(Invocation::user("Paris?").response("It is sunny."));
    let (actual, criterion) = ([Invocation::user("Paris?").response("Sunny.")], Criterion::new(0.5));
    let input = MetricInput { name: "brevity", ..MetricInput::new(&case, &actual, &criterion) };
    let scores = metric.score(input).await.map_err(|error| error.to_string())?;
    assert!(scores.is_whole_run());
    Ok(scores.scores()[0].clone())
}

#[tokio::test]
async fn a_program_reads_the_question_and_its_answer_is_the_score() {
    let script = r#"case "$(cat)" in *'"metric_name":"brevity"'*'"final_response":"Sunny."'*) echo '{"score": 0.75}';; esac"#;
    assert_eq!(score(&shell(script)).await, Ok(Score::from(0.75)));
    // A program that reads nothing may answer too.
    assert_eq!(score(&shell(r#"exec <&-; printf '{"score": 1}'"#)).await, Ok(Score::from(1.0)));
}

#[tokio::test]
async fn what_a_program_writes_to_its_standard_error_is_a_note() {
    let score = score(&shell(r#"cat > /dev/null; echo careful >&2; echo '{"score": 1}'"#)).await.unwrap();
    assert_eq!(score.notes(), ["its standard error:\ncareful"]);
}

#[tokio::test]
async fn a_program_that_dies_or_writes_rubbish_is_an_error_with_its_standard_error_and_the_command() {
    for (script, expected) in [
        (
            "echo no key >&2; exit 3",
            "the program ended with exit status: 3; it wrote to its standard error:\n| no key",
        ),
        ("kill -9 $$", "the program ended with signal: 9"),
        (r#"echo '{"score": 1}'; exit 1"#, "the program ended with exit status: 1"),
        ("cat > /dev/null", "the program wrote no answer to its standard output"),
        (
            "echo hello; echo why >&2",
            "the program wrote no JSON to its standard output: hello; the protocol has",
        ),
        ("printf '\\377'", "the program wrote an answer that is not UTF-8"),
        (r#"echo '{"score": 2}'"#, "`score` is 2, and no number from 0 to 1"),
        ("yes", "the program wrote more than 1 MiB to its standard output"),
        ("cat > /dev/null; head -c 3000000 /dev/zero", "the program wrote more than 1 MiB"),
    ] {
        let error = score(&shell(script)).await.unwrap_err();
        assert!(error.starts_with(expected) || error.contains(expected), "{script}: {error}");
        let by_hand = error.lines().last().unwrap();
        assert!(
            by_hand.starts_with("by hand: `printf %s '{\"protocol_version\"") && by_hand.contains("| sh -c "),
            "{error}"
        );
    }
    let missing = CommandMetric::new(Command::new("/no/such/program"));
    let error = score(&missing).await.unwrap_err();
    assert!(error.starts_with("the program `/no/such/program` cannot be started: "), "{error}");
}

/// Whether a process runs.
fn is_running(pid: &str) -> bool {
    Command::new("kill").args(["-0", pid]).stderr(std::process::Stdio::null()).status().unwrap().success()
}

/// Waits for the end of a process, for at most a minute.
fn ends(pid: &str) -> bool {
    let begun = Instant::now();
    while is_running(pid) {
        if begun.elapsed() > Duration::from_mins(1) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// The error of a program that hangs once it wrote `said`. A busy machine may take long to start it.
async fn hangs(metric: &CommandMetric, said: &str) -> String {
    for limit in [Duration::from_secs(1), Duration::from_secs(20), AMPLE] {
        let error = score(&metric.clone().timeout(limit)).await.unwrap_err();
        let expected = format!("the program gave no answer within {limit:?} (`timeout` sets the limit)");
        assert!(error.starts_with(&expected), "{error}");
        if error.contains(said) {
            return error;
        }
    }
    panic!("{said:?} was not written");
}

#[tokio::test]
async fn a_program_that_hangs_is_killed_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    for script in [
        "sleep 600 & echo $! > PIDS; echo stuck >&2; sleep 600",
        "exec >&-; echo $$ > PIDS; echo stuck >&2; sleep 600",
    ] {
        let script = script.replace("PIDS", file.to_str().unwrap());
        hangs(&shell(&script), "; it wrote to its standard error:\n| stuck\n").await;
        assert!(ends(fs::read_to_string(&file).unwrap().trim()), "{script}");
    }
}

#[tokio::test]
async fn a_process_that_holds_the_output_of_a_program_open_is_ended_and_the_answer_counts() {
    assert_eq!(score(&shell(r#"sleep 600 & echo '{"score": 1}'"#)).await, Ok(Score::from(1.0)));
}

#[tokio::test]
async fn a_program_is_killed_if_nothing_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let metric = shell(&format!("echo $$ > {}.new; mv {0}.new {0}; sleep 600", file.display()));
    let mut asking = Box::pin(score(&metric));
    let pid = loop {
        let waited = tokio::time::timeout(Duration::from_millis(5), &mut asking).await;
        assert!(waited.is_err(), "it answered: {waited:?}");
        if let Ok(pid) = fs::read_to_string(&file) {
            break pid;
        }
    };
    drop(asking);
    assert!(ends(pid.trim()));
}

/// A program in shell that says how often it was asked, and that it reads lines.
const COUNTS: &str = r#"n=0; while read -r line || [ -n "$line" ]; do n=$((n + 1)); id=${line##*'"_id":'}
case "$line" in *'"_id":'*) id=", \"_id\": ${id%\}}";; *) id="";; esac
printf '{"score": 1, "_reads_lines": true, "details": {"n": %s}%s}\n' "$n" "$id"; REST
done"#;

#[tokio::test]
async fn a_program_that_reads_lines_answers_further_questions() {
    let metric = shell(&COUNTS.replace("REST", ""));
    let asked = || async { score(&metric).await.unwrap().notes().to_vec() };
    // The first question is asked as any program is asked. The program of the second one is kept.
    for expected in ["n: 1", "n: 1", "n: 2", "n: 3"] {
        assert_eq!(asked().await, [expected]);
    }
}

#[tokio::test]
async fn questions_of_the_same_time_have_programs_of_their_own() {
    let folder = std::env::temp_dir().join(format!("eval-core-metric-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    // Once two programs are asked for, no program answers before two were asked.
    let waits = format!(
        "cd '{}'; : > asked-$$; if [ -e two ]; then while [ $(ls asked-* | wc -l) -lt 2 ]; do sleep 0.02; done; fi; printf",
        folder.display()
    );
    let metric = shell(&COUNTS.replace("REST", "").replacen("printf", &waits, 1));
    let asked = || async { score(&metric).await.unwrap().notes().to_vec() };
    for expected in ["n: 1", "n: 1"] {
        assert_eq!(asked().await, [expected]);
    }
    for entry in fs::read_dir(&folder).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    fs::write(folder.join("two"), "").unwrap();
    let (one, other) = tokio::join!(asked(), asked());
    let mut both = [one.concat(), other.concat()];
    both.sort();
    assert_eq!(both, ["n: 1", "n: 2"]);
    fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn a_kept_program_that_ends_while_it_is_idle_is_started_again_once() {
    // Its output ends, and the program a little later: it still runs when it is taken.
    let metric = shell(&COUNTS.replace("REST", "exec >&-; sleep 1; exit 0"));
    for expected in ["n: 1", "n: 1", "n: 1"] {
        assert_eq!(score(&metric).await.unwrap().notes(), [expected]);
    }
}

#[tokio::test]
async fn an_answer_of_a_kept_program_that_belongs_to_no_question_is_an_error() {
    for late in [r#"{"score": 0, "_id": 1}"#, r#"{"score": 0}"#, "rubbish"] {
        let writes = format!("if [ $n = 1 ] && [ -n \"$id\" ]; then echo '{late}'; fi");
        let metric = shell(&COUNTS.replace("REST", &writes));
        // The third question gets what was written before it was asked, and the fourth one another program.
        for is_wrong in [false, false, true, false] {
            let error = score(&metric).await.err();
            let expected = "the program wrote an answer without the `_id` of its question";
            assert_eq!(
                error.as_ref().is_some_and(|error| error.starts_with(expected)),
                is_wrong,
                "{error:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_kept_program_that_ended_is_started_again() {
    let metric = shell(&COUNTS.replace("REST", "if [ $n = 2 ]; then exit 0; fi"));
    for expected in ["n: 1", "n: 1", "n: 2"] {
        assert_eq!(score(&metric).await.unwrap().notes(), [expected]);
    }
    let begun = Instant::now();
    while program::has_idle(&metric.launch) && begun.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(score(&metric).await.unwrap().notes(), ["n: 1"]);
}

#[tokio::test]
async fn a_kept_program_that_ends_or_hangs_in_place_of_an_answer_is_an_error() {
    let kept = |instead: &str| {
        let script = COUNTS.replace("printf", &format!("if [ -n \"$id\" ]; then {instead}; fi; printf"));
        shell(&script.replace("REST", ""))
    };
    let ends = kept("{ echo gone >&2; exit 4; }");
    assert_eq!(score(&ends).await.err(), None);
    let error = score(&ends).await.unwrap_err();
    let expected =
        "the program ended with exit status: 4 before it answered; it wrote to its standard error:\n| gone\n";
    assert!(error.starts_with(expected), "{error}");
    let stays = kept("{ echo busy >&2; sleep 600; }");
    assert_eq!(score(&stays).await.err(), None);
    hangs(&stays, "; it wrote to its standard error:\n| busy\n").await;
}

#[tokio::test]
async fn a_question_that_a_kept_program_took_is_not_asked_again_of_another_one() {
    let long = "x".repeat(200_000);
    for (ends, status, words) in [
        ("exit 0", "exit status: 0", long.as_str()),
        ("exec >&-; exit 0", "exit status: 0", ""),
        ("exit 3", "exit status: 3", ""),
        ("kill -9 $$", "signal: 9", ""),
    ] {
        let ends = format!("if [ $n = 2 ]; then echo broke >&2; {ends}; fi; id=");
        let metric = shell(&COUNTS.replace("REST", "").replacen("id=", &ends, 1));
        let asked = async |words: &str| {
            let case = EvalCase::new("c").turn(Invocation::user(words).response("It is sunny."));
            let (actual, criterion) = ([Invocation::user(words).response("Sunny.")], Criterion::new(0.5));
            let scores = metric.score(MetricInput::new(&case, &actual, &criterion)).await;
            scores.map(|scores| scores.scores()[0].notes().to_vec()).map_err(|error| error.to_string())
        };
        // The first question is asked as any program is asked, and the second one of the program that is kept.
        for (words, expected) in
            [("Paris?", Some("n: 1")), ("Paris?", Some("n: 1")), (words, None), ("Paris?", Some("n: 1"))]
        {
            match (asked(words).await, expected) {
                (Ok(notes), Some(expected)) => assert_eq!(notes, [expected], "{ends}"),
                (Err(error), None) => {
                    let expected = format!("the program ended with {status}");
                    let said = " before it answered; it wrote to its standard error:\n| broke\n";
                    assert!(error.starts_with(&expected) && error.contains(said), "{ends}: {error}");
                }
                (other, _) => panic!("{ends}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_kept_program_that_ended_badly_after_an_answer_is_an_error_once() {
    let metric = shell(&COUNTS.replace("REST", "if [ -n \"$id\" ]; then exit 3; fi"));
    for is_well in [true, true, false, true] {
        let error = score(&metric).await.err();
        let says = |error: &String| {
            error.starts_with("the program ended with exit status: 3 after an earlier answer")
        };
        assert!(error.as_ref().map_or(is_well, |error| !is_well && says(error)), "{error:?}");
        let begun = Instant::now();
        while program::has_idle(&metric.launch) && begun.elapsed() < Duration::from_mins(1) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_metric_of_a_program_keeps_its_time_limit_itself_and_has_a_range() {
    let of = |metric: CommandMetric| BoxMetric::new(metric);
    let usual = Duration::from_mins(1);
    let unset = of(CommandMetric::new(Command::new("a")));
    assert_eq!(unset.time_limit(usual), Duration::from_secs(70));
    assert_eq!(
        of(CommandMetric::new(Command::new("a")).timeout(Duration::from_secs(5))).time_limit(usual),
        Duration::from_secs(15)
    );
    assert!(
        unset.cannot_miss(eval_format::Bound::at_least(0.0))
            && !unset.cannot_miss(eval_format::Bound::at_least(0.1))
    );
    for boxed in [BoxMetric::new(unset.clone()), BoxMetric::new(std::sync::Arc::new(unset.clone()))] {
        assert_eq!(boxed.time_limit(usual), Duration::from_secs(70), "a pointer to it is the same metric");
    }
}
