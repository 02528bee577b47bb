"""What google-adk's simulated user makes of scripted replies."""

import asyncio
import json

from google.adk.events.event import Event
from google.adk.evaluation.conversation_scenarios import ConversationScenario
from google.adk.evaluation.simulation.llm_backed_user_simulator import (
    LlmBackedUserSimulator,
    LlmBackedUserSimulatorConfig,
)
from google.adk.evaluation.simulation.user_simulator import Status
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai.types import Content, Part

ENDS = {Status.STOP_SIGNAL_DETECTED: "stop", Status.TURN_LIMIT_REACHED: "limit"}


class Script(BaseLlm):
    """Gives one reply after the other: a text, no content, only a thought, an error, or a failure."""

    replies: list
    prompts: list = []

    async def generate_content_async(self, llm_request, stream=False):
        reply = self.replies[len(self.prompts)]
        self.prompts.append(llm_request.contents[0].parts[0].text)
        if reply is None:
            yield LlmResponse()
        elif isinstance(reply, str):
            yield LlmResponse(content=Content(role="model", parts=[Part(text=reply)]))
        elif "thought" in reply:
            yield LlmResponse(content=Content(role="model", parts=[Part(text=reply["thought"], thought=True)]))
        elif "error" in reply:
            yield LlmResponse(error_code="SAFETY", error_message=reply["error"])


async def play(job):
    simulator = LlmBackedUserSimulator(
        config=LlmBackedUserSimulatorConfig.model_validate_json(json.dumps(job["config"])),
        conversation_scenario=ConversationScenario.model_validate_json(json.dumps(job["scenario"])),
    )
    simulator._llm = script = Script(model="script", replies=job["replies"], prompts=[])
    events, messages, end = [], [], None
    for events_of_turn in [*job["agent"], []]:
        try:
            said = await simulator.get_next_user_message(events)
        except RuntimeError:
            end = "error"
        else:
            end = ENDS.get(said.status)
        if end:
            break
        messages.append(said.user_message.parts[0].text)
        events.append(Event(author="user", content=said.user_message))
        events += [Event.model_validate_json(json.dumps(event)) for event in events_of_turn]
    custom = job["config"].get("custom_instructions") is not None
    return {
        "messages": messages,
        "end": end,
        "asked": len(script.prompts),
        # The built-in prompts are in ADK's own words.
        "prompts": script.prompts if custom else None,
    }


def scenario(job):
    return asyncio.run(play(job))
