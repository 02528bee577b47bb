"""Runs agents of Python for the command `evalset`."""
