"""What agents and apps of google-adk can do besides the story."""

import unittest

from driver import ProgramTest, texts

MODEL = """
    from google.adk.agents import LlmAgent
    from google.adk.apps import App
    from google.adk.models import BaseLlm, LlmResponse
    from google.genai import types

    class Script(BaseLlm):
        model: str = "script"

        async def generate_content_async(self, llm_request, stream=False):
            said = [part.text for content in llm_request.contents for part in content.parts if part.text]
            if said[-1] == "Break":
                yield LlmResponse(error_code="429", error_message="quota exceeded")
            else:
                text = f"{llm_request.config.system_instruction.splitlines()[0]} {said}"
                yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))

    inner = LlmAgent(name="desk", model=Script(), instruction="In {unit}, {user:name?}.", output_key="last")
    app = App(name="office", root_agent=inner)
"""


class GoogleAdk(ProgramTest):
    def test_agents_and_apps_have_the_state_of_the_case(self):
        for name in ("inner", "app"):
            with self.subTest(name):
                program = self.program(MODEL, name=name)
                started = program.start("s1", state={"unit": "C", "user:name": "Anna"})
                self.assertEqual(started["details"]["agents"]["desk"]["instruction"], "In {unit}, {user:name?}.")
                # State of the same user is no state of another conversation.
                program.start("s2", state={"unit": "F"})
                answer = program.turn("Hi", session="s1")
                self.assertEqual(texts(answer), ["In C, Anna. ['Hi']"])
                self.assertEqual(answer[0]["event"]["actions"]["stateDelta"], {"last": "In C, Anna. ['Hi']"})
                self.assertEqual(answer[-1], {"type": "turn_end", "session_id": "s1"})
                self.assertEqual(texts(program.turn("Hi", session="s2")), ["In F, . ['Hi']"])
                self.assertEqual(program.end(), 0)

    def test_an_error_of_the_model_is_an_event_with_its_code(self):
        program = self.program(MODEL, name="inner")
        program.start(state={"unit": "C"})
        answer = program.turn("Break")
        self.assertEqual((answer[0]["event"]["errorCode"], answer[0]["event"]["errorMessage"]), ("429", "quota exceeded"))

    def test_an_option_that_is_given_already_is_refused(self):
        code = "\n    import evalset\n    agent = evalset.with_options(inner, app_name='office', agent=inner)\n"
        program = self.program(MODEL + code)
        self.assertIn("leave `agent` out of `with_options`: evalset gives it to the framework itself", program.start().get("message", ""))

    def test_a_missing_key_of_the_state_is_an_error(self):
        program = self.program(MODEL, name="app")
        program.start()
        self.assertIn("Context variable not found: `unit`", program.turn("Hi")[-1]["message"])


if __name__ == "__main__":
    unittest.main()
