"""Threads for agents that block."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Job = Callable[[], None]


class Worker:
    """A thread of a conversation. All its calls run there, in one context, so that what belongs to a thread or to a context
    lasts as long as the conversation.

    The thread does not keep the process from ending.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._context = contextvars.copy_context()
        threading.Thread(target=self._work, name="conversation", daemon=True).start()

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Calls a function in the thread."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def give(result: T | None, error: BaseException | None) -> None:
            if done.cancelled():
                return
            if error is None:
                done.set_result(result)  # type: ignore[arg-type]
            elif isinstance(error, StopIteration):
                done.set_exception(RuntimeError("the agent raised StopIteration"))
            else:
                done.set_exception(error)

        def job() -> None:
            result, error = None, None
            try:
                result = self._context.run(function, *arguments)
            except BaseException as raised:
                error = raised
            if not loop.is_closed():
                loop.call_soon_threadsafe(give, result, error)

        self._jobs.put(job)
        return await done

    def close(self) -> None:
        """Ends the thread after its calls."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
