"""What agents of openai-agents can do besides the story."""

import unittest

from driver import ProgramTest, calls, texts

MODEL = """
    import json
    from agents import Agent, Model, ModelResponse, Usage, function_tool, set_tracing_disabled
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    set_tracing_disabled(True)

    class Script(Model):
        def __init__(self, *steps):
            self.steps = list(steps)

        async def get_response(self, system_instructions, input, *args, **kwargs):
            step = self.steps.pop(0)
            if isinstance(step, str):
                content = [ResponseOutputText(text=step, type="output_text", annotations=[])]
                output = [ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=content)]
            else:
                output = [
                    ResponseFunctionToolCall(id=f"f{at}", call_id=f"c{at}", type="function_call", name=name, arguments=args)
                    for at, (name, args) in enumerate(step)
                ]
            return ModelResponse(output=output, usage=Usage(), response_id=None)

        def stream_response(self, *args, **kwargs):
            raise NotImplementedError

    @function_tool
    def look(at: int) -> str:
        return f"nothing at {at}"
"""


class OpenaiAgents(ProgramTest):
    def play(self, code, name="agent"):
        program = self.program(MODEL + code, name=name)
        self.assertEqual(program.start()["type"], "started")
        return program.turn("Hi")

    def test_structured_output_is_the_json_that_the_model_wrote(self):
        answer = self.play("""
    from pydantic import BaseModel

    class Weather(BaseModel):
        city: str

    agent = Agent(name="desk", model=Script('{"city":"Oslo"}'), output_type=Weather)
""")
        self.assertEqual(texts(answer), ['{"city":"Oslo"}'])

    def test_the_result_of_a_tool_can_be_the_answer(self):
        answer = self.play("""
    agent = Agent(name="desk", model=Script([("look", '{"at": 1}')]), tools=[look], tool_use_behavior="stop_on_first_tool")
""")
        self.assertEqual(calls(answer), ([("look", {"at": 1})], [{"result": "nothing at 1"}]))
        self.assertEqual(texts(answer), ["nothing at 1"])
        self.assertNotIn("usageMetadata", answer[0]["event"])

    def test_arguments_that_are_no_json_are_kept_as_they_are(self):
        answer = self.play("""
    agent = Agent(name="desk", model=Script([("look", '{"at"')], "Sorry."), tools=[look])
""")
        asked, results = calls(answer)
        self.assertEqual(asked, [("look", {"arguments": '{"at"'})])
        self.assertEqual(list(results[0]), ["error"], results)
        self.assertEqual(texts(answer), ["Sorry."])

    def test_too_many_turns_and_approvals_are_errors_after_their_calls(self):
        answer = self.play("""
    import evalset
    inner = Agent(name="desk", model=Script(*[[("look", '{"at": 1}')]] * 3), tools=[look])
    agent = evalset.with_options(inner, max_turns=2)
""")
        self.assertEqual(len(calls(answer)[0]), 2)
        self.assertIn("MaxTurnsExceeded: Max turns (2) exceeded", answer[-1]["message"])
        answer = self.play("""
    @function_tool(needs_approval=True)
    def delete() -> str:
        return "gone"

    agent = Agent(name="desk", model=Script([("delete", "{}")]), tools=[delete])
""")
        self.assertEqual(calls(answer), ([("delete", {})], []))
        self.assertIn("the agent waits for the approval of a tool", answer[-1]["message"])

    def test_judges_are_told_what_the_agents_are_made_of(self):
        program = self.program(
            MODEL
            + """
    a = Agent(name="a", model=Script(), instructions=lambda context, agent: "made")
    agent = Agent(name="desk", model=Script(), instructions="Answer.", tools=[look], handoffs=[a])
    a.handoffs.append(agent)
"""
        )
        agents = program.start()["details"]["agents"]
        self.assertEqual(list(agents), ["desk", "a"])
        self.assertEqual((agents["desk"]["instruction"], agents["a"]["instruction"]), ("Answer.", ""))
        declared = agents["desk"]["tools"][0]["functionDeclarations"][0]
        self.assertEqual((declared["name"], declared["parameters"]["required"]), ("look", ["at"]))

    def test_a_function_that_returns_a_result_is_an_error(self):
        answer = self.play("""
    from agents import Runner
    inner = Agent(name="desk", model=Script("Hi."))

    async def agent(message):
        return await Runner.run(inner, message)
""")
        self.assertIn("the function returned what a framework did (`RunResult`)", answer[-1].get("message", ""))

    def test_an_option_that_is_given_already_is_refused(self):
        code = "\n    import evalset\n    agent = evalset.with_options(Agent(name='desk', model=Script()), hooks=None)\n"
        program = self.program(MODEL + code)
        self.assertIn("leave `hooks` out of `with_options`: evalset gives it to the framework itself", program.start().get("message", ""))

    def golden(self, code):
        program = self.program(MODEL + code)
        self.assertEqual(program.start(tools="golden").get("tools"), "golden")
        program.ask("Hi")
        return program

    def test_a_subclass_of_a_function_asks_for_its_golden(self):
        program = self.golden("""
    import os
    from agents import FunctionTool

    class Audited(FunctionTool):
        pass

    async def delete(context, text):
        os._exit(77)

    tools = [Audited(name="delete", description="", params_json_schema={}, on_invoke_tool=delete)]
    agent = Agent(name="desk", model=Script([("delete", '{"at": 1}')], "It is gone."), tools=tools)
""")
        while (question := program.read())["type"] != "tool":
            self.assertEqual(question["type"], "event", question)
        self.assertEqual((question["name"], question["args"]), ("delete", {"at": 1}))
        program.write(type="tool_result", session_id="s1", id=question["id"], result={"result": "golden"})
        answer = program.answer()
        self.assertEqual((calls(answer)[1], texts(answer)), ([{"result": "golden"}], ["It is gone."]))

    def test_a_tool_that_may_run_here_is_an_error_with_golden_tools(self):
        code = """
    from agents import {0}, WebSearchTool

    class Own{1}:
        name = "own"

    own = Own.__new__(Own)
    agent = Agent(name="desk", model=Script("Hello."), tools=[WebSearchTool(), own])
"""
        for base, bases, kind in [("LocalShellTool", "(LocalShellTool)", "Own"), ("ShellTool", "", "Own")]:
            with self.subTest(base):
                end = self.golden(code.format(base, bases)).answer()[-1]
                self.assertIn(f"`{kind}` cannot ask for golden answers, and may run on this machine", end.get("message", ""))

    def test_tools_of_the_provider_and_agents_as_tools_run_with_golden_tools(self):
        program = self.golden("""
    from agents import CodeInterpreterTool, WebSearchTool

    nurse = Agent(name="nurse", model=Script("Rest."))
    tools = [WebSearchTool(), CodeInterpreterTool({}), nurse.as_tool("nurse", "A nurse.")]
    agent = Agent(name="desk", model=Script([("nurse", '{"input": "It hurts."}')], "Rest, says the nurse."), tools=tools)
""")
        answer = program.answer()
        self.assertEqual((calls(answer)[1], texts(answer)[-1]), ([{"result": "Rest."}], "Rest, says the nurse."))

    def test_of_several_handoffs_one_is_taken(self):
        answer = self.play("""
    a = Agent(name="a", model=Script("This is a."))
    b = Agent(name="b", model=Script("This is b."))
    first = [("look", '{"at": 1}'), ("transfer_to_a", "{}"), ("transfer_to_b", "{}")]
    agent = Agent(name="desk", model=Script(first), tools=[look], handoffs=[a, b])
""")
        results = [{"result": "nothing at 1"}, {"assistant": "a"}, {"result": "Multiple handoffs detected, ignoring this one."}]
        self.assertEqual(calls(answer)[1], results)
        self.assertEqual(texts(answer), ["This is a."])


if __name__ == "__main__":
    unittest.main()
