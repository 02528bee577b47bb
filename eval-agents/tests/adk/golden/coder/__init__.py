"""Agents for tests of golden tools: their tools write down that they ran."""

from . import agent
