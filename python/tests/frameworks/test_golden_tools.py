"""Golden tools of agents of all frameworks: none of their tools runs, and their agents do."""

import textwrap
import unittest
from pathlib import Path

from driver import ProgramTest, calls, texts

HERE = Path(__file__).parent
FRAMEWORKS = ["pydantic_ai", "openai_agents", "langchain", "google_adk"]


class GoldenTools(ProgramTest):
    def story(self, framework):
        """The agent of the story, whose tools end the process if they run."""
        code = f"""
            import os, sys
            sys.path.insert(0, {str(HERE)!r})
            import story

            def ran(*args):
                os._exit(77)

            story.time.sleep = ran
            import {framework}_agent
            agent = {framework}_agent.agent
            """
        program = self.program(code)
        started = program.start(tools="golden", **({"state": {}} if framework != "langchain" else {}))
        self.assertEqual((started.get("type"), started.get("tools")), ("started", "golden"), started)
        return program

    def told(self, program, *answers):
        """Sends the answers to the next questions in reverse, and what the turn is in the end."""
        questions = []
        while len(questions) < len(answers):
            message = program.read()
            self.assertIn(message["type"], ("event", "tool"), message)
            questions += [message] if message["type"] == "tool" else []
        for question, answer in reversed(list(zip(questions, answers))):
            program.write(type="tool_result", session_id="s1", id=question["id"], **answer)
        return [(question["name"], question["args"]) for question in questions], program.answer()

    def test_goldens_answer_and_no_tool_runs(self):
        for framework in FRAMEWORKS:
            with self.subTest(framework):
                program = self.story(framework)
                program.ask("Compare Oslo and Bergen")
                golden = {"sky": "golden", "city": "?"}
                asked, answer = self.told(program, {"result": golden}, {"result": golden})
                self.assertEqual(
                    sorted(asked, key=str), [("get_weather", {"city": "Bergen"}), ("get_weather", {"city": "Oslo"})]
                )
                self.assertEqual(texts(answer)[-1], "Rain in both.")
                results = calls(answer)[1]
                self.assertTrue(results and all("golden" in str(result) for result in results), results)

    def test_handoffs_run(self):
        # Of pydantic-ai it is a tool like others.
        for framework in ["openai_agents", "google_adk"]:
            with self.subTest(framework):
                program = self.story(framework)
                self.assertEqual(texts(program.turn("Call the nurse"))[-1], "This is the nurse.")

    def golden(self, code):
        """An agent of this code, beside the agents of the story."""
        program = self.program(f"import sys\nsys.path.insert(0, {str(HERE)!r})\nimport story\n{textwrap.dedent(code)}")
        self.assertEqual(program.start(tools="golden").get("tools"), "golden")
        return program

    def calls_of(self, program, said):
        """The tools of the recorded calls of a turn without questions, and those that are the agent's own."""
        answer = program.turn(said)
        self.assertEqual((answer[-1]["type"], [it for it in answer if it["type"] == "tool"]), ("turn_end", []), answer)
        return [name for name, _ in calls(answer)[0]], [it["name"] for it in answer if it["type"] == "own_call"]

    def test_calls_that_no_tool_answers_are_told(self):
        agents = {
            "a handoff of openai-agents": ("from openai_agents_agent import agent", "Call the nurse", ["transfer_to_nurse"]),
            "an agent of openai-agents as a tool": (
                """
                story.step = lambda users, number: {
                    "go": [("", [("helper", {"input": "hi"})]), ("Done.", [])], "hi": [("Here.", [])]
                }[users[-1]][number]
                from agents import Agent
                from openai_agents_agent import Script
                helper = Agent(name="inner", model=Script()).as_tool(tool_name="helper", tool_description="helps")
                agent = Agent(name="desk", model=Script(), tools=[helper])
                """,
                "go",
                ["helper"],
            ),
            "a guardrail of openai-agents": (
                """
                from agents import ToolGuardrailFunctionOutput, tool_input_guardrail
                from openai_agents_agent import agent

                @tool_input_guardrail
                def refuses(data):
                    return ToolGuardrailFunctionOutput.reject_content("not today")

                agent.tools[0].tool_input_guardrails = [refuses]
                """,
                "What is the weather in Paris?",
                ["get_weather"],
            ),
            "arguments that pydantic-ai refuses": (
                """
                from pydantic_ai import Agent
                from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
                from pydantic_ai.models.function import FunctionModel

                def model(messages, info):
                    answered = sum(message.kind == "response" for message in messages)
                    parts = [ToolCallPart("get_weather", {"town": 1}), ToolCallPart("no_such_tool", {}), TextPart("Done.")]
                    return ModelResponse(parts=[parts[answered]])

                agent = Agent(FunctionModel(model), tools=[story.get_weather], retries=3)
                """,
                "go",
                ["get_weather"],
            ),
            "a callback of google-adk": (
                """
                from google_adk_agent import agent
                agent.before_tool_callback = lambda tool, args, tool_context: {"sky": "guarded"}
                """,
                "Compare Oslo and Bergen",
                ["get_weather", "get_weather"],
            ),
        }
        for what, (code, said, own) in agents.items():
            with self.subTest(what):
                self.assertEqual(self.calls_of(self.golden(code), said)[1], own)

    def test_an_agent_of_google_adk_that_runs_code_itself_is_refused_before_its_first_turn(self):
        begin = """
            from google.adk.agents import LlmAgent
            from google.adk.apps import App
            from google.adk.code_executors import BuiltInCodeExecutor
            from google.adk.code_executors.unsafe_local_code_executor import UnsafeLocalCodeExecutor
            from google.adk.tools.agent_tool import AgentTool
            from google_adk_agent import agent as plain
            coder = LlmAgent(name="coder", model=plain.model, code_executor=UnsafeLocalCodeExecutor())
        """
        agents = {
            "the agent": "agent = coder",
            "an app": "agent = App(name='evals', root_agent=coder)",
            "a sub-agent": "agent = LlmAgent(name='root', model=plain.model, sub_agents=[LlmAgent(name='mid', sub_agents=[coder])])",
            "an agent as a tool": "agent = LlmAgent(name='root', model=plain.model, tools=[AgentTool(agent=coder)])",
        }
        for what, code in agents.items():
            with self.subTest(what):
                program = self.program(
                    f"import sys\nsys.path.insert(0, {str(HERE)!r})\nimport story\n{textwrap.dedent(begin)}\n{code}"
                )
                answer = program.start(tools="golden")
                self.assertEqual(answer["type"], "error", answer)
                self.assertIn("the agent `coder` runs code by its `UnsafeLocalCodeExecutor`, which no golden answers", str(answer))
        # An executor at the model runs nothing here, and without golden tools each may run.
        by_model = "agent = plain.model_copy(update={'code_executor': BuiltInCodeExecutor()})"
        for code, tools in [(by_model, {"tools": "golden"}), ("agent = coder", {})]:
            program = self.program(
                f"import sys\nsys.path.insert(0, {str(HERE)!r})\nimport story\n{textwrap.dedent(begin)}\n{code}"
            )
            self.assertEqual(program.start(**tools)["type"], "started")

    def test_a_call_that_something_else_runs_is_told_by_nothing(self):
        agents = {
            "a node of LangGraph": """
                from langchain_core.messages import AIMessage, ToolMessage
                from langgraph.graph import START, MessagesState, StateGraph

                def model(state):
                    if isinstance(state["messages"][-1], ToolMessage):
                        return {"messages": [AIMessage("Paid.")]}
                    return {"messages": [AIMessage("", tool_calls=[{"name": "pay", "args": {}, "id": "1"}])]}

                def tools(state):
                    return {"messages": [ToolMessage("paid", tool_call_id="1")]}

                graph = StateGraph(MessagesState)
                graph.add_node("model", model)
                graph.add_node("tools", tools)
                graph.add_edge(START, "model")
                graph.add_edge("tools", "model")
                graph.add_conditional_edges(
                    "model", lambda state: "tools" if state["messages"][-1].tool_calls else "__end__"
                )
                agent = graph.compile()
                """,
            "an object that is invoked": """
                from langchain_core.messages import AIMessage, ToolMessage

                class Pays:
                    def invoke(self, given, **options):
                        call = AIMessage("", tool_calls=[{"name": "pay", "args": {}, "id": "1"}])
                        return {"messages": [*given["messages"], call, ToolMessage("paid", tool_call_id="1"), AIMessage("Paid.")]}

                agent = Pays()
                """,
            "an agent of google-adk without a model": """
                from google.adk.agents import BaseAgent
                from google.adk.events import Event
                from google.genai import types

                class Pays(BaseAgent):
                    async def _run_async_impl(self, ctx):
                        call = types.Part(function_call=types.FunctionCall(id="1", name="pay", args={}))
                        paid = types.Part(function_response=types.FunctionResponse(id="1", name="pay", response={"ok": True}))
                        for part in (call, paid, types.Part(text="Paid.")):
                            content = types.Content(role="model", parts=[part])
                            yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)

                agent = Pays(name="pays")
                """,
        }
        for what, code in agents.items():
            with self.subTest(what):
                # The other side makes it an error if the case expects the call.
                self.assertEqual(self.calls_of(self.golden(code), "Pay"), (["pay"], []))

    def test_a_tool_that_fails_fails_as_in_life(self):
        for framework in ["openai_agents", "langchain"]:
            with self.subTest(framework):
                program = self.story(framework)
                program.ask("Delete it")
                asked, answer = self.told(program, {"error": "the disk is full"})
                self.assertEqual(asked, [("delete", {"number": 7})])
                self.assertEqual(texts(answer)[-1], "It is locked.")
                self.assertIn("the disk is full", str(calls(answer)[1]))


if __name__ == "__main__":
    unittest.main()
