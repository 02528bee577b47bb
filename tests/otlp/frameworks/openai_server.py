"""A model behind OpenAI's interfaces, on loopback: chat completions and responses, whole and as a stream."""

import http.server
import itertools
import json
import threading

import story

IDS = itertools.count(1)


def text_of(content):
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


def answer(messages):
    """The step that follows these messages, in the form of chat completions."""
    users = [at for at, message in enumerate(messages) if message.get("role") == "user"]
    number = sum(message.get("role") == "assistant" for message in messages[users[-1] + 1 :])
    return story.step(text_of(messages[users[-1]]["content"]), number)


def chat(body):
    text, calls = answer(body["messages"])
    message = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{next(IDS)}", "type": "function", "function": {"name": name(call), "arguments": json.dumps(args)}}
            for call, args in calls
        ]
    return message, "tool_calls" if calls else "stop"


def name(call):
    return call.replace("@nurse", "transfer_to_nurse").replace("@", "")


def completion(body):
    message, reason = chat(body)
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "finish_reason": reason, "message": message}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def chunks(body):
    message, reason = chat(body)
    deltas = [{"role": "assistant"}]
    deltas += [{"content": word} for word in (message["content"] or "").split(" ") if word]
    for at, delta in enumerate(deltas[2:], 2):
        delta["content"] = " " + delta["content"]
    for index, call in enumerate(message.get("tool_calls", [])):
        arguments = call["function"]["arguments"]
        first = {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": arguments[:3]}}
        deltas += [{"tool_calls": [first]}, {"tool_calls": [{"index": index, "function": {"arguments": arguments[3:]}}]}]
    for at, delta in enumerate([*deltas, {}]):
        choice = {"index": 0, "delta": delta, "finish_reason": reason if at == len(deltas) else None}
        yield {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def response(body):
    items = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
    users = [at for at, item in enumerate(items) if item.get("role") == "user"]
    # Calls and texts of one answer are items of their own: an answer ends with the results, or with another agent.
    later = items[users[-1] + 1 :]
    kinds = ["out" if it.get("type") == "function_call" or it.get("role") == "assistant" else "in" for it in later]
    number = sum(kind == "out" for kind, _ in itertools.groupby(kinds))
    text, calls = story.step(text_of(items[users[-1]]["content"]), number)
    output = []
    if text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        output.append({"id": f"msg_{next(IDS)}", "type": "message", "role": "assistant", "status": "completed", "content": content})
    for call, args in calls:
        call_id = f"call_{next(IDS)}"
        output.append({
            "id": f"fc_{call_id}", "type": "function_call", "call_id": call_id, "name": name(call),
            "arguments": json.dumps(args), "status": "completed",
        })
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{next(IDS)}", "object": "response", "created_at": 1, "status": "completed", "model": "m", "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": body.get("tools", []),
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, **details},
    }


def events(body):
    whole = response(body)
    yield {"type": "response.created", "sequence_number": 0, "response": {**whole, "status": "in_progress", "output": []}}
    for index, item in enumerate(whole["output"]):
        for kind in ["added", "done"]:
            yield {"type": f"response.output_item.{kind}", "sequence_number": 1, "output_index": index, "item": item}
    yield {"type": "response.completed", "sequence_number": 2, "response": whole}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        is_chat = self.path.endswith("/chat/completions")
        try:
            if body.get("stream"):
                lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in (chunks if is_chat else events)(body)]
                kind, text = "text/event-stream", "".join(lines) + ("data: [DONE]\n\n" if is_chat else "")
            else:
                kind, text = "application/json", json.dumps((completion if is_chat else response)(body))
            status = 200
        except RuntimeError as error:
            status, kind, text = 400, "application/json", json.dumps({"error": {"message": str(error)}})
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def serve():
    """Starts it; its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"
