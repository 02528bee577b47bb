"""What graphs of LangGraph and runnables of LangChain can do besides the story."""

import unittest

from driver import ProgramTest, calls, parts, texts

MODEL = """
    import operator
    from typing import Annotated, Any
    from langchain.agents import create_agent
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.types import interrupt

    class Script(BaseChatModel):
        steps: list[Any]
        asked: list[Any] = []

        @property
        def _llm_type(self):
            return "script"

        def bind_tools(self, tools, **kwargs):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            step = self.steps.pop(0)
            message = step(messages) if callable(step) else step
            return ChatResult(generations=[ChatGeneration(message=message)])

    def told(messages):
        return AIMessage(" | ".join(message.content for message in messages if message.type != "system"))

    def look(at: int) -> dict:
        "Looks."
        return {"at": at}
"""


class Langchain(ProgramTest):
    def conversation(self, code, **start):
        program = self.program(MODEL + code)
        self.assertEqual(program.start(**start)["type"], "started")
        return program

    def test_structured_answers_are_json_and_no_call(self):
        program = self.conversation("""
    from pydantic import BaseModel
    from langchain.agents.structured_output import ToolStrategy

    class Weather(BaseModel):
        city: str

    call = {"id": "c1", "name": "Weather", "args": {"city": "Oslo"}}
    agent = create_agent(Script(steps=[AIMessage("", tool_calls=[call])]), [look], response_format=ToolStrategy(Weather))
""")
        answer = program.turn("Hi")
        self.assertEqual(calls(answer), ([], []))
        self.assertEqual(texts(answer), ['{"city": "Oslo"}'])
        self.assertEqual(answer[-1], {"type": "turn_end", "session_id": "s1"})

    def test_the_result_of_a_tool_can_be_the_answer(self):
        program = self.conversation("""
    from langchain_core.tools import tool

    @tool(return_direct=True)
    def sky(city: str) -> str:
        "Looks."
        return f"It is sunny in {city}."

    call = {"id": "c1", "name": "sky", "args": {"city": "Oslo"}}
    agent = create_agent(Script(steps=[AIMessage("Let me see.", tool_calls=[call]), told]), [sky])
""")
        answer = program.turn("Hi")
        self.assertEqual(calls(answer), ([("sky", {"city": "Oslo"})], [{"result": "It is sunny in Oslo."}]))
        self.assertEqual(texts(answer), ["Let me see.", "It is sunny in Oslo."])
        self.assertEqual(texts(program.turn("And?")), ["Hi | Let me see. | It is sunny in Oslo. | And?"])

    def test_the_history_is_told_once_with_and_without_a_checkpointer(self):
        for saver in ("None", "InMemorySaver()"):
            with self.subTest(saver):
                program = self.conversation(f"""
    agent = create_agent(Script(steps=[told, told, told]), [look], checkpointer={saver})
""")
                self.assertEqual(texts(program.turn("a")), ["a"])
                self.assertEqual(texts(program.turn("b")), ["a | a | b"])
                # Another conversation begins anew.
                program.start("s2")
                self.assertEqual(texts(program.turn("c", session="s2")), ["c"])

    def test_what_an_earlier_turn_said_is_no_answer_of_a_later_one(self):
        graph = """
    from typing import TypedDict

    class State(TypedDict):
        messages: Annotated[list, {reducer}]

    def node(state):
        count = sum(isinstance(one, dict) or getattr(one, "type", "") == "human" for one in state["messages"])
        new = {new}
        return {{"messages": {returned}}}

    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    agent = graph.compile(checkpointer={saver})
"""
        ai, pair = 'AIMessage("Same." if count > 2 else f"Answer {count}.")', '("ai", f"Answer {count}." if count < 3 else "Same.")'
        shapes = [
            ("operator.add", ai, "[new]"),
            ("operator.add", pair, "[new]"),
            # The node returns all of the state.
            ("lambda _, new: new", ai, '[*state["messages"], new]'),
        ]
        for reducer, new, returned in shapes:
            for saver in ("None", "InMemorySaver()"):
                with self.subTest(reducer=reducer, new=new, saver=saver):
                    program = self.conversation(graph.format(reducer=reducer, new=new, returned=returned, saver=saver))
                    said = [texts(program.turn(message)) for message in ("a", "b", "c", "d")]
                    # Without a reducer that appends, a checkpointer keeps nothing.
                    keeps = saver == "None" or reducer == "operator.add"
                    expected = ["Answer 1.", "Answer 2.", "Same.", "Same."] if keeps else ["Answer 1."] * 4
                    self.assertEqual(said, [[one] for one in expected])

    def test_a_turn_without_an_answer_has_none_of_an_earlier_turn(self):
        program = self.conversation("""
    from typing import TypedDict

    class State(TypedDict):
        messages: Annotated[list, operator.add]
        structured_response: dict

    def node(state):
        if len(state["messages"]) > 1:
            return {"messages": []}
        return {"messages": [AIMessage("Hello.")], "structured_response": {"city": "Oslo"}}

    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    agent = graph.compile(checkpointer=InMemorySaver())
""")
        self.assertEqual(texts(program.turn("a")), ["Hello.", '{"city": "Oslo"}'])
        self.assertEqual(texts(program.turn("b")), [])

    def test_a_thread_that_conversations_would_share_is_refused(self):
        code = """
    import evalset

    inner = create_agent(Script(steps=[]), [look], checkpointer=InMemorySaver())
    agent = evalset.with_options(inner, config={"configurable": {"thread_id": "1"}})
"""
        message = self.program(MODEL + code).start().get("message", "")
        self.assertIn("conversations would share the thread `1` of the checkpointer", message)
        self.assertIn("leave `thread_id` out of `with_options`", message[:200])

    def test_the_state_of_the_graph_is_the_state_of_the_session(self):
        code = """
    class State(MessagesState):
        unit: str
        log: Annotated[list[str], operator.add]

    def node(state):
        return {"messages": [("ai", f"In {state['unit']}, {state['log']}")], "log": [state["messages"][-1].content], "unit": "F"}

    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    agent = graph.compile()
"""
        program = self.conversation(code, state={"unit": "C", "log": ["begun"]})
        first = program.turn("a")
        self.assertEqual(texts(first), ["In C, ['begun']"])
        self.assertEqual(first[-2]["event"]["actions"]["stateDelta"], {"unit": "F", "log": ["begun", "a"]})
        self.assertEqual(texts(program.turn("b")), ["In F, ['begun', 'a']"])
        program = self.program(MODEL + code)
        self.assertIn("state `town`, and the graph has no key of that name", program.start(state={"town": "Oslo"})["message"])

    def test_agents_in_nodes_and_messages_that_are_removed_are_seen(self):
        program = self.conversation("""
    call = AIMessage("", tool_calls=[{"id": "c1", "name": "look", "args": {"at": 1}}])
    inner = create_agent(Script(steps=[call, AIMessage("Inner says.")]), [look], name="inner")

    def hidden(state):
        # What the inner agent did is not in the state of this graph.
        inner.invoke({"messages": state["messages"]})
        return {"messages": [AIMessage("Outer says.", id="m1")]}

    def forget(state):
        return {"messages": [RemoveMessage("m1"), AIMessage("At last.")]}

    graph = StateGraph(MessagesState)
    graph.add_node("hidden", hidden)
    graph.add_node("forget", forget)
    graph.add_edge(START, "hidden")
    graph.add_edge("hidden", "forget")
    agent = graph.compile()
""")
        answer = program.turn("Hi")
        self.assertEqual(calls(answer), ([("look", {"at": 1})], [{"at": 1}]))
        self.assertEqual(texts(answer), ["Inner says.", "Outer says.", "At last."])

    def test_a_handoff_to_an_agent_beside_is_a_call_with_its_result(self):
        program = self.conversation("""
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import InjectedToolCallId, tool
    from langgraph.types import Command

    @tool
    def to_nurse(id: Annotated[str, InjectedToolCallId]):
        "Hands over."
        answer = ToolMessage("handed over", tool_call_id=id, name="to_nurse")
        return Command(goto="nurse", graph=Command.PARENT, update={"messages": [answer]})

    call = AIMessage("", tool_calls=[{"id": "c1", "name": "to_nurse", "args": {}}])
    graph = StateGraph(MessagesState)
    graph.add_node("desk", create_agent(Script(steps=[call]), [to_nurse], name="desk"), destinations=["nurse"])
    graph.add_node("nurse", create_agent(Script(steps=[AIMessage("This is the nurse.")]), [], name="nurse"))
    graph.add_edge(START, "desk")
    agent = graph.compile()
""")
        answer = program.turn("Hi")
        self.assertEqual(calls(answer), ([("to_nurse", {})], [{"result": "handed over"}]))
        authors = [message["event"]["author"] for message in answer if "author" in message.get("event", {})]
        self.assertEqual((texts(answer), authors), (["This is the nurse."], ["desk", "desk", "nurse"]))

    def test_of_the_tools_that_speak_of_handoffs_only_one_that_hands_over_runs_with_golden_tools(self):
        program = self.conversation(
            """
    from langchain_core.tools import tool

    def named(name, metadata):
        def run() -> str:
            "Runs."
            return "REAL"
        made = tool(name)(run)
        made.metadata = metadata
        return made

    call = lambda name: AIMessage("", tool_calls=[{"id": name, "name": name, "args": {}}])
    tools = [named("page", {"handoff_policy": "on call"}), named("to_nurse", {"__handoff_destination": "nurse"})]
    agent = create_agent(Script(steps=[call("page"), call("to_nurse"), AIMessage("Done.")]), tools)
""",
            tools="golden",
        )
        program.ask("Hi")
        while (question := program.read())["type"] != "tool":
            self.assertEqual(question["type"], "event", question)
        self.assertEqual(question["name"], "page")
        program.write(type="tool_result", session_id="s1", id=question["id"], result={"result": "golden"})
        answer = program.answer()
        self.assertEqual((calls(answer)[1], texts(answer)), ([{"result": "golden"}, {"result": "REAL"}], ["Done."]))

    def test_a_function_that_returns_a_state_or_a_message_is_an_error(self):
        program = self.conversation("""
    inner = create_agent(Script(steps=[told] * 4), [look])

    def agent(message):
        state = inner.invoke({"messages": [("user", message)]})
        last = state["messages"][-1]
        return {"state": state, "message": last, "messages": state["messages"], "text": last.content}[message]
""")
        for text in ("state", "message", "messages"):
            program.start(text)
            message = program.turn(text, session=text)[-1].get("message", "")
            self.assertIn("the function returned what a framework did (`AIMessage`); name the framework's agent itself", message)
        self.assertEqual(texts(program.turn("text")), ["text"])

    def test_an_option_that_is_given_already_is_refused(self):
        code = "\n    import evalset\n    agent = evalset.with_options(create_agent(Script(steps=[]), [look]), stream_mode='values')\n"
        program = self.program(MODEL + code)
        self.assertIn("leave `stream_mode` out of `with_options`: evalset gives it to the framework itself", program.start().get("message", ""))

    def test_an_interrupt_is_an_error(self):
        program = self.conversation("""
    def ask(state):
        return {"messages": [("ai", interrupt("May I?"))]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_edge(START, "ask")
    agent = graph.compile(checkpointer=InMemorySaver())
""")
        self.assertIn("the graph was interrupted and waits to be resumed", program.turn("Hi")[-1]["message"])

    def test_a_graph_that_is_not_compiled_is_refused(self):
        program = self.program(MODEL + "\n    agent = StateGraph(MessagesState)\n")
        self.assertIn("is not compiled; name what `compile()` returns", program.start()["message"])

    def test_state_that_the_graph_lacks_is_handed_over_as_its_context(self):
        code = """
    import evalset
    from langgraph.runtime import Runtime

    def say(state, runtime: Runtime[dict]):
        return {"messages": [("ai", f"It is {runtime.context['unit']}.")]}

    graph = StateGraph(MessagesState, context_schema=dict)
    graph.add_node("say", say)
    graph.add_edge(START, "say")
    inner = graph.compile()
    agent = evalset.with_options(inner, lambda session: {"context": dict(session.state)})
"""
        program = self.conversation(code, state={"unit": "C"})
        for message in ("Hi", "And?"):
            answer = program.turn(message)
            self.assertEqual(texts(answer), ["It is C."])
            self.assertEqual(answer[-1], {"type": "turn_end", "session_id": "s1"})
        program = self.program(MODEL + code, name="inner")
        self.assertIn("the graph has no key of that name", program.start(state={"unit": "C"})["message"])

    def test_a_runnable_and_an_object_of_ones_own(self):
        program = self.conversation("""
    from langchain_core.runnables import RunnableLambda
    agent = RunnableLambda(lambda given: given["messages"]) | Script(steps=[told, told])
""")
        self.assertEqual(texts(program.turn("a")), ["a"])
        self.assertEqual(texts(program.turn("b")), ["a | a | b"])
        program = self.conversation("""
    class Own:
        def invoke(self, given):
            call = AIMessage("", tool_calls=[{"id": "c1", "name": "look", "args": {"at": 1}}])
            return {"messages": [*given["messages"], call, {"role": "tool", "tool_call_id": "c1", "content": "[1]"}, ("ai", "Done.")]}

    agent = Own()
""")
        answer = program.turn("a")
        self.assertEqual(calls(answer), ([("look", {"at": 1})], [{"result": [1]}]))
        self.assertEqual(texts(answer), ["Done."])

    def test_thoughts_and_files_of_a_model_are_parts(self):
        program = self.conversation("""
    blocks = [
        {"type": "reasoning", "reasoning": "Hm."},
        {"type": "text", "text": "Here."},
        {"type": "image", "base64": "iVBORw==", "mime_type": "image/png"},
    ]
    agent = create_agent(Script(steps=[AIMessage(blocks)]), [])
""")
        image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}}
        self.assertEqual(parts(program.turn("Hi")), [{"text": "Hm.", "thought": True}, {"text": "Here."}, image])


if __name__ == "__main__":
    unittest.main()
