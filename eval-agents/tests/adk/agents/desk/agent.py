"""An agent whose model is a script, for everything that an event can hold. The user's words choose what happens."""

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import LongRunningFunctionTool, ToolContext
from google.genai import types

USAGE = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=11, candidates_token_count=7, thoughts_token_count=3, total_token_count=21
)


def text(words, **more):
    return types.Part(text=words, **more)


def call(name, **args):
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


class Script(BaseLlm):
    model: str = "script"
    # The words of the user, each with the parts of the model.
    replies: dict

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        said = " ".join(part.text or "" for part in llm_request.contents[-1].parts)
        if last.function_response:
            yield self.response([text(f"The tool said {last.function_response.response}.")])
            return
        if "break" in said:
            raise RuntimeError("the script is broken")
        if "refuse" in said:
            yield LlmResponse(error_code="SAFETY", error_message="blocked")
            return
        if "look" in said:
            images = sum(1 for part in llm_request.contents[-1].parts if part.inline_data)
            yield self.response([text(f"I see {images} image.")])
            return
        parts = next((parts for words, parts in self.replies.items() if words in said), [text("Hello.")])
        if stream and parts[0].text:
            for word in parts[0].text.split(" "):
                yield LlmResponse(content=types.Content(role="model", parts=[text(word)]), partial=True)
        yield self.response(parts)

    def response(self, parts):
        return LlmResponse(
            content=types.Content(role="model", parts=parts), usage_metadata=USAGE, model_version="script-1"
        )


def weather(city: str, tool_context: ToolContext) -> dict:
    """The weather in a city."""
    tool_context.state["last_city"] = city
    return {"sky": "sunny"}


def fail(why: str) -> dict:
    """Fails."""
    raise ValueError(why)


def refund(amount: int) -> dict:
    """Says that it did not work."""
    return {"error": "the register is closed", "amount": amount}


def approve() -> dict:
    """Asks a person, who answers some time later."""
    return {"status": "pending"}


async def draw(tool_context: ToolContext) -> dict:
    """Stores an image."""
    image = types.Part(inline_data=types.Blob(data=b"png", mime_type="image/png"))
    version = await tool_context.save_artifact("image.png", image)
    return {"version": version}


billing = LlmAgent(
    name="billing",
    description="Answers questions on bills.",
    model=Script(replies={"bill": [text("Your bill is 7 euros.")]}),
)

root_agent = LlmAgent(
    name="desk",
    instruction="Help the guests.",
    model=Script(
        replies={
            "weather": [text("Let me look."), call("weather", city="Lima")],
            "both": [call("weather", city="Lima"), call("weather", city="Oslo")],
            "bill": [call("transfer_to_agent", agent_name="billing")],
            "fail": [call("fail", why="no such room")],
            "refund": [call("refund", amount=3)],
            "approve": [call("approve")],
            "draw": [call("draw")],
            "think": [text("Hm.", thought=True), text("Yes.")],
            "long": [text("one two three")],
        }
    ),
    tools=[weather, fail, refund, draw, LongRunningFunctionTool(approve)],
    sub_agents=[billing],
)
