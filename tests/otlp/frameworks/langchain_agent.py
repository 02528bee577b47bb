"""An agent of LangChain under OpenInference: with `create_agent`, or as a graph of nodes written by hand.

    langchain_agent.py STORY agent|graph [stream]
"""

import itertools

import capture
import story
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument(tracer_provider=capture.provider)
IDS = itertools.count(1)


def said(messages):
    users = [at for at, message in enumerate(messages) if isinstance(message, HumanMessage)]
    number = sum(isinstance(message, AIMessage) for message in messages[users[-1] + 1 :])
    text, calls = story.step(messages[users[-1]].content, number)
    return text, [{"id": f"c{next(IDS)}", "name": name.replace("@", ""), "args": args} for name, args in calls]


class Script(BaseChatModel):
    @property
    def _llm_type(self):
        return "script"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        text, calls = said(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=text, tool_calls=calls))])

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        import json

        text, calls = said(messages)
        for at, word in enumerate(text.split(" ") if text else []):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=(" " if at else "") + word))
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk
        parts = [
            {"id": call["id"], "name": call["name"], "args": json.dumps(call["args"]), "index": at}
            for at, call in enumerate(calls)
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=parts))


@tool
def fail(why: str) -> str:
    """Fails."""
    try:
        return story.fail(why)
    except ValueError as error:
        return f"error: {error}"


helper_agent = create_agent(Script(), [story.get_weather], name="helper")


@tool
def helper(request: str) -> str:
    """Asks the helper."""
    truth.call("helper", {"request": request})
    return helper_agent.invoke({"messages": [HumanMessage(request)]})["messages"][-1].content


TOOLS = [*story.TOOLS[:-1], fail, helper]
if "graph" in capture.OPTIONS:
    model = Script()
    graph = StateGraph(MessagesState)
    graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(TOOLS))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    agent = graph.compile()
else:
    agent = create_agent(Script(), TOOLS)

truth = story.Truth()
history = []
for user, _ in story.STORIES[capture.STORY]:
    asked = {"messages": [*history, HumanMessage(user)]}
    try:
        if "stream" in capture.OPTIONS:
            for state in agent.stream(asked, stream_mode="values"):
                pass
        else:
            state = agent.invoke(asked)
        history = state["messages"]
        truth.turn(user, history[-1].content)
    except RuntimeError:
        truth.turn(user, None, failed=True)
truth.write("truth.json")
