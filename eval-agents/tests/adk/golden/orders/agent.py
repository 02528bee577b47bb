"""An agent whose tools are those of an MCP server that is down."""

import os
import sys

from google.adk.agents import LlmAgent

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from shop.agent import Script

try:
    from google.adk.tools.mcp_tool.mcp_session_manager import StreamableHTTPConnectionParams
    from google.adk.tools.mcp_tool.mcp_toolset import McpToolset

    # No server listens on the port for discarding.
    DOWN = [McpToolset(connection_params=StreamableHTTPConnectionParams(url="http://127.0.0.1:9/mcp", timeout=3))]
except ImportError:
    # Without the package `mcp`, the agent lacks the tools as it does when their server is down.
    DOWN = []
root_agent = LlmAgent(name="orders", model=Script(), tools=DOWN)
