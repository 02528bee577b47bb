"""What agents of pydantic-ai can do besides the story."""

import unittest

from driver import ProgramTest, calls, parts, texts
from test_page import blocks

MODEL = """
    from pydantic import BaseModel
    from pydantic_ai import Agent, RunContext
    from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def last(messages):
        return messages[-1].parts[-1]
"""


class PydanticAi(ProgramTest):
    def test_structured_output_is_json_and_no_call(self):
        program = self.program(
            MODEL
            + """
    class Weather(BaseModel):
        city: str
        degrees: int = 20

    def model(messages, info):
        name = info.output_tools[0].name
        if last(messages).part_kind == "user-prompt":
            # The first attempt does not validate.
            return ModelResponse(parts=[ThinkingPart("Hm."), ToolCallPart(name, {"degrees": "hot"})])
        return ModelResponse(parts=[ToolCallPart(name, {"city": "Oslo"})])

    agent = Agent(FunctionModel(model), output_type=Weather)
"""
        )
        program.start()
        answer = program.turn("Weather?")
        self.assertEqual(calls(answer), ([], []))
        self.assertEqual(parts(answer), [{"text": "Hm.", "thought": True}, {"text": '{"city": "Oslo", "degrees": 20}'}])
        self.assertEqual(answer[-1]["type"], "turn_end")

    def test_deps_are_made_of_the_state(self):
        code = (
            MODEL
            + """
    import evalset

    def model(messages, info):
        if last(messages).part_kind == "user-prompt":
            return ModelResponse(parts=[ToolCallPart("unit", {})])
        return ModelResponse(parts=[TextPart(f"It is {last(messages).content}.")])

    inner = Agent(FunctionModel(model), deps_type=dict)

    @inner.tool
    def unit(ctx: RunContext[dict]) -> str:
        return ctx.deps["unit"]

    agent = evalset.with_options(inner, lambda session: {"deps": session.state})
"""
        )
        program = self.program(code)
        program.start(state={"unit": "C"})
        self.assertEqual(texts(program.turn("Hi")), ["It is C."])
        program = self.program(code, name="inner")
        message = program.start(state={"unit": "C"})["message"]
        self.assertIn("the case begins with state (`unit`), and agents of pydantic-ai have no place for it", message)
        self.assertIn("evalset.with_options(agent, lambda session:", message)
        # The same options for each conversation have nothing of its state.
        program = self.program(code + "    fixed = evalset.with_options(inner, deps={'unit': 'F'})\n", name="fixed")
        self.assertEqual(program.start(state={"unit": "C"}).get("message"), message)

    def test_an_option_that_is_given_already_is_refused(self):
        code = "\n    import evalset\n    agent = evalset.with_options(Agent('test'), lambda session: {'message_history': []})\n"
        program = self.program(MODEL + code)
        self.assertIn("leave `message_history` out of `with_options`: evalset gives it to the framework itself", program.start().get("message", ""))

    def test_the_code_of_the_page(self):
        program = self.program(blocks()["bank"])
        program.start(state={"owner": "Anna"})
        self.assertEqual(calls(program.turn("Hi")), ([("balance", {})], [{"result": "Anna has 100 euros"}]))

    def test_a_function_that_returns_what_a_framework_did_is_an_error(self):
        program = self.program(
            MODEL
            + """
    inner = Agent(FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart("Hi.")])))

    async def agent(message):
        result = await inner.run(message)
        return result.output if message == "text" else result
"""
        )
        program.start()
        expected = "the function returned what a framework did (`AgentRunResult`); name the framework's agent itself"
        self.assertIn(expected, program.turn("Hi")[-1].get("message", ""))
        self.assertEqual(texts(program.turn("text")), ["Hi."])

    def test_a_tool_that_raises_is_an_error_of_the_agent_after_its_call(self):
        program = self.program(
            MODEL
            + """
    agent = Agent(FunctionModel(lambda messages, info: ModelResponse(parts=[ToolCallPart("look", '{"at": 1}')])))

    @agent.tool_plain
    def look(at: int) -> str:
        raise ValueError("nothing there")
"""
        )
        program.start()
        answer = program.turn("Hi")
        self.assertEqual(calls(answer)[0], [("look", {"at": 1})])
        self.assertIn("ValueError: nothing there (in look, agent.py:", answer[-1]["message"])

    def test_a_tool_that_waits_for_approval_is_an_error(self):
        program = self.program(
            MODEL
            + """
    from pydantic_ai import DeferredToolRequests

    agent = Agent(
        FunctionModel(lambda messages, info: ModelResponse(parts=[ToolCallPart("delete", {})])),
        output_type=[str, DeferredToolRequests],
    )

    @agent.tool_plain(requires_approval=True)
    def delete() -> str:
        return "gone"
"""
        )
        program.start()
        answer = program.turn("Hi")
        self.assertEqual(calls(answer)[0], [("delete", {})])
        self.assertIn("the agent waits for results or approvals of tools", answer[-1]["message"])


if __name__ == "__main__":
    unittest.main()
