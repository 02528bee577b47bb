"""Turns of a conversation: the message of the user, and what the agent does."""

from __future__ import annotations

import contextlib
import inspect
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ._errors import AgentError, headline
from ._golden import Golden, value
from ._json import as_text, plain
from ._parts import call_part, result_part, tokens

# A result of a later turn may answer a call of an earlier one, so ids do not begin again.
IDS = itertools.count(1)
Write = Callable[["dict[str, Any]"], None]
# The tool of ADK that hands over to another agent.
TRANSFER_TO_AGENT = "transfer_to_agent"


@dataclass
class Session:
    """A conversation, as its case begins it."""

    id: str
    app_name: str
    user_id: str
    state: dict[str, Any] = field(default_factory=dict)
    """The state of the session. An agent may change it."""
    golden: Golden | None = field(default=None, repr=False, compare=False)
    """What answers the tools, if they do not run."""


class Turn:
    """A message of the user. What the agent says and does is recorded with its methods, from any thread."""

    def __init__(self, content: dict[str, Any], session: Session, history: list[dict[str, str]], write: Write) -> None:
        self.session = session
        self.history = history
        """The earlier turns, as messages: `{"role": "user", "content": ".."}`, then one of the role `assistant`."""
        self.parts_were_read = False
        self.answer: str | None = None
        """The last text of the agent."""
        self.failure: str | None = None
        self.shows_something = False
        """Whether something was recorded that can be an answer."""
        self._content = content
        self._write = write
        # The names of the tools whose results were not recorded yet, by the ids of their calls.
        self._open: dict[str, str] = {}
        # The tools of the recorded calls, and those whose goldens were asked for. Threads append to lists without a loss.
        self._called: list[str] = []
        self._golden: list[str] = []

    @property
    def open_call(self) -> str | None:
        """The tool of the first call that has no result."""
        return next(iter(self._open.values()), None)

    @property
    def message(self) -> str:
        """The text of the message."""
        return "\n".join(part["text"] for part in self._content.get("parts") or [] if part.get("text"))

    @property
    def content(self) -> dict[str, Any]:
        """The message with all its parts, as ADK's `Content` with keys in camelCase."""
        self.parts_were_read = True
        return self._content

    @property
    def state(self) -> dict[str, Any]:
        """The state of the session, which the agent may change."""
        return self.session.state

    def text(self, text: str, *, author: str | None = None) -> None:
        """Records a text. The last text of a turn is its answer."""
        self.model([{"text": text}], author=author)

    def tool(self, name: str, args: Mapping[str, Any], call: Callable[..., Any], *, author: str | None = None) -> Any:
        """Calls a tool with its arguments, and records the call with its result or error.

        The result is returned unchanged. If the tool is async, it is awaited: `await turn.tool(..)`. With golden tools the
        case answers, and the tool is not called.
        """
        done = self.begin(name, args, author=author)
        golden = self.session.golden
        if golden is not None:
            self._golden.append(name)
            if inspect.iscoroutinefunction(inspect.unwrap(call)):
                return _finish(golden.asked(name, args), done, lambda answer: value(answer, call))
            with _failure_told(done):
                answer = golden.ask(name, args)
            done(answer)
            return value(answer, call)
        with _failure_told(done):
            result = call(**args)
        if inspect.isawaitable(result):
            return _finish(result, done)
        done(result)
        return result

    def tool_call(self, name: str, args: Mapping[str, Any], result: Any, *, author: str | None = None) -> None:
        """Records a call that was made already. A failure is `{"error": ".."}`."""
        self.begin(name, args, author=author)(result)

    def begin(self, name: str, args: Any, *, author: str | None = None) -> Callable[[Any], None]:
        """Records a call whose result is not known yet, and returns a function that records the result."""
        id = f"call-{next(IDS)}"
        self.model([call_part(id, name, args)], author=author)
        self._open[id] = name

        def done(result: Any) -> None:
            self._open.pop(id, None)
            try:
                part = result_part(id, name, result)
            except AgentError as error:
                # An agent may catch what its tools raise.
                self.fail(str(error))
            else:
                self.results([part], author=author)

        return done

    def usage(self, input_tokens: int, output_tokens: int, *, model: str | None = None) -> None:
        """Records the tokens of a model call."""
        self.model([], usage=tokens(input_tokens, output_tokens), model=model)

    def model(
        self,
        parts: list[dict[str, Any]],
        *,
        author: str | None = None,
        usage: dict[str, int] | None = None,
        model: str | None = None,
    ) -> None:
        """Records what a model put out: its parts in order, and its tokens."""
        event: dict[str, Any] = {"author": author} if author else {}
        if parts:
            event["content"] = {"role": "model", "parts": parts}
        if usage:
            event["usageMetadata"] = usage
        if model:
            event["modelVersion"] = model
        if event.keys() - {"author"}:
            self.event(event)

    def results(self, parts: list[dict[str, Any]], *, author: str | None = None) -> None:
        """Records results of tools."""
        self.event({**({"author": author} if author else {}), "content": {"role": "user", "parts": parts}})

    def event(self, event: dict[str, Any]) -> None:
        """Records an event of ADK, with keys in camelCase."""
        event = plain(event)
        content = event.get("content") or {}
        texts = [part["text"] for part in content.get("parts") or [] if part.get("text") and not part.get("thought")]
        if texts and not event.get("partial"):
            self.answer = "\n".join(texts)
        # A result can be the answer, if the event says so.
        is_shown = (event.get("actions") or {}).get("skipSummarization") or any(map(_shows, content.get("parts") or []))
        self.shows_something = self.shows_something or bool(is_shown)
        if not event.get("partial"):
            called = [part["functionCall"] for part in content.get("parts") or [] if part.get("functionCall")]
            self._called.extend(str(call.get("name")) for call in called)
        self._write({"type": "event", "event": event})

    def say(self, answer: Any) -> None:
        """Records an answer, unless it is the last text already. What is no text becomes JSON."""
        if answer is not None and as_text(answer) != self.answer:
            self.text(as_text(answer))

    def check_asked(self) -> None:
        """Makes the turn an error if a call was recorded whose golden was not asked for. `transfer_to_agent` runs."""
        if self.session.golden is None:
            return
        unasked = Counter(self._called) - Counter(self._golden)
        name = next((name for name in unasked if name != TRANSFER_TO_AGENT), None)
        if name is not None:
            self.fail(
                f"the call of `{name}` was recorded, and no golden was asked for it: its tool may have run; let `evalset.tool` or "
                "`turn.tool` call it"
            )

    def fail(self, reason: str) -> None:
        """Makes the turn an error when it ends."""
        self.failure = self.failure or reason


async def _finish(
    result: Awaitable[Any], done: Callable[[Any], None], made: Callable[[Any], Any] = lambda result: result
) -> Any:
    with _failure_told(done):
        returned = await result
    done(returned)
    return made(returned)


@contextlib.contextmanager
def _failure_told(done: Callable[[Any], None]) -> Iterator[None]:
    """Records what a tool raises as its result."""
    try:
        yield
    except BaseException as error:
        done({"error": headline(error)})
        raise


def _shows(part: dict[str, Any]) -> bool:
    """Whether a user sees something of a part."""
    is_blank = not str(part.get("text") or "").strip() and not part.keys() - {"text", "thought", "thoughtSignature"}
    return not (is_blank or part.get("thought") or {"functionCall", "functionResponse"} & part.keys())
