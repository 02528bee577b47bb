#!/usr/bin/env python3
"""Writes what the plugin of google-adk's environment simulation answers: `eval-core/src/tools/environment_simulation.json`.

`tests/adk/environment_simulation.py` with google-adk 2.13.0; it needs no network, as its model is scripted. Each experiment is
a fault file and the calls of an agent. The answers are ADK's, with null where the real tool ran, or its error. With `--check`
nothing is written, and other answers than the file's are an error.
"""

import asyncio
import itertools
import json
import logging
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.environment_simulation import EnvironmentSimulationFactory
from google.adk.tools.environment_simulation.environment_simulation_config import EnvironmentSimulationConfig
from google.genai import types

FIXTURE = pathlib.Path(__file__).parents[2] / "eval-core/src/tools/environment_simulation.json"


def get_weather(city: str, day: str = "today") -> dict:
    """Weather."""
    return {"real": True}


def book(id: int) -> dict:
    """Books."""
    return {"real": True}


class Scripted(BaseLlm):
    model: str = "scripted"
    calls: list = []

    async def generate_content_async(self, request, stream=False):
        done = sum(1 for content in request.contents for part in content.parts if part.function_response)
        if done < len(self.calls):
            name, args = self.calls[done]
            part = types.Part(function_call=types.FunctionCall(name=name, args=args))
        else:
            part = types.Part(text="done")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def answers(config, calls):
    plugin = EnvironmentSimulationFactory.create_plugin(EnvironmentSimulationConfig.model_validate_json(json.dumps(config)))
    agent = LlmAgent(name="a", model=Scripted(calls=calls), tools=[get_weather, book])
    runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[plugin]))
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text="go")])
    found = []
    async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        found += [response.response for response in event.get_function_responses()]
    return [None if answer == {"real": True} else answer for answer in found]


def of(*injections, tool="get_weather", **keys):
    return {"tool_simulation_configs": [{"tool_name": tool, "injection_configs": list(injections), **keys}]}


def response(answer, **keys):
    return {"injected_response": answer, **keys}


def strategy(kind, tool="book"):
    return {"tool_simulation_configs": [{"tool_name": tool, "mock_strategy_type": kind}]}


PARIS, OSLO, BOOK = ("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Oslo"}), ("book", {"id": 1})
DOWN = {"injected_error": {"injected_http_error_code": 503, "error_message": "down"}}

# The format was read from the experiments up to 25, without chance and models. The experiments from 31 ask for types of values.
EXPERIMENTS = [
    (1, "a response", of(response({"sky": "sunny"})), [PARIS, BOOK]),
    (2, "an error", of(DOWN), [PARIS]),
    (3, "match_args", of(response({"sky": "s"}, match_args={"city": "Paris"})), [PARIS, OSLO]),
    (4, "1 == True == 1.0", of(response({"x": 1}, match_args={"id": 1.0}), tool="book"), [BOOK, ("book", {"id": True})]),
    (5, "a default that the model left out", of(response({"x": 1}, match_args={"day": "today"})), [PARIS]),
    (6, "match_args {}", of(response({"x": 1}, match_args={})), [PARIS]),
    (7, "the first that matches", of(response({"n": 1}, injection_probability=0.0), response({"n": 2})), [PARIS]),
    (8, "an empty response", of(response({})), [PARIS]),
    (9, "a response that is no object", of(response([1])), [PARIS]),
    (10, "both", of(response({"a": 1}, **DOWN)), [PARIS]),
    (11, "no injections and no strategy", of(), [PARIS]),
    (12, "one tool twice", {"tool_simulation_configs": of(response({"a": 1}))["tool_simulation_configs"] * 2}, [PARIS]),
    (13, "a wait", of(response({"a": 1}, injected_latency_seconds=0.3)), [PARIS]),
    (14, "a long wait", of(response({"a": 1}, injected_latency_seconds=121)), [PARIS]),
    (15, "a negative wait, a probability of 7, unknown keys",
     {**of(response({"a": 1}, injected_latency_seconds=-1, injection_probability=7, nosuch=1)), "nosuch": 2}, [PARIS]),
    (18, "a tool that the agent does not have", of(response({"a": 1}), tool="nosuch"), [PARIS]),
    (21, "a strategy by its name", strategy("MOCK_STRATEGY_TOOL_SPEC"), [BOOK]),
    (22, "the strategy 2", strategy(2), [BOOK]),
    (23, "an unknown model", {"simulation_model": "nosuch-model", **of(response({"a": 1}))}, [PARIS]),
    (24, "camelCase",
     {"toolSimulationConfigs": [{"toolName": "get_weather", "injectionConfigs": [{"injectedResponse": {"a": 1}}]}]}, [PARIS]),
    (31, "numbers as texts, as floats and as booleans",
     of({"injected_error": {"injected_http_error_code": "503", "error_message": ""}, "random_seed": "4"},
        mock_strategy_type=False), [PARIS]),
    (32, "a whole float", of({"injected_error": {"injected_http_error_code": 503.0, "error_message": "m"}}), [PARIS]),
    (33, "a probability and a wait as texts",
     of(response({"a": 1}, injection_probability="1", injected_latency_seconds="0.1")), [PARIS]),
    (34, "a seed with a fraction", of(response({"a": 1}, random_seed=4.5)), [PARIS]),
    (35, "a seed that is no number", of(response({"a": 1}, random_seed="x")), [PARIS]),
    (36, "a code with a fraction", of({"injected_error": {"injected_http_error_code": 503.5, "error_message": "m"}}), [PARIS]),
    (37, "a message that is a number", of({"injected_error": {"injected_http_error_code": 503, "error_message": 1}}), [PARIS]),
    (38, "no configuration of a model", {"simulation_model_configuration": None, **of(response({"a": 1}))}, [PARIS]),
    (39, "a configuration that is a list", {"simulation_model_configuration": [], **of(response({"a": 1}))}, [PARIS]),
    (40, "an unknown key of a model", {"simulation_model_configuration": {"nosuch": 1}, **of(response({"a": 1}))}, [PARIS]),
    (41, "a temperature that is no number",
     {"simulation_model_configuration": {"temperature": "x"}, **of(response({"a": 1}))}, [PARIS]),
    (42, "a strategy as a text", of(response({"a": 1}), mock_strategy_type="0"), [PARIS]),
    (43, "a probability that is null", of(response({"a": 1}, injection_probability=None)), [PARIS]),
]


def run(number, name, config, calls):
    row = {"number": number, "name": name, "file": config, "calls": calls}
    try:
        return {**row, "answers": asyncio.run(answers(config, calls))}
    except Exception as error:
        return {**row, "error": type(error).__name__}


rows = [json.dumps(run(*experiment)) for experiment in EXPERIMENTS]
if sys.argv[1:] == ["--check"]:
    known = FIXTURE.read_text().strip("[]\n").split(",\n")
    changed = [f"before: {before}\n   now: {now}" for before, now in itertools.zip_longest(known, rows) if before != now]
    if changed:
        sys.exit("\n".join([f"google-adk does not answer as {FIXTURE} has it:", *changed]))
else:
    FIXTURE.write_text("[\n" + ",\n".join(rows) + "\n]\n")
print(f"{FIXTURE}: {len(rows)} experiments")
