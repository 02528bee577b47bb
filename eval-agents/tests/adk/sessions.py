"""Sessions as google-adk stores them, and the turns that google-adk makes of them.

    PYTHON sessions.py AGENTS APP FOLDER [MESSAGES]

Talks to an app and writes into FOLDER: `session.json`, as `adk api_server` answers and `adk web` downloads it; `sqlite.db` of
`SqliteSessionService`; `database.db` of `DatabaseSessionService`, if SQLAlchemy is there; `turns.json`, what google-adk's evaluation makes of the
session. MESSAGES is a JSON array of texts.
"""

import asyncio
import importlib
import json
import logging
import os
import sys

from google.adk.evaluation.evaluation_generator import EvaluationGenerator
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

DESK = ["weather", "both", "refund", "approve", "think", "look", "refuse", "weather again", "bill"]


async def main(agents, app, folder, messages="null"):
    sys.path.insert(0, agents)
    agent = importlib.import_module(f"{app}.agent").root_agent
    services = {
        "session": InMemorySessionService(),
        "sqlite": SqliteSessionService(os.path.join(folder, "sqlite.db")),
    }
    try:
        from google.adk.sessions import DatabaseSessionService

        services["database"] = DatabaseSessionService(f"sqlite+aiosqlite:///{folder}/database.db")
    except ImportError:
        pass
    for name, service in services.items():
        runner = Runner(app_name=app, agent=agent, session_service=service)
        state = {"unit": "C", "user:name": "Anna", "app:open": True}
        session = await service.create_session(app_name=app, user_id="anna", session_id="s-17", state=state)
        for words in json.loads(messages) or DESK:
            parts = [types.Part(text=words)]
            if words == "look":
                parts.append(types.Part(inline_data=types.Blob(data=b"png", mime_type="image/png")))
            message = types.Content(role="user", parts=parts)
            async for _ in runner.run_async(user_id="anna", session_id="s-17", new_message=message):
                pass
        session = await service.get_session(app_name=app, user_id="anna", session_id="s-17")
        if name == "session":
            with open(os.path.join(folder, "session.json"), "w", encoding="utf-8") as file:
                file.write(session.model_dump_json(by_alias=True, exclude_none=True, indent=1))
            turns = EvaluationGenerator.convert_events_to_eval_invocations(session.events)
            turns = [turn.model_dump(mode="json", exclude_none=True) for turn in turns]
            with open(os.path.join(folder, "turns.json"), "w", encoding="utf-8") as file:
                json.dump(turns, file, indent=1)
        if hasattr(service, "close"):
            await service.close()


logging.disable(logging.CRITICAL)
asyncio.run(main(*sys.argv[1:]))
