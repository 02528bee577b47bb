"""The agent of the measurements for google-adk; see `cases.py`."""

import pathlib
import sys

from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent))
from cases import answer


class Shop(BaseAgent):
    async def _run_async_impl(self, context):
        text = context.user_content.parts[0].text
        order = int(text.rstrip("?").rsplit(" ", 1)[1])
        call = types.FunctionCall(name="lookup_order", args={"order_id": order})
        reply = types.FunctionResponse(name="lookup_order", response={"found": True})
        for role, part in (
            ("model", types.Part(function_call=call)),
            ("user", types.Part(function_response=reply)),
            ("model", types.Part(text=answer(order))),
        ):
            yield Event(
                invocation_id=context.invocation_id,
                author=self.name,
                content=types.Content(role=role, parts=[part]),
            )


root_agent = Shop(name="shop")
