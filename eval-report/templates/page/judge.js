// Judges: a card for each, with its verdict, its votes, the rubrics and what it was asked.

const verdictOf = (score) => (score === null ? ["not_evaluated", "no verdict"] : score === 1 ? ["passed", "yes"] : ["failed", score === 0 ? "no" : String(score)]);

function rubricTable(rubrics) {
  if (!rubrics.length) return null;
  const lines = rubrics.map((rubric) => [
    "", el("div", "rubric", el("div", "mono", rubric.id), rubric.text ? said(rubric.text) : null, rubric.turn ? el("div", "soft", `turn ${rubric.turn}`) : null), pill(...verdictOf(rubric.score)),
    rubric.rationale ? said(rubric.rationale, "", inCode(rubric.rationale.t)) : null,
  ]);
  return table("grid rubrics", ["rubric", "verdict", "the judge's reason"], lines);
}

// JSON with a field on each line, if the text is such.
function pretty(text) {
  try {
    const value = text.cut ? null : JSON.parse(text.t);
    if (!value || typeof value !== "object" || Array.isArray(value)) return text;
    const line = ([key, it]) => `${key}: ${typeof it === "string" ? it : JSON.stringify(it)}`;
    return { t: Object.entries(value).map(line).join("\n") };
  } catch {
    return text;
  }
}

// The votes on a question: a line each, which opens the whole answer.
function votes(question) {
  return el("ol", "votes", question.votes.map((vote, at) => {
    const of = question.votes.length > 1 ? `Vote ${at + 1} of ${question.votes.length}: ` : "The answer: ";
    const node = el("details", "", el("summary", "", of, el("b", "", vote.verdict || "not in short"), vote.reason ? el("span", "soft", " ", inCode(vote.reason)) : null),
      said(pretty(question.answers[at]), "vote"));
    node.open = whole || !vote.verdict;
    return el("li", "", node);
  }));
}

function questionOf(question, at, all) {
  const which = all > 1 ? `Prompt ${at + 1} of ${all}` : "The prompt";
  const node = el("details", "", el("summary", "", [which, question.template].filter(Boolean).join(": ")), said(question.prompt, "prompt"));
  node.open = whole;
  return el("div", "question", question.tally && all > 1 ? el("p", "label", `Question ${at + 1}: ${question.tally}`) : null, votes(question), node);
}

function judgeCard(judge) {
  const needed = judge.score === null || judge.threshold === null ? "" : `, needed ${judge.threshold}`;
  const tally = judge.questions.length === 1 ? judge.questions[0].tally : null;
  return el("div", "judge",
    el("p", "judge-head", judge.state ? pill(judge.state, titles[judge.state] || judge.state) : null, el("b", "", judge.purpose),
      judge.score === null ? null : el("span", "", judge.score + needed), tally ? el("span", "", tally) : null),
    judge.reason ? el("p", "judge-why", inCode(judge.reason)) : null,
    el("p", "soft", `asked ${judge.model}: ${judge.asked}`),
    rubricTable(judge.rubrics),
    judge.questions.map((question, at) => questionOf(question, at, judge.questions.length)),
    judge.questions.length ? null : el("p", "soft", "The prompts are not recorded."));
}

function judges(run) {
  return run.judges.length ? block("Judges", run.judges.map(judgeCard)) : null;
}
