"""An app of ADK with one tool."""

import asyncio
import random

from google.adk.agents import Agent


async def get_weather(city: str) -> dict:
    """Gets the weather of a city."""
    await asyncio.sleep(random.random() * 0.05)
    return {"sky": "sunny", "city": city}


root_agent = Agent(name="weather", model="gemini-2.5-flash", instruction="You answer about weather.", tools=[get_weather])
