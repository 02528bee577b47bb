"""An agent whose tools are those of an MCP server that is down: ADK gives it none, and tells its model so."""

import os
import sys

from google.adk.agents import LlmAgent

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from shop.agent import Script

root_agent = LlmAgent(name="orders", model=Script(), tools=[])
