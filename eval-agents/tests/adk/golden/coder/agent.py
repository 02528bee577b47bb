"""An agent with a sub-agent that runs what its model writes as code, and notes that it did."""

import os
import sys

from google.adk.agents import LlmAgent
from google.adk.code_executors.unsafe_local_code_executor import UnsafeLocalCodeExecutor

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from shop.agent import Script

inner = LlmAgent(name="inner", model=Script(), description="computes", code_executor=UnsafeLocalCodeExecutor())
root_agent = LlmAgent(name="coder", model=Script(), sub_agents=[inner])
