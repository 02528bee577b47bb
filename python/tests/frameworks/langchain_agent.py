"""An agent of LangChain, behind a graph whose other node is the nurse."""

import itertools
from typing import Literal

import story
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

IDS = itertools.count(1)


class Script(BaseChatModel):
    @property
    def _llm_type(self):
        return "script"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        users = [story.said(message.content) for message in messages if isinstance(message, HumanMessage)]
        last = max(at for at, message in enumerate(messages) if isinstance(message, HumanMessage))
        number = sum(isinstance(message, AIMessage) for message in messages[last + 1 :])
        text, calls = story.step(users, number)
        calls = [{"id": f"c{next(IDS)}", "name": name.replace("@", ""), "args": args} for name, args in calls]
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        message = AIMessage(content=text, tool_calls=calls, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
def nurse() -> str:
    """Calls the nurse."""
    return "The nurse comes."


desk = create_agent(
    Script(),
    [story.get_weather, story.delete, nurse],
    name="desk",
    middleware=[ToolRetryMiddleware(max_retries=0, on_failure="continue")],
)
other = create_agent(Script(), [], name="nurse")


class State(MessagesState):
    speaker: str


def route(state: State) -> Command[Literal["desk", "nurse"]]:
    speaker = "nurse" if state["messages"][-1].content == "Are you there?" else "desk"
    return Command(goto=speaker, update={"speaker": speaker})


graph = StateGraph(State)
graph.add_node("route", route)
graph.add_node("desk", desk)
graph.add_node("nurse", other)
graph.add_edge(START, "route")
agent = graph.compile()
